//! The endpoint as real clients see it: `object_store`, and raw requests where that is too well-behaved.
// Helpers of tests count as tests: a panic there is a failed test.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path as FsPath;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use lochan_server_dev::{Credentials, DevS3, Error, PART_BYTES_MIN};
use object_store::aws::{AmazonS3, AmazonS3Builder, S3CopyIfNotExists};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    Attribute, Attributes, CopyMode, CopyOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutPayload, RetryConfig, UpdateVersion,
};
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Longest anything here takes that must not wait for something else.
const PROMPT: Duration = Duration::from_secs(10);

async fn start(folder: &FsPath) -> DevS3 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let credentials = Credentials { access_key: "key".into(), secret_key: "secret".into() };
    DevS3::start(listener, folder, credentials, "us-east-1", "lake").await.unwrap()
}

fn client_with(endpoint: &DevS3, secret: &str) -> AmazonS3 {
    AmazonS3Builder::new()
        .with_endpoint(endpoint.endpoint())
        .with_allow_http(true)
        .with_region(endpoint.region())
        .with_bucket_name(endpoint.bucket())
        .with_access_key_id("key")
        .with_secret_access_key(secret)
        .with_copy_if_not_exists(S3CopyIfNotExists::Multipart)
        .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
        .build()
        .unwrap()
}

struct Lake {
    endpoint: DevS3,
    client: Arc<AmazonS3>,
    folder: tempfile::TempDir,
}

async fn lake() -> Lake {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = start(folder.path()).await;
    let client = Arc::new(client_with(&endpoint, "secret"));
    Lake { endpoint, client, folder }
}

fn key(text: &str) -> Path {
    Path::parse(text).unwrap()
}

async fn text(client: &AmazonS3, at: &Path) -> String {
    String::from_utf8(client.get(at).await.unwrap().bytes().await.unwrap().to_vec()).unwrap()
}

