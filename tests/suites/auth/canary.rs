//! Secrets stay where they are: a server at the most talkative level is asked everything, and nothing it writes or answers
//! holds one of them.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};

use lochan_server::config::{self, Layer};
use lochan_server::{Mode, start};
use reqwest::Client;
use tracing_subscriber::fmt::MakeWriter;

use crate::world::settings;

const TOKEN: &str = "canary-static-token-1";
const FILE_TOKEN: &str = "canary-file-token-2";
const S3_SECRET: &str = "canary-s3-secret-3";
const STRANGE_TOKEN: &str = "canary-strange-token-4";
/// The middle of it is `{"sub":"canary-claim-5"}`.
const JWT: &str =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImNhbmFyeSJ9.eyJzdWIiOiJjYW5hcnktY2xhaW0tNSJ9.Y2FuYXJ5LXNpZ25hdHVyZS02";

/// What must be found nowhere.
const CANARIES: [&str; 8] = [
    TOKEN,
    FILE_TOKEN,
    S3_SECRET,
    STRANGE_TOKEN,
    JWT,
    "eyJzdWIiOiJjYW5hcnktY2xhaW0tNSJ9",
    "canary-claim-5",
    "Y2FuYXJ5LXNpZ25hdHVyZS02",
];

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn no_secret_leaves_the_server() {
    let log = Log::default();
    // For the whole process: workers of the runtime write here too.
    tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut told = runtime.block_on(ask_everything());
    told += std::str::from_utf8(&log.0.lock().unwrap()).unwrap();
    assert!(told.contains("request answered") && told.contains("401"), "the log was not taken:\n{told}");
    for canary in CANARIES {
        if let Some(at) = told.find(canary) {
            let from = told.floor_char_boundary(at.saturating_sub(300));
            let to = told.ceil_char_boundary((at + 200).min(told.len()));
            panic!("{canary} was told:\n…{}…", told.get(from..to).unwrap_or_default());
        }
    }
}

/// Everything that a server shows of itself and answers.
async fn ask_everything() -> String {
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, format!("{FILE_TOKEN}\n")).unwrap();
    let text = format!(
        r#"
[store]
engine = "memory"
[auth.tokens.ann]
token = "{TOKEN}"
[auth.tokens.bob]
token_file = "{}"
[auth.oidc]
issuer = "http://127.0.0.1:9"
audience = "lochan"
[authz.rules]
all = "role == 'ann'"
[warehouses.lake]
location = "s3://bucket/prefix"
[warehouses.lake.s3]
endpoint = "http://127.0.0.1:9"
access_key_id = "key"
secret_access_key = "{S3_SECRET}"
"#,
        token_file.display()
    );
    let mut told = String::new();
    let file = folder.path().join("printed.toml");
    std::fs::write(&file, &text).unwrap();
    let loaded = config::load(Some(&file), [], Layer::new()).unwrap();
    let _ = writeln!(told, "{}\n{loaded:?}", config::print(&loaded));

    // Mistakes in settings are told without their values.
    for wrong in [
        format!("{text}\n[auth.tokens.carl]\ntoken = \"{TOKEN}\"\n"),
        format!("{text}\n[auth.tokens.carl]\ntoken = \"{STRANGE_TOKEN} with blanks\"\n"),
        format!("{text}\n[auth.tokens.carl]\ntoken = \"{STRANGE_TOKEN}\"\ntoken_sha256 = \"00\"\n"),
        format!("{text}\n[auth.tokens.carl]\ntoken = [\"{STRANGE_TOKEN}\"]\n"),
    ] {
        std::fs::write(&file, wrong).unwrap();
        let error = config::load(Some(&file), [], Layer::new()).expect_err("it is wrong");
        let _ = writeln!(told, "{error} {error:?}");
    }

    let config = settings(&text, &folder);
    let _ = writeln!(told, "{config:?}");
    let running = start(&config, Mode::Serve).await.unwrap();
    let _ = writeln!(told, "{:?}", running.ready);
    let root = running.ready.nessie.strip_suffix("/api/").unwrap().to_owned();
    let client = Client::new();
    for token in [TOKEN, FILE_TOKEN, STRANGE_TOKEN, JWT] {
        for target in [
            "/api/v2/config",
            "/api/v2/trees",
            "/api/v1/trees/tree/nothing",
            "/api/v2/trees/-/contents/a.b",
            "/api/v2/nothing",
            "/iceberg/v1/config",
            "/iceberg/v1/main/namespaces/a/tables/b",
            "/iceberg/v1/oauth/tokens",
            "/ext/v1/info",
        ] {
            for method in ["GET", "POST", "OPTIONS"] {
                let request = client.request(method.parse().unwrap(), format!("{root}{target}"));
                let request = request.header("authorization", format!("Bearer {token}"));
                let answer = request.body("{\"broken\":").send().await.unwrap();
                let _ = writeln!(told, "{} {:?}", answer.status(), answer.headers());
                told += &answer.text().await.unwrap();
            }
        }
        // Two headers, another scheme, and a table that needs the object store.
        let twice = client.get(format!("{root}/api/v2/config"));
        let twice = twice
            .header("authorization", format!("Bearer {token}"))
            .header("authorization", format!("Basic {token}"));
        let answer = twice.send().await.unwrap();
        assert_eq!(answer.status(), 401);
        told += &answer.text().await.unwrap();
    }
    let metrics = client.get(format!("{}/metrics", running.ready.management)).send().await.unwrap();
    told += &metrics.text().await.unwrap();
    running.stop().await;
    told
}
