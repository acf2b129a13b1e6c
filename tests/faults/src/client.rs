//! The calls of the Nessie API v2 that the harness makes, each sent exactly once.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use reqwest::{Method, RequestBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::record::{CommitHash, Key, Kind, Logged, Position, Put};

/// Longest wait for one answer, in seconds.
const ANSWER_WAIT_S_MAX: u64 = 60;
/// Commits per page of a log.
const LOG_PAGE: usize = 250;
/// Most pages of one walk.
const LOG_PAGES_MAX: usize = 2000;
/// Most keys read in one request.
const KEYS_PER_READ: usize = 200;
/// Most pages of references.
const REFERENCE_PAGES_MAX: usize = 100;
/// The one setting that Nessie knows.
const SETTING: &str = "GARBAGE_COLLECTOR";
/// Longest text of an answer that is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 300;

/// Client of one running server.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    trees: String,
    settings: String,
}

/// What came back for a write.
#[derive(Debug)]
pub enum Reply<T> {
    /// A 200.
    Done(T),
    /// A 4xx with its text.
    Refused(u16, String),
    /// A 5xx with its text.
    Failed(u16, String),
    /// No answer.
    Lost(String),
}

/// A new head and the ids of new contents.
#[derive(Debug)]
pub struct Committed {
    /// The new head.
    pub hash: CommitHash,
    /// Content ids by key.
    pub added: BTreeMap<Key, String>,
}

/// A put on its way to the server.
#[derive(Clone, Debug)]
pub struct Write {
    /// What is put.
    pub put: Put,
    /// Content id; none for a new key.
    pub id: Option<String>,
}

/// A table as it is read.
#[derive(Clone, Debug)]
pub struct Table {
    /// Content id.
    pub id: String,
    /// Its version.
    pub version: i64,
}

/// Tables of one commit; those that do not exist are missing.
#[derive(Debug)]
pub struct Read {
    /// The commit that was read.
    pub hash: CommitHash,
    /// What was found.
    pub tables: BTreeMap<Key, Table>,
}

#[derive(Deserialize)]
struct WireReference {
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    hash: String,
}

#[derive(Deserialize)]
struct WireKey {
    elements: Vec<String>,
}

impl WireKey {
    fn table(self) -> Option<Key> {
        let mut elements = self.elements.into_iter();
        match (elements.next(), elements.next(), elements.next()) {
            (Some(namespace), Some(table), None) => Some(Key { namespace, table }),
            _ => None,
        }
    }
}

