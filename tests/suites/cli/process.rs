//! A server that is a process of its own, so that it can be killed.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use reqwest::Url;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// Longest time until a server answers, and until anything awaited comes.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How often something awaited is looked at that tells of itself in no other way.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A server on a folder and an address of its own, which stay the same when it is killed.
pub struct Process {
    child: Child,
    folder: TempDir,
    root: Url,
    http: reqwest::Client,
}

/// A program that was built beside this one.
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a program knows where it is");
    let folder = own.parent().and_then(Path::parent).expect("test programs lie in the folder `deps`");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{} is missing: build it with `cargo build --workspace --bins`, or run tests/run.sh, which builds everything first",
        program.display()
    );
    program
}

impl Process {
    /// Starts a server on an empty folder and a free port.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (child, root) = spawn(folder.path(), "127.0.0.1:0").await;
        Self { child, folder, root, http: reqwest::Client::new() }
    }

    /// Its root URL.
    pub fn root(&self) -> &str {
        self.root.as_str()
    }

    /// Kills it, and starts it again on the same folder and address.
    pub async fn kill_and_start(&mut self) {
        self.child.kill().await.expect("the process can be killed");
        self.start_again().await;
    }

    /// Kills it, and listens in its place, so that it is seen when somebody asks for it.
    pub async fn kill_and_listen(&mut self) -> TcpListener {
        self.child.kill().await.expect("the process can be killed");
        TcpListener::bind(self.address()).await.expect("its address is free")
    }

    /// Starts it on the same folder and address, once it is gone.
    pub async fn start_again(&mut self) {
        (self.child, self.root) = spawn(self.folder.path(), &self.address()).await;
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.root.port().expect("the address names a port"))
    }

    /// Tells it to stop as soon as it answers after a start; how it ended.
    pub async fn stop_at_first_answer(&mut self) -> ExitStatus {
        self.child.kill().await.expect("the process can be killed");
        let mut child = start(self.folder.path(), &self.address());
        let end = Instant::now() + WAIT_MAX;
        while self.http.get(self.root.clone()).send().await.is_err() {
            assert!(Instant::now() < end, "the server does not answer");
        }
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(id.expect("the process runs"), Signal::TERM).expect("it can be told to stop");
        timeout(WAIT_MAX, child.wait()).await.expect("it stops").expect("the process can be awaited")
    }

    /// The document of a GET; `None` when it fails.
    pub async fn get(&self, path: &str) -> Option<Value> {
        let answer = self.http.get(self.root.join(path).expect("a path")).send().await.ok()?;
        answer.error_for_status().ok()?.json().await.ok()
    }

    /// Waits until an import wants this part, or a later one; the part that it wants.
    pub async fn import_wants(&self, id: &str, part: u64) -> u64 {
        let end = Instant::now() + WAIT_MAX;
        loop {
            let state = self.get(&format!("ext/v1/imports/{id}")).await;
            match state.and_then(|state| state["nextPart"].as_u64()) {
                Some(next) if next >= part => return next,
                _ => assert!(Instant::now() < end, "import {id} has not come to part {part}"),
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Most memory that it ever held, in bytes.
    pub fn memory_max_bytes(&self) -> u64 {
        let id = self.child.id().expect("the process runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("processes have a status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it tells of memory");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }
}

/// Starts a server, which says in a file when it is ready.
fn start(folder: &Path, listen: &str) -> Child {
    let ready = folder.join("ready.json");
    let _ = std::fs::remove_file(&ready);
    Command::new(program("lochan-server"))
        .args(["serve", "--listen", listen, "--management-listen", "127.0.0.1:0"])
        .arg("--data-dir")
        .arg(folder.join("data"))
        .arg("--ready-file")
        .arg(&ready)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
        .expect("the server can be started")
}

async fn spawn(folder: &Path, listen: &str) -> (Child, Url) {
    let child = start(folder, listen);
    let ready = folder.join("ready.json");
    let end = Instant::now() + WAIT_MAX;
    let told: Value = loop {
        match std::fs::read(&ready).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            Some(told) => break told,
            None => assert!(Instant::now() < end, "the server is not ready"),
        }
        sleep(LOOK_EVERY).await;
    };
    let api = Url::parse(told["nessie"].as_str().expect("an address")).expect("an address");
    (child, api.join("../").expect("the root is above the API"))
}
