use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use metrics::NoopRecorder;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;
use crate::limits::{READ_TIMEOUT, REQUESTS_MAX};

/// What the handlers of these tests share.
#[derive(Default)]
struct App {
    begun: Notify,
    go_on: Notify,
    done: Notify,
    finished: AtomicUsize,
}

fn service(app: &Arc<App>) -> Arc<Service<App>> {
    let handlers = Handlers::new()
        .on(Op::V2GetReferenceByName, |_app: Arc<App>, req: Req| async move {
            Ok(Reply::json(&json!({"ref": req.param(req.params.reference)?})))
        })
        .on(Op::V2GetAllReferences, |_app, _req| async { panic!("on purpose") })
        .on(Op::V2GetDiff, |_app, _req| async {
            tokio::time::sleep(READ_TIMEOUT + Duration::from_millis(1)).await;
            Ok(Reply::no_content())
        })
        .on(Op::V2GetCommitLog, |_app, _req| async {
            tokio::time::sleep(READ_TIMEOUT - Duration::from_millis(1)).await;
            Ok(Reply::no_content())
        })
        .on(Op::IcebergLoadTable, |_app, _req| async {
            Err(Failure::Unexpected(Box::new(std::io::Error::other("secret detail"))))
        })
        .on(Op::IcebergCommitTable, |_app, _req| async { panic!("on purpose") })
        .on(Op::V2GetMultipleContents, |_app, req: Req| async move { Ok(Reply::json(&req.json::<Value>()?)) })
        .on(Op::V2CommitMultipleOperations, |app: Arc<App>, req: Req| async move {
            app.begun.notify_one();
            app.go_on.notified().await;
            app.finished.fetch_add(1, Ordering::SeqCst);
            app.done.notify_one();
            Ok(Reply::json(&json!({"gone": req.presence.is_gone()})))
        });
    Service::new(Arc::clone(app), handlers, Arc::new(Telemetry::new(Arc::new(NoopRecorder))))
}

async fn call(request: Request<Full<Bytes>>) -> (u16, Response<()>, Value) {
    let response = service(&Arc::default()).answer(request).await;
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let value = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    (parts.status.as_u16(), Response::from_parts(parts, ()), value)
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Full<Bytes>> {
    let mut builder = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).unwrap()
}

#[tokio::test]
async fn handlers_answer() {
    let (status, parts, body) =
        call(request("GET", "/api/v2/trees/a%2Fb", &[("x-request-id", "r1")], "")).await;
    assert_eq!((status, body), (200, json!({"ref": "a/b"})));
    assert_eq!(parts.headers()["content-type"], "application/json");
    assert_eq!(parts.headers()["x-request-id"], "r1");
}