impl Client {
    /// Client for a base URL ending in `/api/`.
    pub fn new(nessie: &str) -> Result<Self> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .no_gzip()
            .timeout(Duration::from_secs(ANSWER_WAIT_S_MAX))
            .tcp_nodelay(true)
            .build()?;
        Ok(Self {
            http,
            trees: format!("{nessie}v2/trees"),
            settings: format!("{nessie}v2/config/repository"),
        })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.trees))
    }

    async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<Option<T>> {
        let response = request.send().await?;
        let (status, url) = (response.status().as_u16(), response.url().clone());
        let text = response.text().await?;
        match status {
            200 => Ok(Some(serde_json::from_str(&text).with_context(|| format!("answer of {url}"))?)),
            404 => Ok(None),
            _ => bail!("{url} answered {status}: {}", quote(&text)),
        }
    }

    async fn write<T: DeserializeOwned>(request: RequestBuilder) -> Reply<T> {
        let response = match request.send().await {
            Ok(response) => response,
            Err(e) => return Reply::Lost(e.to_string()),
        };
        let status = response.status().as_u16();
        // A 200 whose body was cut off by the kill tells that it is done but not the hash: nothing was acknowledged yet.
        let text = match response.text().await {
            Ok(text) => text,
            Err(e) => return Reply::Lost(e.to_string()),
        };
        match status {
            200 => match serde_json::from_str(&text) {
                Ok(answer) => Reply::Done(answer),
                Err(e) => Reply::Failed(status, format!("{e} in {}", quote(&text))),
            },
            400..=499 => Reply::Refused(status, quote(&text)),
            _ => Reply::Failed(status, quote(&text)),
        }
    }

    /// Where a branch or tag is.
    pub async fn reference(&self, name: &str) -> Result<Option<Position>> {
        #[derive(Deserialize)]
        struct Answer {
            reference: WireReference,
        }
        let found: Option<Answer> = Self::read(self.request(Method::GET, &format!("/{name}"))).await?;
        found.map(|answer| position(&answer.reference)).transpose()
    }

    /// All branches and tags.
    pub async fn references(&self) -> Result<BTreeMap<String, Position>> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            references: Vec<WireReference>,
        }
        let mut all = BTreeMap::new();
        let mut token: Option<String> = None;
        for _ in 0..REFERENCE_PAGES_MAX {
            let mut request = self.request(Method::GET, "");
            if let Some(token) = &token {
                request = request.query(&[("page-token", token)]);
            }
            let answer: Answer = Self::read(request).await?.context("no list of references")?;
            for reference in answer.references {
                let position = position(&reference)?;
                let name = reference.name.context("a reference without name")?;
                ensure!(all.insert(name.clone(), position).is_none(), "reference {name} is listed twice");
            }
            token = answer.token;
            if token.is_none() {
                return Ok(all);
            }
        }
        bail!("too many pages of references")
    }

    /// Commits tables, all in one; namespaces are made in the same commit.
    pub async fn commit(
        &self,
        branch: &str,
        expected: &CommitHash,
        message: &str,
        namespaces: &[&str],
        writes: &[Write],
    ) -> Reply<Committed> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            target_branch: WireReference,
            added_contents: Option<Vec<Added>>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Added {
            key: WireKey,
            content_id: String,
        }
        let mut operations: Vec<Value> = namespaces
            .iter()
            .map(|name| {
                let content = json!({"type": "NAMESPACE", "id": null, "elements": [name]});
                json!({"type": "PUT", "key": {"elements": [name]}, "content": content})
            })
            .collect();
        operations.extend(writes.iter().map(operation));
        let body =
            json!({"commitMeta": {"message": message, "authors": ["faults"]}, "operations": operations});
        let path = format!("/{branch}@{expected}/history/commit");
        match Self::write::<Answer>(self.request(Method::POST, &path).json(&body)).await {
            Reply::Done(answer) => {
                let added = answer.added_contents.unwrap_or_default();
                let added = added.into_iter().filter_map(|a| Some((a.key.table()?, a.content_id))).collect();
                Reply::Done(Committed { hash: CommitHash(answer.target_branch.hash), added })
            }
            Reply::Refused(status, text) => Reply::Refused(status, text),
            Reply::Failed(status, text) => Reply::Failed(status, text),
            Reply::Lost(text) => Reply::Lost(text),
        }
    }

    /// Merges a commit of `source` into a branch; returns the new head.
    pub async fn merge(
        &self,
        target: &str,
        expected: &CommitHash,
        message: &str,
        source: &str,
        from: &CommitHash,
    ) -> Reply<Option<CommitHash>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            was_applied: bool,
            resultant_target_hash: Option<String>,
        }
        let body = json!({"fromRefName": source, "fromHash": from, "message": message});
        let path = format!("/{target}@{expected}/history/merge");
        match Self::write::<Answer>(self.request(Method::POST, &path).json(&body)).await {
            Reply::Done(answer) => {
                let hash = answer.resultant_target_hash.filter(|_| answer.was_applied);
                Reply::Done(hash.map(CommitHash))
            }
            Reply::Refused(status, text) => Reply::Refused(status, text),
            Reply::Failed(status, text) => Reply::Failed(status, text),
            Reply::Lost(text) => Reply::Lost(text),
        }
    }

    /// Creates a reference at a commit.
    pub async fn create(&self, name: &str, to: &Position) -> Reply<Value> {
        let request = self.request(Method::POST, "").query(&[("name", name), ("type", to.kind.wire())]);
        Self::write(request.json(&json!({"type": "BRANCH", "name": "main", "hash": to.hash}))).await
    }

    /// Moves a reference from the expected commit to another.
    pub async fn assign(&self, name: &str, from: &CommitHash, to: &Position) -> Reply<Value> {
        let request = self.request(Method::PUT, &format!("/{name}@{from}"));
        let request = request.query(&[("type", to.kind.wire())]);
        Self::write(request.json(&json!({"type": "BRANCH", "name": "main", "hash": to.hash}))).await
    }

    /// Deletes a reference that is at the expected commit.
    pub async fn delete(&self, name: &str, from: &CommitHash) -> Reply<Value> {
        Self::write(self.request(Method::DELETE, &format!("/{name}@{from}"))).await
    }

    /// The repository's setting for garbage collectors, a record of the store: the name pattern of its one policy.
    pub async fn setting(&self) -> Result<Option<String>> {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            configs: Vec<WireSetting>,
        }
        let request = self.http.get(&self.settings).query(&[("type", SETTING)]);
        let answer: Answer = Self::read(request).await?.context("no settings")?;
        Ok(answer.configs.into_iter().next().and_then(WireSetting::value))
    }

    /// Replaces the setting; returns the value before.
    pub async fn set(&self, value: &str) -> Reply<Option<String>> {
        #[derive(Deserialize)]
        struct Answer {
            previous: Option<WireSetting>,
        }
        let policies = json!([{"referenceNamePattern": value, "policy": "NONE"}]);
        let body = json!({"config": {"type": SETTING, "perRefCutoffPolicies": policies}});
        match Self::write::<Answer>(self.http.post(&self.settings).json(&body)).await {
            Reply::Done(answer) => Reply::Done(answer.previous.and_then(WireSetting::value)),
            Reply::Refused(status, text) => Reply::Refused(status, text),
            Reply::Failed(status, text) => Reply::Failed(status, text),
            Reply::Lost(text) => Reply::Lost(text),
        }
    }

    /// The last `count` commits of `spec` (`NAME`, `NAME@HASH` or `@HASH`), newest first.
    pub async fn last(&self, spec: &str, count: usize) -> Result<Vec<Logged>> {
        self.log(spec, None, count).await
    }

    /// The log of `spec` down to `limit`, newest first, with `limit` when it is met.
    pub async fn log_until(&self, spec: &str, limit: &CommitHash) -> Result<Vec<Logged>> {
        self.log(spec, Some(limit), usize::MAX).await
    }

    /// The log of `spec` page by page, no more than `count` commits and down to `limit`.
    async fn log(&self, spec: &str, limit: Option<&CommitHash>, count: usize) -> Result<Vec<Logged>> {
        let mut all = Vec::new();
        let mut token: Option<String> = None;
        for _ in 0..LOG_PAGES_MAX {
            let wanted = LOG_PAGE.min(count - all.len());
            if wanted == 0 {
                return Ok(all);
            }
            let request = self.request(Method::GET, &format!("/{spec}/history"));
            let mut request = request.query(&[("fetch", "ALL"), ("max-records", &wanted.to_string())]);
            if let Some(token) = &token {
                request = request.query(&[("page-token", token)]);
            }
            let page: LogPage = Self::read(request).await?.with_context(|| format!("no log of {spec}"))?;
            for entry in page.log_entries {
                let entry = logged(entry)?;
                // Not by `limit-hash`: where a page ends just before that commit, it is not told, as Nessie does.
                let is_last = limit == Some(&entry.hash);
                all.push(entry);
                if is_last {
                    return Ok(all);
                }
            }
            token = page.token;
            if token.is_none() {
                return Ok(all);
            }
        }
        bail!("the log of {spec} does not end")
    }

    /// Tables of one commit. `keys` may be any number; they are all read at the same commit.
    pub async fn tables(&self, spec: &str, keys: &[Key]) -> Result<Read> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            contents: Vec<Found>,
            effective_reference: WireReference,
        }
        #[derive(Deserialize)]
        struct Found {
            key: WireKey,
            content: WireTable,
        }
        let mut spec = spec.to_owned();
        let mut read: Option<Read> = None;
        for keys in keys.chunks(KEYS_PER_READ) {
            let keys: Vec<Value> = keys.iter().map(wire_key).collect();
            let request = self.request(Method::POST, &format!("/{spec}/contents"));
            let request = request.json(&json!({"requestedKeys": keys}));
            let answer: Answer =
                Self::read(request).await?.with_context(|| format!("no contents of {spec}"))?;
            let hash = CommitHash(answer.effective_reference.hash);
            spec = format!("@{hash}");
            let read = read.get_or_insert_with(|| Read { hash, tables: BTreeMap::new() });
            for found in answer.contents {
                let key = found.key.table().context("a content under another key")?;
                let (Some(id), Some(version)) = (found.content.id, found.content.snapshot_id) else {
                    bail!("{key} is no table");
                };
                read.tables.insert(key, Table { id, version });
            }
        }
        read.context("no keys to read")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSetting {
    #[serde(default)]
    per_ref_cutoff_policies: Vec<WirePolicy>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePolicy {
    reference_name_pattern: String,
}

impl WireSetting {
    fn value(self) -> Option<String> {
        self.per_ref_cutoff_policies.into_iter().next().map(|policy| policy.reference_name_pattern)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTable {
    id: Option<String>,
    snapshot_id: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogPage {
    token: Option<String>,
    log_entries: Vec<LogEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogEntry {
    commit_meta: LogMeta,
    parent_commit_hash: String,
    operations: Option<Vec<LogOperation>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogMeta {
    hash: String,
    message: String,
    #[serde(default)]
    parent_commit_hashes: Vec<String>,
}

#[derive(Deserialize)]
struct LogOperation {
    #[serde(rename = "type")]
    kind: String,
    key: WireKey,
    content: Option<WireTable>,
}

fn logged(entry: LogEntry) -> Result<Logged> {
    let hash = CommitHash(entry.commit_meta.hash);
    let mut parents: Vec<CommitHash> =
        entry.commit_meta.parent_commit_hashes.into_iter().map(CommitHash).collect();
    let parent = CommitHash(entry.parent_commit_hash);
    match parents.first() {
        Some(first) => ensure!(*first == parent, "{hash} names two direct parents"),
        None => parents.push(parent),
    }
    let mut puts = Vec::new();
    for operation in entry.operations.unwrap_or_default() {
        ensure!(operation.kind == "PUT", "{hash} holds a {}", operation.kind);
        // Namespaces are made by the first commit of all, which no round asks for.
        let version = operation.content.and_then(|c| c.snapshot_id);
        if let (Some(key), Some(version)) = (operation.key.table(), version) {
            puts.push(Put { key, version });
        }
    }
    Ok(Logged { hash, parents, message: entry.commit_meta.message, puts })
}

fn position(reference: &WireReference) -> Result<Position> {
    let kind = match reference.kind.as_str() {
        "BRANCH" => Kind::Branch,
        "TAG" => Kind::Tag,
        other => bail!("a reference of type {other}"),
    };
    Ok(Position { kind, hash: CommitHash(reference.hash.clone()) })
}

fn wire_key(key: &Key) -> Value {
    json!({"elements": [key.namespace, key.table]})
}

fn operation(write: &Write) -> Value {
    let Put { key, version } = &write.put;
    let location = format!("s3://faults/{key}/metadata/{version}.metadata.json");
    json!({"type": "PUT", "key": wire_key(key), "content": {
        "type": "ICEBERG_TABLE", "id": write.id, "metadataLocation": location,
        "snapshotId": version, "schemaId": 0, "specId": 0, "sortOrderId": 0}})
}

fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}
