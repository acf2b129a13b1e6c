//! Each bound at its value and one past it, over HTTP. Sizes are those of production, where the sender says them beforehand;
//! what has to be sent or stored is tried with small ones.

use std::time::Instant;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{ObjectStoreExt, RetryConfig};
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::limits::{OBJECT_BYTES_MAX, OBJECTS_MAX, UPLOAD_STALL_MS_MAX};

/// Far more than anything here takes, a busy machine included.
const VALID: Duration = Duration::from_secs(60);

struct Lake {
    endpoint: DevS3,
    client: AmazonS3,
    folder: tempfile::TempDir,
}

async fn lake(limits: Limits) -> Lake {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let credentials = Credentials { access_key: "key".into(), secret_key: "secret".into() };
    let data = folder.path().to_owned();
    let started = DevS3::start_within(limits, listener, data, credentials, "us-east-1".into(), "lake".into());
    let endpoint = started.await.unwrap();
    let client = AmazonS3Builder::new()
        .with_endpoint(endpoint.endpoint())
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_bucket_name("lake")
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
        .build()
        .unwrap();
    Lake { endpoint, client, folder }
}

impl Lake {
    /// Sends the head of an upload; the server says what it thinks of it before any byte of the body is sent.
    async fn announce(&self, key: &str, length: u64) -> Upload {
        let url = self.client.signed_url(Method::PUT, &Path::from(key), VALID).await.unwrap();
        let host = self.endpoint.endpoint().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).await.unwrap();
        let target = format!("{}?{}", url.path(), url.query().unwrap());
        let lines = format!("host: {host}\r\ncontent-length: {length}\r\nexpect: 100-continue");
        stream.write_all(format!("PUT {target} HTTP/1.1\r\n{lines}\r\n\r\n").as_bytes()).await.unwrap();
        Upload(stream)
    }

    fn received(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("incoming")).unwrap().count()
    }
}

struct Upload(TcpStream);

impl Upload {
    async fn status(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        head.split(' ').nth(1).unwrap().to_owned()
    }

    async fn sends(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }
}

#[test]
fn the_bounds_in_force_are_the_documented_ones() {
    let Limits { object_bytes_max, objects_max, upload_stall } = Limits::default();
    assert_eq!((object_bytes_max, objects_max), (OBJECT_BYTES_MAX, OBJECTS_MAX));
    assert_eq!(upload_stall, Duration::from_millis(UPLOAD_STALL_MS_MAX));
    assert_eq!((OBJECT_BYTES_MAX, OBJECTS_MAX, UPLOAD_STALL_MS_MAX), (5 << 30, 2_000_000, 120_000));
}

#[tokio::test]
async fn an_object_that_will_be_too_large_is_refused_before_it_is_sent() {
    let lake = lake(Limits::default()).await;
    assert_eq!(lake.announce("largest", OBJECT_BYTES_MAX).await.status().await, "100");
    let begun = Instant::now();
    assert_eq!(lake.announce("larger", OBJECT_BYTES_MAX + 1).await.status().await, "400");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_object_that_turns_out_too_large_leaves_nothing() {
    let lake = lake(Limits { object_bytes_max: 10, ..Limits::default() }).await;
    lake.client.put(&Path::from("ten"), "0123456789".into()).await.unwrap();
    // In chunks it says nothing of its length.
    let url = lake.client.signed_url(Method::PUT, &Path::from("eleven"), VALID).await.unwrap();
    let pieces = futures::stream::iter(["012345", "67890"].map(Ok::<_, io::Error>));
    let answer =
        reqwest::Client::new().put(url).body(reqwest::Body::wrap_stream(pieces)).send().await.unwrap();
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    assert_eq!(status, 400, "{text}");
    assert!(text.contains("EntityTooLarge"), "{text}");
    assert!(lake.client.head(&Path::from("eleven")).await.is_err());
    assert_eq!(lake.received(), 0);
}

#[tokio::test]
async fn one_object_more_than_a_bucket_holds_is_refused() {
    let lake = lake(Limits { objects_max: 3, ..Limits::default() }).await;
    for name in ["a", "b", "c", "a"] {
        lake.client.put(&Path::from(name), name.into()).await.unwrap();
    }
    let refused = lake.client.put(&Path::from("d"), "d".into()).await.unwrap_err().to_string();
    assert!(refused.contains("the bucket holds 3 objects already"), "{refused}");
    lake.client.delete(&Path::from("b")).await.unwrap();
    lake.client.put(&Path::from("d"), "d".into()).await.unwrap();
}

#[tokio::test]
async fn an_upload_that_stalls_is_given_up_and_a_slow_one_is_not() {
    let upload_stall = Duration::from_millis(1_000);
    let lake = lake(Limits { upload_stall, ..Limits::default() }).await;
    let slow = async {
        let mut upload = lake.announce("slow", 6).await;
        assert_eq!(upload.status().await, "100");
        // Longer than the bound in all, and never as long without a byte.
        for byte in b"slowly" {
            tokio::time::sleep(upload_stall / 4).await;
            upload.sends(&[*byte]).await;
        }
        upload.status().await
    };
    let stalled = async {
        let mut upload = lake.announce("stalled", 6).await;
        assert_eq!(upload.status().await, "100");
        upload.sends(b"stall").await;
        let begun = Instant::now();
        let status = upload.status().await;
        assert!(begun.elapsed() >= upload_stall * 9 / 10, "{:?}", begun.elapsed());
        status
    };
    assert_eq!(tokio::join!(slow, stalled), ("200".to_owned(), "400".to_owned()));
    assert!(lake.client.head(&Path::from("stalled")).await.is_err());
    assert_eq!(lake.client.head(&Path::from("slow")).await.unwrap().size, 6);
    assert_eq!(lake.received(), 0);
}
