//! What clients of every surface are told while the disk is full or fails, and that the server goes on by itself.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a panic here is a failed test")]

use std::{
    path::Path,
    process::{Child, Command},
    time::{Duration, Instant},
};

use lochan_tests_faults::{
    disk::{self, Action, Calls, Control, Preload, Strike},
    process::{self, Place},
};
use reqwest::Method;
use serde_json::{Value, json};

const EIO: u32 = 5;
/// Longest answer of a server that refuses.
const REFUSAL_MAX: Duration = Duration::from_secs(1);
/// Longest wait for anything else.
const WAIT_MAX: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

struct Served {
    child: Child,
    control: Control,
    nessie: String,
    iceberg: String,
    management: String,
    http: reqwest::Client,
    versions: i64,
}

/// Ends a server that a failed test has left.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    async fn start(folder: &Path) -> Self {
        let library = disk::build(folder).unwrap();
        let preload = Preload::new(&library, folder).unwrap();
        let ready = folder.join("ready.json");
        // The one before has left its own.
        let _ = std::fs::remove_file(&ready);
        let log = std::fs::File::create(folder.join("server.log")).unwrap();
        let mut command = Command::new(process::locate().unwrap());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--management-listen", "127.0.0.1:0", "--data-dir"])
            .arg(&preload.data)
            .arg("--ready-file")
            .arg(&ready)
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let control = preload.prepare(&mut command, false).unwrap();
        let child = command.spawn().unwrap();
        let text = until(async || std::fs::read_to_string(&ready).ok()).await;
        let said: Value = serde_json::from_str(&text).unwrap();
        let url = |name: &str| said[name].as_str().unwrap().trim_end_matches('/').to_owned();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let (nessie, iceberg, management) = (url("nessie"), url("iceberg"), url("management"));
        Self { child, control, nessie, iceberg, management, http, versions: 0 }
    }

    async fn send(&self, method: Method, url: &str, body: Option<Value>) -> (u16, Value) {
        let request = self.http.request(method, url).timeout(WAIT_MAX);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// A commit over the Nessie API.
    async fn commit(&mut self) -> (u16, Value) {
        self.versions += 1;
        let content = json!({
            "type": "ICEBERG_TABLE", "metadataLocation": "s3://lake/1.json", "snapshotId": self.versions,
            "schemaId": 0, "specId": 0, "sortOrderId": 0
        });
        let key = json!({"elements": [format!("t{}", self.versions)]});
        let operation = json!({"type": "PUT", "key": key, "content": content});
        let body = json!({"commitMeta": {"message": "m"}, "operations": [operation]});
        let hash = self.head().await;
        let url = format!("{}/v2/trees/main@{hash}/history/commit", self.nessie);
        self.send(Method::POST, &url, Some(body)).await
    }

    async fn head(&self) -> String {
        let (_, body) = self.send(Method::GET, &format!("{}/v2/trees/main", self.nessie), None).await;
        body["reference"]["hash"].as_str().unwrap().to_owned()
    }

    /// One write on each surface: where, status, answer, and how long it took.
    async fn every_write(&mut self) -> Vec<(&'static str, u16, Value, Duration)> {
        let mut all = Vec::new();
        let began = Instant::now();
        let (status, body) = self.commit().await;
        all.push(("Nessie v2", status, body, began.elapsed()));
        self.versions += 1;
        let number = self.versions;
        let began = Instant::now();
        let body = json!({"type": "BRANCH", "name": format!("b{number}"), "hash": self.head().await});
        let url = format!("{}/v1/trees/tree?sourceRefName=main", self.nessie);
        let (status, body) = self.send(Method::POST, &url, Some(body)).await;
        all.push(("Nessie v1", status, body, began.elapsed()));
        let began = Instant::now();
        let body = json!({"namespace": [format!("n{number}")]});
        let url = format!("{}/v1/main/namespaces", self.iceberg);
        let (status, body) = self.send(Method::POST, &url, Some(body)).await;
        all.push(("Iceberg namespace", status, body, began.elapsed()));
        let began = Instant::now();
        let schema =
            json!({"type": "struct", "fields": [{"id": 1, "name": "a", "required": false, "type": "int"}]});
        let body = json!({"name": format!("t{number}"), "schema": schema});
        let url = format!("{}/v1/main/namespaces/tables/tables", self.iceberg);
        let (status, body) = self.send(Method::POST, &url, Some(body)).await;
        all.push(("Iceberg table", status, body, began.elapsed()));
        all
    }

    async fn reads_go_on(&self) {
        for url in [
            format!("{}/v2/trees/main", self.nessie),
            format!("{}/v1/trees/tree/main", self.nessie),
            format!("{}/v1/main/namespaces", self.iceberg),
        ] {
            let (status, body) = self.send(Method::GET, &url, None).await;
            assert_eq!(status, 200, "{url}: {body}");
        }
    }

    async fn readiness(&self) -> Value {
        let (status, body) =
            self.send(Method::GET, &format!("{}/q/health/ready", self.management), None).await;
        assert_eq!((status, &body["status"]), (200, &json!("UP")), "{body}");
        body
    }

    /// Readiness and the metric; the cause, if writes are refused.
    async fn health(&self) -> Option<String> {
        let (body, metrics) = until(async || {
            let before = self.readiness().await;
            let (_, metrics) = self.send(Method::GET, &format!("{}/q/metrics", self.management), None).await;
            // Between two questions it may have changed.
            (self.readiness().await == before).then_some((before, metrics))
        })
        .await;
        let is_refused = body["writes"] == "refused";
        let line = format!("lochan_store_writes_refused {}", u8::from(is_refused));
        assert!(metrics.as_str().unwrap().contains(&line), "no '{line}' beside {body}");
        is_refused.then(|| body["cause"].as_str().unwrap().to_owned())
    }

    async fn resumes(&mut self) {
        let began = Instant::now();
        loop {
            let (status, body) = self.commit().await;
            if status == 200 {
                break;
            }
            assert!(began.elapsed() < WAIT_MAX, "writes are not taken again: {status} {body}");
            tokio::time::sleep(PAUSE).await;
        }
        assert_eq!(self.health().await, None);
        for (surface, status, body, _) in self.every_write().await {
            assert!((200..300).contains(&status), "{surface}: {status} {body}");
        }
    }

    /// Number of commits on `main`.
    async fn commits(&self) -> usize {
        let url = format!("{}/v2/trees/main/history?max-records=1000", self.nessie);
        let (_, body) = self.send(Method::GET, &url, None).await;
        body["logEntries"].as_array().unwrap().len()
    }
}

