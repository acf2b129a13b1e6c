use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Frame};
use serde::Deserialize;

use super::*;
use crate::error::Refusal;
use crate::limits::{ADMISSION_TIMEOUT, BODY_READ_TIMEOUT, STREAM_STALL_TIMEOUT};

fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
    list.iter()
        .map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        })
        .fold(HeaderMap::new(), |mut map, (name, value)| {
            map.append(name, value);
            map
        })
}

async fn read(coding: &str, body: impl Into<Bytes>, limit: usize) -> Result<Bytes, Refusal> {
    let headers = headers(&[("content-encoding", coding)]);
    read_body(&headers, Full::new(body.into()), limit, &BodyBudget::new()).await.map(|body| body.bytes)
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn bodies_are_decoded() {
    let plain = "some text ".repeat(1000);
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(plain.as_bytes()).unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    raw.write_all(plain.as_bytes()).unwrap();
    for (coding, body) in [
        ("", plain.clone().into_bytes()),
        ("identity", plain.clone().into_bytes()),
        ("GZIP", gzip(plain.as_bytes())),
        ("x-gzip, identity", gzip(plain.as_bytes())),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
    ] {
        assert_eq!(read(coding, body, 100_000).await.unwrap(), plain, "{coding}");
    }
    assert_eq!(read("gzip", "", 10).await.unwrap(), "");
}

#[tokio::test]
async fn the_limit_counts_decoded_bytes() {
    let plain = vec![b' '; 1_000_000];
    assert_eq!(read("", plain.clone(), 1_000_000).await.unwrap().len(), 1_000_000);
    assert_eq!(read("gzip", gzip(&plain), 1_000_000).await.unwrap().len(), 1_000_000);
    for (coding, body) in [("", plain.clone()), ("gzip", gzip(&plain))] {
        let refused = read(coding, body, 999_999).await.unwrap_err();
        assert!(matches!(refused, Refusal::BodyTooLarge { limit_bytes: 999_999 }), "{refused:?}");
    }
}

#[tokio::test]
async fn long_compressed_bodies_are_decoded_elsewhere() {
    let mut state = 1u32;
    let noise: Vec<u8> = (0..600_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let packed = gzip(&noise);
    assert!(packed.len() > crate::limits::INLINE_DECODE_BYTES_MAX);
    assert_eq!(read("gzip", packed.clone(), 600_000).await.unwrap(), noise);
    assert!(matches!(read("gzip", packed, 599_999).await, Err(Refusal::BodyTooLarge { .. })));
}

#[tokio::test]
async fn broken_and_unknown_codings_are_refused() {
    assert!(matches!(read("gzip", "{}", 10).await, Err(Refusal::Malformed(_))));
    assert!(matches!(read("gzip", gzip(b"hello")[..12].to_vec(), 100).await, Err(Refusal::Malformed(_))));
    assert!(matches!(read("br", "{}", 10).await, Err(Refusal::UnsupportedMediaType(_))));
    assert!(matches!(read("gzip, gzip", "{}", 10).await, Err(Refusal::UnsupportedMediaType(_))));
}

#[tokio::test]
async fn bodies_in_pieces_are_joined_and_broken_ones_refused() {
    let piece =
        |text: &'static str| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(text.as_bytes())));
    let whole = StreamBody::new(futures::stream::iter([piece("ab"), piece(""), piece("cd")]));
    let body = read_body(&HeaderMap::new(), whole, 4, &BodyBudget::new()).await.unwrap();
    assert_eq!(body.bytes, "abcd");
    let long = StreamBody::new(futures::stream::iter([piece("ab"), piece("cde")]));
    assert!(matches!(
        read_body(&HeaderMap::new(), long, 4, &BodyBudget::new()).await,
        Err(Refusal::BodyTooLarge { limit_bytes: 4 })
    ));
    let broken = StreamBody::new(futures::stream::iter([piece("ab"), Err(std::io::Error::other("gone"))]));
    let refused = read_body(&HeaderMap::new(), broken, 4, &BodyBudget::new()).await;
    assert!(matches!(refused, Err(Refusal::BodyBroken)));
}

/// A body whose second piece comes after `pause`.
fn slow(pause: Duration) -> impl Body<Data = Bytes, Error = std::io::Error> + Unpin + Send + 'static {
    let pieces = futures::stream::unfold(0, move |place| async move {
        if place == 1 {
            tokio::time::sleep(pause).await;
        }
        (place < 2).then(|| (Ok(Frame::data(Bytes::from_static(b"piece"))), place + 1))
    });
    StreamBody::new(Box::pin(pieces))
}

#[tokio::test(start_paused = true)]
async fn a_body_that_takes_too_long_is_given_up() {
    let read = async |pause| {
        let begun = tokio::time::Instant::now();
        let read = read_body(&HeaderMap::new(), slow(pause), 100, &BodyBudget::new()).await;
        (read.map(|body| body.bytes), begun.elapsed())
    };
    let blink = Duration::from_millis(1);
    assert_eq!(read(BODY_READ_TIMEOUT - blink).await.0.unwrap(), "piecepiece");
    let (refused, took) = read(BODY_READ_TIMEOUT + blink).await;
    assert!(matches!(refused, Err(Refusal::BodyTimeout)), "{refused:?}");
    assert!(took <= BODY_READ_TIMEOUT + blink, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_is_given_up() {
    let blink = Duration::from_millis(1);
    let mut lines = Lines::of(&HeaderMap::new(), slow(STREAM_STALL_TIMEOUT - blink)).unwrap();
    assert_eq!(lines.next().await.unwrap().unwrap(), "piecepiece");
    let mut lines = Lines::of(&HeaderMap::new(), slow(STREAM_STALL_TIMEOUT + blink)).unwrap();
    let refused = lines.next().await;
    assert!(matches!(refused, Err(Refusal::BodyTimeout)), "{refused:?}");
}

#[tokio::test]
async fn all_bodies_together_are_bounded() {
    let budget = BodyBudget::new();
    let size = crate::limits::BODIES_BYTES_MAX;
    let mut held = None;
    let first = Full::new(Bytes::from(vec![0u8; 4 << 20]));
    let one = read_body(&HeaderMap::new(), first, size, &budget).await.unwrap();
    budget.take(&mut held, size - (8 << 20)).unwrap();
    let more = || Full::new(Bytes::from(vec![0u8; 8 << 20]));
    assert!(matches!(read_body(&HeaderMap::new(), more(), size, &budget).await, Err(Refusal::Busy { .. })));
    drop((one, held));
    assert!(read_body(&HeaderMap::new(), more(), size, &budget).await.is_ok());
    assert_eq!(Full::new(Bytes::from_static(b"x")).collect().await.unwrap().to_bytes(), "x");
}

#[derive(Debug, Deserialize)]
struct Doc {
    #[expect(dead_code, reason = "only its type matters")]
    items: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only its type matters")]
struct Item {
    size: u32,
}

#[test]
fn json_errors_name_field_and_reason() {
    let refused = |text: &str| from_json::<Doc>(text.as_bytes()).unwrap_err().to_string();
    let field = refused(r#"{"items": [{"size": 1}, {"size": "x"}]}"#);
    assert!(field.contains("'items[1].size'") && field.contains("expected u32"), "{field}");
    assert!(refused(r#"{"items": [{}]}"#).contains("missing field `size`"));
    assert!(refused("{not json").contains("line 1 column 2"));
    assert!(refused("").contains("empty"));
    assert!(refused(" \n").contains("empty"));
    assert!(refused("[1,2]").contains("not valid"));
    assert!(from_json::<Doc>(b"\xef\xbb\xbf {\"items\": []}").is_ok());
    assert!(from_json::<Option<Doc>>(b"null").unwrap().is_none());
}

#[test]
fn json_depth_is_bounded() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let max = crate::limits::JSON_DEPTH_MAX;
    assert!(from_json::<serde_json::Value>(nested(max).as_bytes()).is_ok());
    let refused = from_json::<serde_json::Value>(nested(max + 1).as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("recursion limit"), "{refused}");
    assert!(from_json::<serde_json::Value>(nested(1_000_000).as_bytes()).is_err());
}

#[test]
fn accept_must_take_json() {
    let takes = |value: &str| accepts_json(&headers(&[("accept", value)]));
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "*/*",
        "*",
        "*/json",
        "",
        "application/*",
        "text/html, application/json;q=0.5",
        "application/json;q=0.1, */*;q=0.01",
        "text/html, */*;q=0.8",
        "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "text/html, *",
        // Weights play no part.
        "application/json;q=0",
        "*/*;q=0",
        // What follows is not looked at.
        "*/*, junk",
    ] {
        assert!(takes(good), "{good}");
    }
    for bad in [
        "text/html",
        "application/xml",
        "application/json ;q=1",
        "*/html",
        "application/",
        "application/json/x",
        "junk",
        "junk, */*",
        ", */*",
        // A last element of one character is dropped.
        "text/html,*",
    ] {
        assert!(!takes(bad), "{bad}");
    }
    assert!(accepts_json(&HeaderMap::new()));
    let several = |values: &[&'static str]| {
        let values: Vec<_> = values.iter().map(|value| ("accept", *value)).collect();
        accepts_json(&headers(&values))
    };
    assert!(several(&["junk", "*/*"]) && several(&["text/html", "*"]) && several(&["", ""]));
    assert!(!several(&["", "text/html"]));
}

#[test]
fn gzip_is_sent_when_taken() {
    let takes = |value: &str| accepts_gzip(&headers(&[("accept-encoding", value)]));
    assert!(takes("gzip") && takes("gzip;q=1.0, deflate;q=0.9") && takes("*") && takes("br, GZIP"));
    assert!(!takes("identity") && !takes("gzip;q=0") && !takes("gzip;q=0, *") && !takes("deflate"));
    assert!(!accepts_gzip(&HeaderMap::new()));
}

#[test]
fn content_types_of_bodies() {
    let ok = |value: &str| check_content_type(&headers(&[("content-type", value)])).is_ok();
    for good in
        ["application/json", "APPLICATION/JSON", "application/json;charset=UTF-8", "*/*", "application/*", ""]
    {
        assert!(ok(good), "{good}");
    }
    for bad in
        ["text/plain", "text/json", "application/vnd.nessie+json", "junk", "multipart/form-data; boundary=x"]
    {
        assert!(!ok(bad), "{bad}");
    }
    assert!(check_content_type(&HeaderMap::new()).is_ok());
}

#[test]
fn content_types_of_nessie_requests() {
    let sent = |value: &str| headers(&[("content-type", value)]);
    for (value, of_any, of_a_body) in [
        ("application/json", true, true),
        ("Application/JSON;charset=UTF-8", true, true),
        ("*", true, true),
        ("*/*", true, true),
        ("application/*", true, true),
        ("", true, true),
        ("*/json", true, false),
        ("application/json ;v=1", false, true),
        ("text/plain", false, true),
        ("json", false, true),
        ("*;q=1, application/json", false, true),
        ("application/json, text/plain", false, true),
    ] {
        assert_eq!(check_nessie_content_type(&sent(value)).is_ok(), of_any, "{value}");
        assert_eq!(check_nessie_body(&sent(value)).is_ok(), of_a_body, "{value}");
    }
    let status =
        |value: &str| check_repository_config(&sent(value)).map_err(|refusal| refusal.status().as_u16());
    assert_eq!(status("application/*"), Ok(()));
    assert_eq!([status(""), status("text/plain"), status("*/json")], [Err(415); 3]);
    assert_eq!([status("json"), status("a/b/c")], [Err(400); 2]);
    let first_counts = headers(&[("content-type", "application/json"), ("content-type", "text/plain")]);
    assert!(check_nessie_content_type(&first_counts).is_ok());
    assert!(check_nessie_content_type(&HeaderMap::new()).is_ok());
}

#[test]
fn commit_headers_are_split_and_trimmed() {
    let got = CommitHeaders::of(&headers(&[
        ("nessie-commit-message", "  "),
        ("nessie-commit-message", "héllo"),
        ("nessie-commit-authors", "ann, bob,,"),
        ("nessie-commit-authors", "cid"),
        ("nessie-commit-signedoffby", " x "),
        ("nessie-commit-property-app-id", " a,b "),
        ("nessie-commit-property-app-id", "c"),
        ("nessie-commit-property-none", " "),
    ]));
    assert_eq!(got.message.as_deref(), Some("héllo"));
    assert_eq!(got.authors, ["ann", "bob", "cid"]);
    assert_eq!(got.signed_off_by, ["x"]);
    let properties =
        [("app-id".to_owned(), vec!["a,b".to_owned(), "c".to_owned()]), ("none".to_owned(), vec![])];
    assert_eq!(got.properties, properties, "one without values takes the body's away");
    assert_eq!(CommitHeaders::of(&HeaderMap::new()), CommitHeaders::default());
}

#[test]
fn request_ids_are_taken_when_harmless() {
    let ids = RequestIds::new();
    assert_eq!(ids.of(&headers(&[("x-request-id", "abc-1")])).to_string(), "abc-1");
    let long = "x".repeat(129);
    let made: Vec<String> = ["", "a b", "é", &long]
        .iter()
        .map(|odd| ids.of(&headers(&[("x-request-id", odd)])).to_string())
        .collect();
    assert!(made.iter().all(|id| id.contains('-')), "{made:?}");
    assert_ne!(made[0], made[1]);
    assert_eq!(ids.of(&HeaderMap::new()).to_header().to_str().unwrap().split('-').count(), 2);
}

#[test]
fn client_spec_is_the_number_before_the_dot() {
    let takes =
        |value: &str| ClientSpec::of(&headers(&[("nessie-client-spec", value)])).takes_error_details();
    assert!(takes("2") && takes("2.1.0") && takes("10"));
    assert!(!takes("1") && !takes("") && !takes("x") && !takes("1.9") && !takes(".2"));
}

fn request(list: &[(&'static str, &str)]) -> Req {
    let mut parts = Request::get("/api/v2/trees/a+b%2Fc?x=1").body(()).unwrap().into_parts().0;
    parts.headers = headers(list);
    let crate::router::Routed::Op(op, params) = crate::router::route(&parts.method, parts.uri.path()) else {
        panic!("no route");
    };
    Req {
        op,
        parts,
        params,
        lines: None,
        body: Bytes::new(),
        id: RequestId::Made(0, 0),
        identity: None,
        presence: Presence::default(),
        admission_deadline: std::time::Instant::now(),
        request: None,
        _share: None,
    }
}

#[test]
fn parameters_are_decoded_late() {
    let req = request(&[]);
    assert_eq!(req.raw_param(req.params.reference), "a+b%2Fc");
    assert_eq!(req.param(req.params.reference).unwrap(), "a b/c");
    assert_eq!(req.param(req.params.key).unwrap(), "");
    assert_eq!(req.raw_query(), "x=1");
    assert!(matches!(decode_segment("%ff"), Err(Refusal::Malformed(_))));
    assert_eq!(decode_segment("a%2Bb").unwrap(), "a+b");
}

#[test]
fn base_urls_follow_a_proxy_only_where_it_is_trusted() {
    let url = |proxy, list: &[(&'static str, &str)]| request(list).base_url(proxy, "http://fallback/");
    for proxy in [Proxy::Unknown, Proxy::Trusted] {
        assert_eq!(url(proxy, &[]), "http://fallback");
        assert_eq!(url(proxy, &[("host", "a:19120")]), "http://a:19120");
        assert_eq!(url(proxy, &[("host", "evil\"host")]), "http://fallback");
        assert_eq!(url(proxy, &[("host", "a/b")]), "http://fallback");
    }
    let forwarded = [
        ("host", "a"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "lake.example:80, b"),
        ("x-forwarded-port", "8443"),
        ("x-forwarded-prefix", "/cat/"),
    ];
    assert_eq!(url(Proxy::Trusted, &forwarded), "https://lake.example:8443/cat");
    assert_eq!(url(Proxy::Unknown, &forwarded), "http://a", "anybody can send these headers");
}

#[test]
fn presence_tells_when_nobody_waits() {
    let (guard, presence) = PresenceGuard::new();
    guard.answered();
    assert!(!presence.is_gone());
    let (guard, presence) = PresenceGuard::new();
    let late = Req { presence: presence.clone(), ..request(&[]) };
    assert!(late.principal().admission.check().is_err(), "its time is over at once");
    let in_time = Req { admission_deadline: Instant::now() + ADMISSION_TIMEOUT, ..late };
    let admission = in_time.principal().admission;
    assert!(admission.check().is_ok());
    drop(guard);
    assert!(presence.is_gone());
    assert!(admission.check().is_err());
}
