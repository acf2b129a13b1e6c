use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Mutex;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::*;
use crate::{Secret, Warehouse, WarehouseConfig, Warehouses};

/// What the next request meets instead of a proper answer.
#[derive(Clone, Copy)]
enum Trouble {
    /// This status, nothing done.
    Status(u16),
    /// The request takes effect, and is answered with this status all the same.
    DoneBut(u16),
    /// No answer.
    Silence,
}

/// As much of S3 as one warehouse asks for: whole objects in memory, `If-None-Match: *`.
#[derive(Default)]
struct Bucket {
    objects: Mutex<HashMap<String, Bytes>>,
    troubles: Mutex<VecDeque<Trouble>>,
    seen: Mutex<Vec<String>>,
}

impl Bucket {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let key = request.uri().path().to_owned();
        let method = request.method().clone();
        let must_be_new = request.headers().contains_key("if-none-match");
        let is_signed = request.headers().contains_key("authorization");
        self.seen.lock().unwrap().push(format!("{method} {key}{}", if must_be_new { " new" } else { "" }));
        let key = percent_encoding::percent_decode_str(&key).decode_utf8().unwrap().into_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let empty = |status: StatusCode| reply(status, Bytes::new());
        let trouble = self.troubles.lock().unwrap().pop_front();
        match trouble {
            Some(Trouble::Status(status)) => return empty(StatusCode::from_u16(status).unwrap()),
            Some(Trouble::Silence) => std::future::pending().await,
            _ => {}
        }
        let mut objects = self.objects.lock().unwrap();
        let found = objects.get(&key).cloned();
        let answer = match (method, found) {
            _ if !is_signed => empty(StatusCode::FORBIDDEN),
            (Method::PUT, Some(_)) if must_be_new => empty(StatusCode::PRECONDITION_FAILED),
            (Method::PUT, _) => {
                objects.insert(key, body);
                empty(StatusCode::OK)
            }
            (Method::GET | Method::HEAD, Some(bytes)) => reply(StatusCode::OK, bytes),
            // `object_store` deletes by `POST ?delete`, one key or many.
            (Method::POST, _) => {
                let document = String::from_utf8_lossy(&body).into_owned();
                let name = document.split_once("<Key>").unwrap().1.split_once("</Key>").unwrap().0;
                objects.remove(&format!("/lake/{name}"));
                let deleted = format!("<Deleted><Key>{name}</Key></Deleted>");
                reply(StatusCode::OK, format!("<DeleteResult>{deleted}</DeleteResult>").into())
            }
            _ => empty(StatusCode::NOT_FOUND),
        };
        match trouble {
            Some(Trouble::DoneBut(status)) => empty(StatusCode::from_u16(status).unwrap()),
            _ => answer,
        }
    }
}

fn reply(status: StatusCode, bytes: Bytes) -> Response<Full<Bytes>> {
    Response::builder()
        .status(status)
        .header("etag", "\"0\"")
        .header("last-modified", "Mon, 30 Nov 2026 00:00:00 GMT")
        .header("content-length", bytes.len())
        .body(Full::new(bytes))
        .unwrap()
}

struct Lake {
    bucket: Arc<Bucket>,
    s3: S3Config,
    warehouses: Warehouses,
    at: Location,
}

impl Lake {
    fn warehouse(&self) -> &Warehouse {
        self.warehouses.default()
    }

    /// A client with a patience of its own.
    fn client(&self, patience: Patience) -> S3Store {
        let root = Location::parse("s3://lake/wh").unwrap();
        S3Store::open_with(&root, &self.s3, Arc::default(), patience).unwrap()
    }

    fn meets(&self, troubles: &[Trouble]) {
        self.bucket.troubles.lock().unwrap().extend(troubles);
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.bucket.seen.lock().unwrap())
    }
}