#[tokio::test]
async fn refusals_wear_the_body_of_their_surface() {
    for (method, path, headers, body, status, code, kind) in [
        ("GET", "/api/v2/v1/config", &[][..], "", 404, "UNKNOWN", ""),
        (
            "POST",
            "/api/v2/trees/main/contents",
            &[("content-type", "text/plain")],
            "{}",
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "",
        ),
        ("POST", "/api/v2/trees/main/contents", &[], "{", 400, "BAD_REQUEST", ""),
        (
            "POST",
            "/api/v2/trees/main/contents",
            &[("content-encoding", "gzip")],
            "{}",
            400,
            "BAD_REQUEST",
            "",
        ),
        ("GET", "/api/v2/trees/main/entries", &[], "", 501, "UNKNOWN", ""),
        ("GET", "/iceberg/v1/p/nonsense", &[], "", 404, "", "UnsupportedOperationException"),
        ("DELETE", "/iceberg/v1/config", &[], "", 405, "", "UnsupportedOperationException"),
        (
            "POST",
            "/iceberg/v1/p/namespaces",
            &[("content-type", "text/plain")],
            "n=1",
            415,
            "",
            "BadRequestException",
        ),
        (
            "GET",
            "/iceberg/v1/config",
            &[("accept", "text/html")],
            "",
            501,
            "",
            "UnsupportedOperationException",
        ),
    ] {
        let (got, _, answer) = call(request(method, path, headers, body)).await;
        assert_eq!(got, status, "{method} {path}: {answer}");
        if code.is_empty() {
            assert_eq!(answer["error"]["type"], kind);
            assert_eq!(answer["error"]["code"], status);
            assert!(answer["error"]["message"].is_string());
            assert_eq!(answer.as_object().unwrap().len(), 1);
        } else {
            assert_eq!(answer["errorCode"], code, "{method} {path}: {answer}");
            assert_eq!(answer["status"], status);
            assert_eq!(answer["serverStackTrace"], Value::Null);
            assert!(answer["message"].is_string() && answer["reason"].is_string());
        }
    }
    for path in ["/nowhere", "/ext/v1/nowhere"] {
        let (status, _, answer) = call(request("GET", path, &[], "")).await;
        assert_eq!((status, &answer["error"]["code"]), (404, &Value::from("NOT_FOUND")), "{path}: {answer}");
        assert!(answer["error"]["message"].is_string());
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_that_takes_too_long_is_ended() {
    let (status, ..) = call(request("GET", "/api/v2/trees/a/history", &[], "")).await;
    assert_eq!(status, 204);
    let begun = tokio::time::Instant::now();
    let (status, parts, _) = call(request("GET", "/api/v2/trees/a/diff/b", &[], "")).await;
    assert_eq!((status, begun.elapsed()), (503, READ_TIMEOUT));
    assert!(parts.headers().contains_key("retry-after"));
}

/// What the reference server answers without a word is answered so.
#[tokio::test]
async fn the_nessie_api_refuses_some_requests_without_a_body() {
    for (method, path, headers, status) in [
        ("GET", "/api/v2/nothing", &[][..], 404),
        ("GET", "/api/v1/trees/tree/a/b", &[], 404),
        ("PATCH", "/api/v2/trees/main", &[], 405),
        ("GET", "/api/v1/contents/%2e", &[], 405),
        ("GET", "/api/v2/trees/main", &[("accept", "text/html")], 406),
        ("GET", "/api/v2/trees/main%zz", &[], 400),
    ] {
        let (got, parts, answer) = call(request(method, path, headers, "")).await;
        assert_eq!((got, answer), (status, Value::Null), "{method} {path}");
        assert!(!parts.headers().contains_key("content-type"), "{method} {path}");
        assert_eq!(parts.headers().contains_key("allow"), status == 405, "{method} {path}");
    }
}

#[tokio::test]
async fn targets_and_bodies_are_bounded() {
    let long = format!("/api/v2/trees/main?x={}", "y".repeat(limits::TARGET_BYTES_MAX));
    assert_eq!(call(request("GET", &long, &[], "")).await.0, 414);
    let body = format!("{{{}}}", " ".repeat(limits::NESSIE_BODY_BYTES_MAX - 2));
    assert_eq!(call(request("POST", "/api/v2/trees/main/contents", &[], &body)).await.0, 200);
    let body = format!("{body} ");
    assert_eq!(call(request("POST", "/api/v2/trees/main/contents", &[], &body)).await.0, 413);
}

#[tokio::test]
async fn options_and_wrong_methods_list_the_methods() {
    let (status, parts, body) = call(request("OPTIONS", "/api/v2/trees", &[], "")).await;
    assert_eq!((status, body), (200, Value::Null));
    assert_eq!(parts.headers()["allow"], "GET, POST, HEAD, OPTIONS");
    let (_, parts, _) = call(request("PUT", "/api/v2/trees", &[], "")).await;
    assert_eq!(parts.headers()["allow"], "GET, POST, HEAD, OPTIONS");
}

#[tokio::test]
async fn panics_and_the_unexpected_are_answered_plainly() {
    let (status, _, body) = call(request("GET", "/api/v2/trees", &[("x-request-id", "r9")], "")).await;
    assert_eq!(status, 500);
    assert!(body["message"].as_str().unwrap().contains("r9"), "{body}");
    let (status, _, body) = call(request("GET", "/iceberg/v1/p/namespaces/a/tables/t", &[], "")).await;
    assert_eq!((status, &body["error"]["type"]), (500, &json!("InternalServerError")));
    assert!(!body.to_string().contains("secret"), "{body}");
    let (status, _, body) = call(request("POST", "/iceberg/v1/p/namespaces/a/tables/t", &[], "{}")).await;
    assert_eq!((status, &body["error"]["type"]), (500, &json!("CommitStateUnknownException")));
}

#[tokio::test]
async fn a_write_outlives_its_connection() {
    let app = Arc::new(App::default());
    let service = service(&app);
    let waiting = tokio::spawn(Arc::clone(&service).answer(request(
        "POST",
        "/api/v2/trees/main/history/commit",
        &[],
        "{}",
    )));
    app.begun.notified().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(service.drained(Duration::from_millis(5)).await, 1);
    app.go_on.notify_one();
    app.done.notified().await;
    assert_eq!(app.finished.load(Ordering::SeqCst), 1);
    assert_eq!(service.drained(Duration::from_secs(10)).await, 0);
}

#[tokio::test]
async fn requests_at_work_are_bounded() {
    let service = service(&Arc::new(App::default()));
    let ask = || request("GET", "/api/v2/trees/main", &[], "");
    let mut others = Arc::clone(&service.at_work).acquire_many_owned(REQUESTS_MAX - 1).await.unwrap();
    assert_eq!(Arc::clone(&service).answer(ask()).await.status(), 200);
    others.merge(Arc::clone(&service.at_work).acquire_owned().await.unwrap());
    let refused = Arc::clone(&service).answer(ask()).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "1");
}

#[tokio::test]
async fn the_loop_serves_and_drains() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Arc::new(App::default());
    let service = service(&app);
    let stop = Arc::new(Notify::new());
    let serving = tokio::spawn({
        let (service, stop) = (Arc::clone(&service), Arc::clone(&stop));
        async move {
            let answer = move |request| Arc::clone(&service).answer(request);
            serve(listener, answer, 16, async move { stop.notified().await }, Duration::from_secs(10)).await;
        }
    });
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET /api/v2/trees/main HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut first = [0u8; 12];
    idle.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut head = TcpStream::connect(address).await.unwrap();
    head.write_all(b"HEAD /api/v2/trees/main HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    head.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert!(answer.contains("content-length: 14"), "{answer}");

    let mut busy = TcpStream::connect(address).await.unwrap();
    busy.write_all(
        b"POST /api/v2/trees/main/history/commit HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
    )
    .await
    .unwrap();
    app.begun.notified().await;
    stop.notify_one();
    // The idle connection is closed at once; the busy one gets its answer first.
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.unwrap();
    app.go_on.notify_one();
    let mut answer = String::new();
    busy.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("{\"gone\":false}"), "{answer}");
    serving.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

struct Sick;

impl management::Probe for Sick {
    fn scrubbed(&self) -> management::Scrubbed {
        management::Scrubbed { rounds: 3, ..management::Scrubbed::default() }
    }
    fn health(&self) -> management::Health {
        management::Health { reads_refused: None, writes_refused: Some("the disk is gone".to_owned()) }
    }
    fn metrics(&self) -> String {
        "up 1\n".to_owned()
    }
}

#[tokio::test]
async fn management_tells_refused_writes_and_stays_ready() {
    let ask = |path: &'static str| async move {
        let answer = management::answer(Arc::new(Sick), Request::get(path).body(()).unwrap()).await;
        (answer.status().as_u16(), answer.into_body().collect().await.unwrap().to_bytes())
    };
    let (status, body) = ask("/q/health/ready").await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 200);
    assert_eq!((&body["status"], &body["writes"]), (&json!("UP"), &json!("refused")));
    assert_eq!(body["cause"], "the disk is gone");
    let scrubbed: Value = serde_json::from_slice(&ask("/q/scrub").await.1).unwrap();
    assert_eq!((&scrubbed["on"], &scrubbed["rounds"]), (&json!(false), &json!(3)));
    for path in ["/q/health/live", "/q/health/started"] {
        assert_eq!(ask(path).await.0, 200, "{path}");
    }
    assert_eq!(ask("/q/health/").await.0, 200);
    assert_eq!(ask("/metrics").await, (200, Bytes::from_static(b"up 1\n")));
    assert_eq!(ask("/q/metrics").await.0, 200);
    assert_eq!(ask("/other").await.0, 404);
}
