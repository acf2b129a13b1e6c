//! A server, and the program `lochan` run against it.

use std::process::Stdio;

use lochan_server::Mode;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::live::Live;
use crate::process::program;

/// A server, and a home folder for the program.
pub struct World {
    live: Live,
    home: TempDir,
}

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// What it said.
    pub out: String,
    /// What it complained about.
    pub err: String,
}

impl World {
    /// A server with a namespace `nyc` and a table `nyc.flights` on main.
    pub async fn start() -> Self {
        let live = Live::start(Mode::Serve).await;
        let world = Self { live, home: tempfile::tempdir().expect("a temporary folder can be made") };
        world.ok("content commit --put nyc --namespace").await;
        world.put("main", "nyc.flights", 1).await;
        world
    }

    /// Where the server is.
    pub fn root(&self) -> String {
        self.live.root().to_owned()
    }

    /// Runs a command line; blanks separate its words.
    pub async fn run(&self, line: &str) -> Ran {
        self.run_with(&line.split(' ').collect::<Vec<_>>(), "").await
    }

    /// Runs statements in the shell.
    pub async fn script(&self, text: &str) -> Ran {
        self.run_with(&["sh"], text).await
    }

    /// Runs words with this standard input.
    pub async fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let file = self.home.path().join("standard-input");
        std::fs::write(&file, input).expect("the home folder can be written to");
        let input = std::fs::File::open(&file).expect("what was written can be read");
        Self::ran(self.command(words).stdin(input)).await
    }

    /// Runs a command line of which nobody reads what it says.
    pub async fn run_unread(&self, line: &str) -> Ran {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let words: Vec<&str> = line.split(' ').collect();
        Self::ran(self.command(&words).stdin(Stdio::null()).stdout(writer)).await
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program("lochan"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.home.path())
            .env("LOCHAN_ENDPOINT", self.live.root())
            .kill_on_drop(true);
        command
    }

    async fn ran(command: &mut Command) -> Ran {
        let ran = command.output().await.expect("the program can be started");
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Ran { code: ran.status.code().unwrap_or(-1), out: text(ran.stdout), err: text(ran.stderr) }
    }

    /// What a run that succeeds says.
    pub async fn ok(&self, line: &str) -> String {
        let ran = self.run(line).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}: {}", ran.out);
        ran.out
    }

    /// The document of a run that succeeds.
    pub async fn json(&self, line: &str) -> Value {
        let out = self.ok(&format!("{line} --json")).await;
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{line}: {error}: {out}"))
    }

    /// Commits a table with this snapshot; the new head.
    pub async fn put(&self, branch: &str, key: &str, snapshot: i64) -> String {
        let line = format!(
            "content commit -r {branch} --put {key} --table-metadata s3://b/{snapshot}.json --snapshot-id {snapshot}"
        );
        text(&self.json(&line).await["targetBranch"]["hash"])
    }

    /// The head of a branch or tag.
    pub async fn head(&self, name: &str) -> String {
        text(&self.json(&format!("show {name} --as reference")).await["reference"]["hash"])
    }

    /// The snapshot of a table; 0 when there is no such key.
    pub async fn snapshot(&self, at: &str, key: &str) -> i64 {
        let ran = self.run(&format!("content get {key} -r {at} --json")).await;
        let document: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        document["contents"][0]["content"]["snapshotId"].as_i64().unwrap_or(0)
    }

    /// Stops the server.
    pub async fn stop(self) {
        self.live.stop().await;
    }
}

impl Ran {
    /// The document on standard output.
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The document on standard error.
    pub fn error(&self) -> Value {
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A text of a document.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// A hash as it is shown to people.
pub fn short(hash: &str) -> &str {
    &hash[..12]
}
