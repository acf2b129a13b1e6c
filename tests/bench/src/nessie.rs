//! The few calls of the Nessie API v2 that the benchmark makes.

use serde::Deserialize;

use crate::conn::Conn;

/// Longest text of an answer quoted in an error, in characters.
const QUOTE_CHARS_MAX: usize = 160;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// The server answered with another status than 200.
    #[error("{what}: status {status}: {text}")]
    Status {
        /// The call.
        what: &'static str,
        /// Its status.
        status: u16,
        /// `errorCode` of the body, or its beginning.
        text: String,
    },
    /// The connection failed; the outcome is unknown.
    #[error("{what}: {source}")]
    Connection {
        /// The call.
        what: &'static str,
        /// What the socket said.
        source: std::io::Error,
    },
    /// The answer is not what was asked for.
    #[error("{what}: {text}")]
    Answer {
        /// The call.
        what: &'static str,
        /// What is wrong with it.
        text: String,
    },
}

impl OpError {
    /// An answer that is well-formed and wrong.
    pub fn answer(what: &'static str, text: impl Into<String>) -> Self {
        Self::Answer { what, text: text.into() }
    }

    /// Whether the request may have been applied although it failed.
    pub fn outcome_unknown(&self) -> bool {
        match self {
            Self::Status { status, .. } => *status >= 500,
            Self::Connection { .. } | Self::Answer { .. } => true,
        }
    }
}

/// Sends one request and returns the body of its 200.
pub async fn ok<'a>(
    conn: &'a mut Conn,
    what: &'static str,
    method: &str,
    path: &str,
    body: Option<&[u8]>,
) -> Result<&'a [u8], OpError> {
    let answer =
        conn.call(method, path, body).await.map_err(|source| OpError::Connection { what, source })?;
    if answer.status != 200 {
        return Err(OpError::Status { what, status: answer.status, text: quote(answer.body) });
    }
    Ok(answer.body)
}

fn quote(body: &[u8]) -> String {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ErrorBody {
        error_code: Option<String>,
        message: Option<String>,
    }
    let text = match serde_json::from_slice::<ErrorBody>(body) {
        Ok(ErrorBody { error_code: Some(code), message }) => {
            format!("{code} {}", message.unwrap_or_default())
        }
        _ => String::from_utf8_lossy(body).into_owned(),
    };
    text.chars().take(QUOTE_CHARS_MAX).collect()
}

/// Reads an answer as JSON.
pub fn parse<'a, T: Deserialize<'a>>(what: &'static str, body: &'a [u8]) -> Result<T, OpError> {
    serde_json::from_slice(body).map_err(|e| OpError::answer(what, format!("{e} in {}", quote(body))))
}

/// Head of a branch and how many commits lie behind it.
#[derive(Clone, Debug)]
pub struct Head {
    /// Hash of the head.
    pub hash: String,
    /// Length of the history.
    pub commits: u64,
}

/// Reads the head of a branch, `GET /api/v2/trees/{ref}?fetch=ALL`.
pub async fn head(conn: &mut Conn, branch: &str) -> Result<Head, OpError> {
    #[derive(Deserialize)]
    struct Answer {
        reference: Reference,
    }
    #[derive(Deserialize)]
    struct Reference {
        hash: String,
        metadata: Option<Metadata>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        num_total_commits: u64,
    }
    let path = format!("/api/v2/trees/{branch}?fetch=ALL");
    let body = ok(conn, "get reference", "GET", &path, None).await?;
    let answer: Answer = parse("get reference", body)?;
    let commits = answer.reference.metadata.map_or(0, |m| m.num_total_commits);
    Ok(Head { hash: answer.reference.hash, commits })
}

/// Creates a branch at a commit of `main`, `POST /api/v2/trees`.
pub async fn create_branch(conn: &mut Conn, name: &str, hash: &str) -> Result<(), OpError> {
    let path = format!("/api/v2/trees?name={name}&type=BRANCH");
    let body = format!(r#"{{"type":"BRANCH","name":"main","hash":"{hash}"}}"#);
    ok(conn, "create branch", "POST", &path, Some(body.as_bytes())).await?;
    Ok(())
}

/// Deletes a branch that is at `hash`, `DELETE /api/v2/trees/{ref}`.
pub async fn delete_branch(conn: &mut Conn, name: &str, hash: &str) -> Result<(), OpError> {
    let path = format!("/api/v2/trees/{name}@{hash}?type=BRANCH");
    ok(conn, "delete branch", "DELETE", &path, None).await?;
    Ok(())
}

/// Answer to a commit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Committed<'a> {
    /// The branch at its new head.
    #[serde(borrow)]
    pub target_branch: CommittedBranch<'a>,
    /// Keys with a new content id.
    pub added_contents: Option<Vec<Added>>,
}

/// Branch in the answer to a commit.
#[derive(Deserialize)]
pub struct CommittedBranch<'a> {
    /// New head.
    #[serde(borrow)]
    pub hash: &'a str,
}

/// A key that is new in a commit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Added {
    /// The key.
    pub key: Key,
    /// The id it got.
    pub content_id: String,
}

/// Content key.
#[derive(Deserialize)]
pub struct Key {
    /// Its elements.
    pub elements: Vec<String>,
}

/// Commits a ready body on top of `head`, `POST /api/v2/trees/{branch}@{head}/history/commit`.
pub async fn commit<'a>(
    conn: &'a mut Conn,
    branch: &str,
    head: &str,
    body: &str,
) -> Result<Committed<'a>, OpError> {
    let path = format!("/api/v2/trees/{branch}@{head}/history/commit");
    parse("commit", ok(conn, "commit", "POST", &path, Some(body.as_bytes())).await?)
}

/// Beginning of a commit body; operations follow, then [`COMMIT_END`].
pub const COMMIT_START: &str = r#"{"commitMeta":{"message":"bench: update of a table","authors":["bench"],"allProperties":{"app-id":["bench"]}},"operations":["#;
/// End of a commit body.
pub const COMMIT_END: &str = "]}";

/// Adds the put of one table to a commit body; `id` is `None` for a new key.
pub fn push_put(out: &mut String, layout: crate::keys::Layout, table: usize, id: Option<&str>, version: u64) {
    use std::fmt::Write;
    out.push_str(r#"{"type":"PUT","key":"#);
    layout.push_json(table, out);
    out.push_str(r#","content":{"type":"ICEBERG_TABLE","id":"#);
    match id {
        Some(id) => {
            out.push('"');
            out.push_str(id);
            out.push('"');
        }
        None => out.push_str("null"),
    }
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        r#","metadataLocation":"s3://bench-lake/warehouse/t{table:08}_5d0cafe1/metadata/{version:05}-3f6b17f0-4a35-9a59.metadata.json","snapshotId":{},"schemaId":0,"specId":0,"sortOrderId":0}}}}"#,
        1_764_450_000_000_000_000 + version
    );
}