async fn lake() -> Lake {
    let bucket = Arc::new(Bucket::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let served = Arc::clone(&bucket);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let served = Arc::clone(&served);
            let service = service_fn(move |request| {
                let served = Arc::clone(&served);
                async move { Ok::<_, Infallible>(served.answer(request).await) }
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    let s3 = S3Config {
        endpoint: Some(endpoint),
        path_style: true,
        access_key_id: Some("key".into()),
        secret_access_key: Some(Secret::new("secret")),
        ..S3Config::default()
    };
    let location = "s3://lake/wh".to_owned();
    let config = WarehouseConfig { name: "lake".into(), location, default: true, s3: Some(s3.clone()) };
    let warehouses = Warehouses::open(vec![config]).unwrap();
    Lake { bucket, s3, warehouses, at: Location::parse("s3a://lake/wh/ns ü/t/a%41+b.json").unwrap() }
}

const ONE: Bytes = Bytes::from_static(b"one");

#[tokio::test]
async fn a_commit_is_one_put_and_the_key_is_literal() {
    let lake = lake().await;
    lake.warehouse().create(&lake.at, ONE).await.unwrap();
    let counts = lake.warehouse().io_counts();
    assert_eq!((counts.puts, counts.gets, counts.heads, counts.deletes), (1, 0, 0, 0));
    // The wire form of the literal key: every other client asks for the same.
    assert_eq!(lake.seen(), ["PUT /lake/wh/ns%20%C3%BC/t/a%2541%2Bb.json new"]);

    let taken = lake.warehouse().create(&lake.at, ONE).await;
    assert!(matches!(taken, Err(Error::AlreadyExists { location }) if location == lake.at.as_str()));
    assert_eq!(lake.warehouse().read(&lake.at).await.unwrap().unwrap(), ONE);
    lake.warehouse().write(&lake.at, Bytes::from_static(b"three")).await.unwrap();
    assert_eq!(lake.warehouse().size(&lake.at).await.unwrap(), Some(5));
    lake.warehouse().delete(&lake.at).await.unwrap();
    lake.warehouse().delete(&lake.at).await.unwrap();
    assert_eq!(lake.warehouse().read(&lake.at).await.unwrap(), None);
    assert_eq!(lake.warehouse().size(&lake.at).await.unwrap(), None);
    lake.warehouse().make_folders(&lake.at, &["data"]).await.unwrap();
}

#[tokio::test]
async fn a_retry_recognises_its_own_work() {
    let lake = lake().await;
    lake.meets(&[Trouble::DoneBut(500)]);
    lake.warehouse().create(&lake.at, ONE).await.unwrap();
    assert_eq!(lake.warehouse().io_counts().puts, 2);

    // Another's object is not taken for ours.
    lake.meets(&[Trouble::Status(500)]);
    let taken = lake.warehouse().create(&lake.at, Bytes::from_static(b"other")).await;
    assert!(matches!(taken, Err(Error::AlreadyExists { .. })), "{taken:?}");
}

#[tokio::test]
async fn a_conflict_of_conditional_puts_is_tried_again() {
    let lake = lake().await;
    lake.meets(&[Trouble::Status(409), Trouble::Status(409)]);
    lake.warehouse().create(&lake.at, ONE).await.unwrap();
    assert_eq!(lake.warehouse().io_counts().puts, 3);
}

#[tokio::test]
async fn failures_are_sorted_by_what_to_do_about_them() {
    let lake = lake().await;
    let attempts = RETRIES_MAX + 1;
    lake.meets(&vec![Trouble::Status(503); attempts]);
    let failed = lake.warehouse().read(&lake.at).await;
    assert!(matches!(failed, Err(Error::Throttled { .. })), "{failed:?}");
    assert_eq!(lake.warehouse().io_counts().gets, attempts as u64);
    lake.meets(&vec![Trouble::Status(500); attempts]);
    let failed = lake.warehouse().write(&lake.at, ONE).await;
    assert!(matches!(failed, Err(Error::Unavailable { .. })), "{failed:?}");
    for status in [401, 403] {
        lake.meets(&[Trouble::Status(status)]);
        let failed = lake.warehouse().size(&lake.at).await;
        assert!(matches!(failed, Err(Error::Denied { .. })), "{failed:?}");
    }
    lake.meets(&[Trouble::Status(400)]);
    let failed = lake.warehouse().delete(&lake.at).await;
    assert!(matches!(failed, Err(Error::Other { .. })), "{failed:?}");
}

#[test]
fn the_patience_in_force_is_the_documented_one() {
    let Patience { request_timeout, retries_max, retry_window, backoff_initial } = Patience::default();
    assert_eq!((request_timeout, retries_max + 1), (Duration::from_secs(30), 6));
    assert_eq!((retry_window, backoff_initial), (Duration::from_secs(60), Duration::from_millis(100)));
}

#[tokio::test]
async fn the_last_try_counts_and_there_is_none_behind_it() {
    let lake = lake().await;
    lake.warehouse().write(&lake.at, ONE).await.unwrap();
    let tries = RETRIES_MAX + 1;
    // The pauses between tries are no matter here.
    let client = lake.client(Patience { backoff_initial: Duration::from_millis(1), ..Patience::default() });
    lake.seen();
    lake.meets(&vec![Trouble::Status(503); tries - 1]);
    assert_eq!(client.read(&lake.at).await.unwrap().unwrap(), ONE);
    assert_eq!(lake.seen().len(), tries);
    lake.meets(&vec![Trouble::Status(503); tries]);
    let failed = client.read(&lake.at).await;
    assert!(matches!(failed, Err(Error::Throttled { .. })), "{failed:?}");
    assert_eq!(lake.seen().len(), tries);
    assert_eq!(client.read(&lake.at).await.unwrap().unwrap(), ONE);
}

#[tokio::test]
async fn a_try_without_an_answer_ends_and_the_next_one_follows() {
    let lake = lake().await;
    lake.warehouse().write(&lake.at, ONE).await.unwrap();
    let request_timeout = Duration::from_millis(500);
    let client = lake.client(Patience { request_timeout, ..Patience::default() });
    lake.seen();
    lake.meets(&[Trouble::Silence]);
    let begun = std::time::Instant::now();
    assert_eq!(client.read(&lake.at).await.unwrap().unwrap(), ONE);
    assert!(begun.elapsed() >= request_timeout, "{:?}", begun.elapsed());
    assert_eq!(lake.seen().len(), 2);
}

#[tokio::test]
async fn no_try_begins_when_the_time_for_tries_is_over() {
    let lake = lake().await;
    lake.warehouse().write(&lake.at, ONE).await.unwrap();
    let patience = Patience { request_timeout: Duration::from_millis(300), ..Patience::default() };
    for (retry_window, tries) in [(patience.request_timeout / 3, 1), (Duration::from_secs(60), 2)] {
        let client = lake.client(Patience { retry_window, ..patience });
        lake.seen();
        lake.meets(&[Trouble::Silence]);
        let read = client.read(&lake.at).await;
        assert_eq!((read.is_ok(), lake.seen().len()), (tries > 1, tries), "{read:?}");
    }
}

#[tokio::test]
async fn nobody_listening_is_unavailable() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let s3 = S3Config { endpoint: Some(endpoint), path_style: true, ..keys() };
    let config =
        WarehouseConfig { name: "lake".into(), location: "s3://lake".into(), default: true, s3: Some(s3) };
    let warehouses = Warehouses::open(vec![config]).unwrap();
    let failed = warehouses.default().probe().await;
    assert!(matches!(failed, Err(Error::Unavailable { .. })), "{failed:?}");
    let root = warehouses.default().location().clone();
    assert!(matches!(warehouses.default().read(&root).await, Err(Error::Invalid { .. })));
}

fn keys() -> S3Config {
    S3Config {
        access_key_id: Some("key".into()),
        secret_access_key: Some(Secret::new("secret")),
        ..S3Config::default()
    }
}

#[tokio::test]
async fn an_endpoint_without_a_name_takes_the_path_style() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let s3 = S3Config { endpoint: Some(format!("http://{address}")), ..keys() };
    let config =
        WarehouseConfig { name: "lake".into(), location: "s3://lake".into(), default: true, s3: Some(s3) };
    let warehouses = Warehouses::open(vec![config]).unwrap();
    let failed = warehouses.default().probe().await;
    assert!(matches!(failed, Err(Error::Unavailable { .. })), "{failed:?}");
    let told = warehouses.default().client_properties();
    assert!(told.contains(&("s3.path-style-access".into(), "true".into())), "{told:?}");
}

#[test]
fn settings_that_make_no_request_are_refused() {
    let refused = |s3: S3Config, what: &str| {
        let config = WarehouseConfig {
            name: "lake".into(),
            location: "s3://lake".into(),
            default: true,
            s3: Some(s3),
        };
        let error = Warehouses::open(vec![config]).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused(S3Config { endpoint: Some("http://host/a b".into()), ..keys() }, "endpoint");
    refused(S3Config { external_endpoint: Some("http://é".into()), ..keys() }, "external_endpoint");
    refused(S3Config { access_key_id: Some("key\n".into()), ..keys() }, "access_key_id");
    refused(S3Config { access_key_id: Some("ключ".into()), ..keys() }, "access_key_id");
    refused(S3Config { region: "eu\nwest".into(), ..keys() }, "region");
    refused(S3Config { region: "eu/../west?".into(), ..keys() }, "endpoint");
    refused(S3Config { secret_access_key: Some(Secret::new("a\nb")), ..keys() }, "secret_access_key");
    refused(S3Config { secret_access_key: None, ..keys() }, "secret_access_key");
    refused(S3Config { access_key_id: None, ..keys() }, "access_key_id");
}
