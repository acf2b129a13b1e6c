//! A small catalog in canned answers, and a way to run a command line against it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use lochan_api_spec::syntax::Instant;
use lochan_cli::Host;
use lochan_cli::host::Zone;
use serde_json::{Value, json};

use crate::stub::{Answer, Stub};

/// What a command line came to.
pub struct Ran {
    /// Exit code.
    pub code: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// Everything, as snapshots hold it.
    pub fn all(&self) -> String {
        format!("{}---- stderr\n{}---- exit {}", self.stdout, self.stderr, self.code)
    }

    /// The document on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }

    /// The error object on standard error.
    pub fn error(&self) -> Value {
        serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Runs a command line with these variables; words are split at blanks, `_` inside a word stands for a blank.
pub fn run_with(vars: &[(&str, &str)], stdin: &str, line: &str) -> Ran {
    run_words(vars, stdin, line.split_whitespace().map(|word| word.replace('_', " ").into()).collect())
}

/// Runs words with these variables.
pub fn run_words(vars: &[(&str, &str)], stdin: &str, argv: Vec<OsString>) -> Ran {
    let (stdout, stderr) = (Sink::default(), Sink::default());
    let host = Host {
        vars: vars
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        now: Instant::parse("2026-05-01T12:00:00Z").unwrap(),
        zone: Zone::Utc,
        stdin: Box::new(io::Cursor::new(stdin.to_owned())),
        stdout: Rc::new(RefCell::new(Box::new(stdout.clone()))),
        stderr: Box::new(stderr.clone()),
        screen: None,
        interactive: false,
        stdout_colour: false,
        stderr_colour: false,
    };
    let code = lochan_cli::run(argv, host);
    Ran { code, stdout: stdout.text(), stderr: stderr.text() }
}

/// Runs a command line against a stub.
pub fn run(stub: &Stub, line: &str) -> Ran {
    run_with(&[("LOCHAN_ENDPOINT", &stub.url)], "", line)
}

/// A full hash whose digits repeat.
pub fn hash(digits: &str) -> String {
    digits.repeat(64 / digits.len())
}

pub fn branch(name: &str, digits: &str) -> Value {
    json!({ "type": "BRANCH", "name": name, "hash": hash(digits) })
}

pub fn single(reference: Value) -> String {
    json!({ "reference": reference }).to_string()
}

pub fn config() -> Answer {
    let body = json!({ "defaultBranch": "main", "minSupportedApiVersion": 1, "maxSupportedApiVersion": 2,
        "actualApiVersion": 2, "specVersion": "2.2.0" });
    ("GET /api/v2/config", 200, body.to_string())
}

/// `main` at cc, `dev` at bb, tag `v1` at aa.
pub fn references() -> Answer {
    let body = json!({ "hasMore": false, "token": null, "references": [
        branch("dev", "b2"), branch("main", "c3"), { "type": "TAG", "name": "v1", "hash": hash("a1") },
    ]});
    ("GET /api/v2/trees", 200, body.to_string())
}

pub fn meta(digits: &str, minute: u32, author: &str, message: &str) -> Value {
    json!({ "hash": hash(digits), "committer": "", "authors": [author], "allSignedOffBy": [], "message": message,
        "commitTime": format!("2026-05-01T11:{minute:02}:00Z"), "authorTime": format!("2026-05-01T11:{minute:02}:00Z"),
        "parentCommitHashes": [hash("00")] })
}

pub fn log(metas: Vec<Value>, has_more: bool) -> String {
    let entries: Vec<Value> = metas
        .into_iter()
        .map(|meta| json!({ "commitMeta": meta, "parentCommitHash": hash("00"), "operations": null }))
        .collect();
    let token = has_more.then(|| hash("99"));
    json!({ "hasMore": has_more, "token": token, "logEntries": entries }).to_string()
}

pub fn table(id: &str, location: &str, snapshot: i64) -> Value {
    json!({ "type": "ICEBERG_TABLE", "id": id, "metadataLocation": location, "snapshotId": snapshot, "schemaId": 0,
        "specId": 0, "sortOrderId": 0 })
}

pub fn error(status: u16, code: &str, message: &str) -> String {
    json!({ "status": status, "reason": "", "message": message, "errorCode": code, "serverStackTrace": null })
        .to_string()
}