async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(began.elapsed() < WAIT_MAX, "waited for too long");
        tokio::time::sleep(PAUSE).await;
    }
}

fn check_refused(answers: Vec<(&'static str, u16, Value, Duration)>, expected: u16) {
    for (surface, status, body, took) in answers {
        assert_eq!(status, expected, "{surface}: {body}");
        assert!(took < REFUSAL_MAX, "{surface} took {took:?}");
        let told = if surface.starts_with("Iceberg") { &body["error"]["code"] } else { &body["status"] };
        assert_eq!(told, &json!(expected), "{surface}: {body}");
    }
}

#[tokio::test]
async fn a_full_or_failing_disk_is_told_on_every_surface_and_passes_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Served::start(folder.path()).await;
    let url = format!("{}/v1/main/namespaces", server.iceberg);
    assert_eq!(server.send(Method::POST, &url, Some(json!({"namespace": ["tables"]}))).await.0, 200);
    for (surface, status, body, _) in server.every_write().await {
        assert!((200..300).contains(&status), "{surface}: {status} {body}");
    }
    assert_eq!(server.health().await, None);

    // Less than the reserve.
    let before = server.commits().await;
    server.control.set_free(1 << 20).unwrap();
    // That there is space is believed for some milliseconds.
    let told = until(async || server.health().await).await;
    assert!(told.contains("reserve"), "{told}");
    check_refused(server.every_write().await, 507);
    server.reads_go_on().await;
    assert_eq!(server.commits().await, before, "nothing was applied");
    server.control.set_free(0).unwrap();
    server.resumes().await;

    // Full in the middle of a batch.
    server.control.set_room(Some(0)).unwrap();
    let (status, body) = server.commit().await;
    assert_eq!(status, 500, "nobody knows what became of it: {body}");
    check_refused(server.every_write().await, 507);
    server.reads_go_on().await;
    assert!(server.health().await.is_some());
    server.control.set_room(None).unwrap();
    server.resumes().await;

    // Every sync fails.
    let before = server.commits().await;
    let strike = Strike {
        calls: Calls::Sync,
        nth: 1,
        action: Action::Fail(EIO),
        is_lasting: true,
        lose: 1,
        seed: 1,
        late_ms: 0,
    };
    server.control.strike(&strike).unwrap();
    let (status, body) = server.commit().await;
    assert_eq!(status, 500, "nobody knows what became of it: {body}");
    check_refused(server.every_write().await, 503);
    server.reads_go_on().await;
    assert!(server.health().await.unwrap().contains("Input/output error"));
    assert_eq!(server.commits().await, before);
    server.control.calm().unwrap();
    server.resumes().await;

    let acknowledged = server.commits().await;
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.child.wait().unwrap().success());
    let place = Place::new(process::locate().unwrap(), folder.path());
    place.fsck().await.unwrap();
    drop(server);
    let server = Served::start(folder.path()).await;
    assert_eq!(server.commits().await, acknowledged);
}
