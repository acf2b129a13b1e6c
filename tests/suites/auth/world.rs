//! A whole server in this process with tokens and rules, and requests of different people.

use lochan_server::config::{self, Config, Layer};
use lochan_server::{Mode, Running, start};
use reqwest::{Client, Method, header::HeaderMap};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What everybody may do. Each is let in by the token `token-of-NAME`.
pub const SETTINGS: &str = r#"
[store]
engine = "memory"
[auth.tokens.admin]
token = "token-of-admin"
[auth.tokens.writer]
token = "token-of-writer"
roles = ["writers"]
[auth.tokens.reader]
token = "token-of-reader"
[auth.tokens.analyst]
token = "token-of-analyst"
[auth.tokens.stranger]
token = "token-of-stranger"
[authz.rules]
admin = "role == 'admin'"
writers = """'writers' in roles && op in ['VIEW_REFERENCE', 'READ_ENTRIES', 'READ_CONTENT_KEY', 'READ_ENTITY_VALUE',
  'LIST_COMMIT_LOG', 'COMMIT_CHANGE_AGAINST_REFERENCE', 'CREATE_ENTITY', 'UPDATE_ENTITY', 'DELETE_ENTITY']"""
readers = """role == 'reader' && op in ['VIEW_REFERENCE', 'READ_ENTRIES', 'READ_CONTENT_KEY', 'READ_ENTITY_VALUE',
  'LIST_COMMIT_LOG']"""
# As Nessie's documentation writes rules.
analysts = "op in ['VIEW_REFERENCE', 'READ_ENTRIES', 'LIST_COMMIT_LOG'] && role == 'analyst' && ref.matches('^(main|pub.*)$')"
analysts_gold = """op in ['READ_CONTENT_KEY', 'READ_ENTITY_VALUE'] && role == 'analyst'
  && (path == 'gold' || path.startsWith('gold.'))"""
"#;

pub struct World {
    pub running: Running,
    pub root: String,
    client: Client,
    _folder: TempDir,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!(self.status < 300, "{self:?}");
        self.body
    }
}

/// Settings of a file, with listeners on free ports.
pub fn settings(text: &str, folder: &TempDir) -> Config {
    let file = folder.path().join("lochan.toml");
    std::fs::write(&file, text).unwrap();
    let vars = [
        ("LOCHAN__STORE__DATA_DIR", folder.path().to_str().unwrap()),
        ("LOCHAN__SERVER__LISTEN", "127.0.0.1:0"),
        ("LOCHAN__SERVER__MANAGEMENT_LISTEN", "127.0.0.1:0"),
    ];
    let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
    config::load(Some(&file), vars, Layer::new()).unwrap().config
}

impl World {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let running = start(&settings(SETTINGS, &folder), Mode::Serve).await.unwrap();
        let root = running.ready.nessie.strip_suffix("/api/").unwrap().to_owned();
        World { running, root, client: Client::new(), _folder: folder }
    }

    /// A request with an `Authorization` header, if any.
    pub async fn send(
        &self,
        authorization: Option<&str>,
        method: &str,
        target: &str,
        body: &Value,
    ) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.client.request(method, format!("{}{target}", self.root));
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        if !body.is_null() {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Answer { status, headers, body }
    }

    /// A request of somebody.
    pub async fn by(&self, who: &str, method: &str, target: &str, body: &Value) -> Answer {
        self.send(Some(&format!("Bearer token-of-{who}")), method, target, body).await
    }

    pub async fn get(&self, who: &str, target: &str) -> Answer {
        self.by(who, "GET", target, &Value::Null).await
    }

    /// The head of a reference.
    pub async fn head(&self, name: &str) -> String {
        let found = self.get("admin", &format!("/api/v2/trees/{name}")).await.ok();
        found["reference"]["hash"].as_str().unwrap().to_owned()
    }

    /// Commits operations onto the head of a branch, as somebody.
    pub async fn commit(&self, who: &str, branch: &str, operations: Value) -> Answer {
        let target = format!("/api/v2/trees/{branch}@{}/history/commit", self.head(branch).await);
        let body = json!({"commitMeta": {"message": "m"}, "operations": operations});
        self.by(who, "POST", &target, &body).await
    }

    /// A branch or tag at the head of another reference.
    pub async fn create(&self, kind: &str, name: &str, from: &str) {
        let source = json!({"type": "BRANCH", "name": from, "hash": self.head(from).await});
        self.by("admin", "POST", &format!("/api/v2/trees?name={name}&type={kind}"), &source).await.ok();
    }
}

pub fn key(dotted: &str) -> Value {
    json!({"elements": dotted.split('.').collect::<Vec<_>>()})
}

pub fn put(at: &str) -> Value {
    let content = json!({"type": "ICEBERG_TABLE", "metadataLocation": format!("s3://b/{at}"), "snapshotId": 1,
        "schemaId": 0, "specId": 0, "sortOrderId": 0});
    json!({"type": "PUT", "key": key(at), "content": content})
}

pub fn put_namespace(at: &str) -> Value {
    json!({"type": "PUT", "key": key(at), "content": {"type": "NAMESPACE", "elements": key(at)["elements"]}})
}

pub fn delete(at: &str) -> Value {
    json!({"type": "DELETE", "key": key(at)})
}

pub fn schema() -> Value {
    json!({"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": false, "type": "long"}]})
}