fn create() -> PutOptions {
    PutOptions { mode: PutMode::Create, ..PutOptions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_racing_creators_one_wins() {
    let lake = lake().await;
    for round in 0..5 {
        let at = key(&format!("race/{round}"));
        let racers = (0..16).map(|racer| {
            let (client, at) = (Arc::clone(&lake.client), at.clone());
            tokio::spawn(async move {
                client.put_opts(&at, format!("{racer}").into(), create()).await.map(|_| racer)
            })
        });
        let results = futures::future::join_all(racers.collect::<Vec<_>>()).await;
        let mut winners = Vec::new();
        for result in results {
            match result.unwrap() {
                Ok(racer) => winners.push(racer),
                Err(object_store::Error::AlreadyExists { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(winners.len(), 1);
        assert_eq!(text(&lake.client, &at).await, winners[0].to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_moved_by_compare_and_set_loses_nothing() {
    let lake = lake().await;
    let at = key("counter");
    lake.client.put(&at, "0".into()).await.unwrap();
    let tasks = (0..8).map(|_| {
        let (client, at) = (Arc::clone(&lake.client), at.clone());
        tokio::spawn(async move {
            for _ in 0..10 {
                loop {
                    let found = client.get(&at).await.unwrap();
                    let version = UpdateVersion {
                        e_tag: found.meta.e_tag.clone(),
                        version: found.meta.version.clone(),
                    };
                    let count: u32 =
                        std::str::from_utf8(&found.bytes().await.unwrap()).unwrap().parse().unwrap();
                    let options = PutOptions { mode: PutMode::Update(version), ..PutOptions::default() };
                    match client.put_opts(&at, format!("{}", count + 1).into(), options).await {
                        Ok(_) => break,
                        Err(object_store::Error::Precondition { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(text(&lake.client, &at).await, "80");
    let stale = UpdateVersion { e_tag: Some("\"0\"".into()), version: None };
    let update = || PutOptions { mode: PutMode::Update(stale.clone()), ..PutOptions::default() };
    let missing = lake.client.put_opts(&key("missing"), "x".into(), update()).await;
    assert!(matches!(missing, Err(object_store::Error::Precondition { .. })), "{missing:?}");
}

/// An upload that has begun, and of which the server has got only the first half.
struct Stalled {
    stream: TcpStream,
}

impl Stalled {
    /// Returns once the server reads the body.
    async fn begin(lake: &Lake, at: &Path) -> Stalled {
        let url = lake.client.signed_url(Method::PUT, at, PROMPT).await.unwrap();
        let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
        let mut stream = TcpStream::connect(&host).await.unwrap();
        let target = format!("{}?{}", url.path(), url.query().unwrap());
        let head = format!(
            "PUT {target} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut stalled = Stalled { stream };
        assert!(stalled.answer().await.starts_with("HTTP/1.1 100"));
        stalled.stream.write_all(b"first").await.unwrap();
        stalled
    }

    async fn end(mut self) -> String {
        self.stream.write_all(b"-half").await.unwrap();
        self.answer().await
    }

    async fn answer(&mut self) -> String {
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(self.stream.read_u8().await.unwrap());
        }
        String::from_utf8(answer).unwrap()
    }
}

#[tokio::test]
async fn a_stalled_upload_delays_nobody() {
    let lake = lake().await;
    let at = key("slow");
    let stalled = Stalled::begin(&lake, &at).await;
    tokio::time::timeout(PROMPT, async {
        lake.client.put(&key("other"), "other".into()).await.unwrap();
        lake.client.put_opts(&at, "quick".into(), create()).await.unwrap();
        assert_eq!(text(&lake.client, &at).await, "quick");
        lake.client.delete(&at).await.unwrap();
    })
    .await
    .unwrap();
    let answer = stalled.end().await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(text(&lake.client, &at).await, "first-half");
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let lake = lake().await;
    let at = key("broken");
    drop(Stalled::begin(&lake, &at).await);
    let in_time = tokio::time::timeout(PROMPT, async {
        let incoming = lake.folder.path().join("incoming");
        while std::fs::read_dir(&incoming).unwrap().count() > 0 {
            tokio::task::yield_now().await;
        }
    });
    in_time.await.unwrap();
    assert!(matches!(lake.client.head(&at).await, Err(object_store::Error::NotFound { .. })));
}

#[tokio::test]
async fn ranges_conditions_and_attributes() {
    let lake = lake().await;
    let at = key("dir/object");
    let attributes = Attributes::from_iter([
        (Attribute::ContentType, "application/x-test"),
        (Attribute::CacheControl, "no-store"),
        (Attribute::Metadata("who".into()), "me"),
    ]);
    let bytes: Vec<u8> = (0..100).collect();
    let options = PutOptions { attributes: attributes.clone(), ..PutOptions::default() };
    let put = lake.client.put_opts(&at, bytes.clone().into(), options).await.unwrap();
    let found = lake.client.get(&at).await.unwrap();
    assert_eq!(found.attributes, attributes);
    assert_eq!((&found.meta.e_tag, found.meta.size), (&put.e_tag, 100));
    assert_eq!(found.bytes().await.unwrap(), bytes);

    let range = |range: GetRange| {
        let (client, at) = (Arc::clone(&lake.client), at.clone());
        async move {
            let options = GetOptions { range: Some(range), ..GetOptions::default() };
            client.get_opts(&at, options).await?.bytes().await
        }
    };
    assert_eq!(range(GetRange::Bounded(10..20)).await.unwrap(), bytes[10..20]);
    assert_eq!(range(GetRange::Bounded(95..200)).await.unwrap(), bytes[95..]);
    assert_eq!(range(GetRange::Suffix(5)).await.unwrap(), bytes[95..]);
    assert_eq!(range(GetRange::Offset(90)).await.unwrap(), bytes[90..]);
    assert!(range(GetRange::Offset(500)).await.is_err());

    let e_tag = put.e_tag.clone().unwrap();
    let known = GetOptions { if_none_match: Some(e_tag), ..GetOptions::default() };
    let unchanged = lake.client.get_opts(&at, known).await;
    assert!(matches!(unchanged, Err(object_store::Error::NotModified { .. })), "{unchanged:?}");
    let changed = GetOptions { if_match: Some("\"0\"".into()), ..GetOptions::default() };
    let changed = lake.client.get_opts(&at, changed).await;
    assert!(matches!(changed, Err(object_store::Error::Precondition { .. })), "{changed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_go_over_pages() {
    let lake = lake().await;
    let keys: Vec<String> = (0..1_100).map(|n| format!("l/{}/{n:04}", n / 100)).collect();
    let puts = keys.iter().map(|text| {
        let (client, at) = (Arc::clone(&lake.client), key(text));
        async move { client.put(&at, "x".into()).await }
    });
    stream::iter(puts).buffer_unordered(32).try_collect::<Vec<_>>().await.unwrap();
    lake.client.put(&key("l2"), "x".into()).await.unwrap();

    let prefix = key("l");
    let mut sorted = keys.clone();
    sorted.sort();
    let told = |listing: Vec<object_store::ObjectMeta>| {
        listing.into_iter().map(|meta| meta.location.to_string()).collect::<Vec<_>>()
    };
    let all = lake.client.list(Some(&prefix)).try_collect().await.unwrap();
    assert_eq!(told(all), sorted);
    let offset = key("l/2/0250");
    let rest = lake.client.list_with_offset(Some(&prefix), &offset).try_collect().await.unwrap();
    let expected: Vec<String> = sorted.into_iter().filter(|text| *text > offset.to_string()).collect();
    assert_eq!(told(rest), expected);
    let level = lake.client.list_with_delimiter(Some(&prefix)).await.unwrap();
    assert_eq!((level.common_prefixes.len(), level.objects.len()), (11, 0));
    let top = lake.client.list_with_delimiter(None).await.unwrap();
    assert_eq!((top.common_prefixes.len(), top.objects.len()), (1, 1));

    let locations = stream::iter(keys.iter().map(|text| Ok(key(text))).collect::<Vec<_>>()).boxed();
    let deleted: Vec<Path> = lake.client.delete_stream(locations).try_collect().await.unwrap();
    assert_eq!(deleted.len(), 1_100);
    let left = lake.client.list(None).try_collect().await.unwrap();
    assert_eq!(told(left), ["l2"]);
}

#[tokio::test]
async fn parts_become_one_object() {
    let lake = lake().await;
    let at = key("big/object");
    let part = vec![7u8; usize::try_from(PART_BYTES_MIN).unwrap()];
    let mut upload = lake.client.put_multipart(&at).await.unwrap();
    upload.put_part(part.clone().into()).await.unwrap();
    upload.put_part("tail".into()).await.unwrap();
    assert!(lake.client.head(&at).await.is_err());
    let put = upload.complete().await.unwrap();
    assert!(put.e_tag.unwrap().ends_with("-2\""));
    let found = lake.client.get(&at).await.unwrap().bytes().await.unwrap();
    assert_eq!(found.len(), part.len() + 4);
    assert_eq!(&found[part.len()..], b"tail");

    let mut upload = lake.client.put_multipart(&at).await.unwrap();
    upload.put_part("small".into()).await.unwrap();
    upload.abort().await.unwrap();
    assert!(upload.put_part("late".into()).await.is_err());

    let mut upload = lake.client.put_multipart(&at).await.unwrap();
    upload.put_part("small".into()).await.unwrap();
    upload.put_part("second".into()).await.unwrap();
    assert!(upload.complete().await.is_err(), "a small part before the last");
}

#[tokio::test]
async fn copies_and_their_conditions() {
    let lake = lake().await;
    let (from, to) = (key("from"), key("to"));
    lake.client.put(&from, "copy me".into()).await.unwrap();
    lake.client.copy(&from, &to).await.unwrap();
    assert_eq!(text(&lake.client, &to).await, "copy me");
    let create = || CopyOptions { mode: CopyMode::Create, ..CopyOptions::default() };
    let taken = lake.client.copy_opts(&from, &to, create()).await;
    assert!(matches!(taken, Err(object_store::Error::AlreadyExists { .. })), "{taken:?}");
    lake.client.copy_opts(&from, &key("new"), create()).await.unwrap();
    lake.client.rename(&key("new"), &key("newer")).await.unwrap();
    assert_eq!(text(&lake.client, &key("newer")).await, "copy me");
    assert!(lake.client.head(&key("new")).await.is_err());
    assert!(lake.client.copy(&key("missing"), &to).await.is_err());
}

#[tokio::test]
async fn any_key_works_and_all_survive_a_restart() {
    let lake = lake().await;
    let long = format!("long/{}", "ü".repeat(500));
    let keys = ["x", "x/y", "x/y/z", "a b/ü+&=%25.parquet", "dot./.hidden", "日本/'\"<>*:|~", &long];
    for text in keys {
        lake.client.put(&key(text), PutPayload::from(text.to_owned())).await.unwrap();
    }
    let mut upload = lake.client.put_multipart(&key("parts")).await.unwrap();
    upload.put_part("part".into()).await.unwrap();
    upload.complete().await.unwrap();
    let before = lake.client.head(&key("parts")).await.unwrap();

    lake.endpoint.shutdown().await;
    // What a crash leaves behind is cleared away.
    std::fs::write(lake.folder.path().join("incoming/left"), b"half").unwrap();
    let endpoint = start(lake.folder.path()).await;
    let client = client_with(&endpoint, "secret");
    for text_and_key in keys {
        assert_eq!(text(&client, &key(text_and_key)).await, text_and_key);
    }
    let after = client.head(&key("parts")).await.unwrap();
    assert_eq!((after.e_tag, after.last_modified), (before.e_tag, before.last_modified));
    let listed: Vec<_> = client.list(None).try_collect().await.unwrap();
    assert_eq!(listed.len(), keys.len() + 1);
    let again = client.put_opts(&key("x"), "x".into(), create()).await;
    assert!(matches!(again, Err(object_store::Error::AlreadyExists { .. })));
    assert_eq!(std::fs::read_dir(lake.folder.path().join("incoming")).unwrap().count(), 0);
}

#[tokio::test]
async fn only_the_right_signature_is_served() {
    let lake = lake().await;
    let at = key("secret");
    lake.client.put(&at, "mine".into()).await.unwrap();
    let wrong = client_with(&lake.endpoint, "wrong").get(&at).await;
    assert!(matches!(wrong, Err(object_store::Error::PermissionDenied { .. })), "{wrong:?}");
    let plain = format!("{}/lake/secret", lake.endpoint.endpoint());
    assert_eq!(reqwest::get(&plain).await.unwrap().status(), 403);
    let url = lake.client.signed_url(Method::GET, &at, PROMPT).await.unwrap();
    assert_eq!(reqwest::get(url.clone()).await.unwrap().text().await.unwrap(), "mine");
    let tampered = url.as_str().replace("/secret?", "/secrets?");
    assert_eq!(reqwest::get(tampered).await.unwrap().status(), 403);
    let client = client_with(&lake.endpoint, "secret");
    let missing = client.get(&key("nothing")).await;
    assert!(matches!(missing, Err(object_store::Error::NotFound { .. })));
}

#[tokio::test]
async fn a_body_that_is_not_what_it_claims_is_refused() {
    let lake = lake().await;
    let at = key("sum");
    let url = lake.client.signed_url(Method::PUT, &at, PROMPT).await.unwrap();
    let http = reqwest::Client::new();
    let put = |md5: &'static str| http.put(url.clone()).header("content-md5", md5).body("").send();
    assert_eq!(put("XXXXXXXXXXXXXXXXXXXXXX==").await.unwrap().status(), 400);
    assert!(lake.client.head(&at).await.is_err());
    assert_eq!(put("1B2M2Y8AsgTpgAmY7PhCfg==").await.unwrap().status(), 200);
    assert_eq!(lake.client.get(&at).await.unwrap().bytes().await.unwrap(), Bytes::new());
}

#[tokio::test]
async fn a_bad_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let credentials = || Credentials { access_key: "key".into(), secret_key: "hunter2".into() };
    assert!(!format!("{:?}", credentials()).contains("hunter2"));
    let listener = || async { TcpListener::bind("127.0.0.1:0").await.unwrap() };
    let everywhere = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refused = DevS3::start(everywhere, folder.path(), credentials(), "r", "lake").await;
    assert!(matches!(refused, Err(Error::NotLoopback { .. })));
    let refused = DevS3::start(listener().await, folder.path(), credentials(), "r", "No").await;
    assert!(matches!(refused, Err(Error::BucketName { .. })));
    let first = start(folder.path()).await;
    let refused = DevS3::start(listener().await, folder.path(), credentials(), "r", "lake").await;
    assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
    first.shutdown().await;
    start(folder.path()).await.shutdown().await;
}
