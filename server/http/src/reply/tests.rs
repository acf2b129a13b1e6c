use http::HeaderMap;
use http::header::IF_NONE_MATCH;
use http_body_util::BodyExt;

use super::*;

async fn sent(reply: Reply, gzip: bool) -> Response<AnswerBody> {
    reply.into_response(gzip, HeaderValue::from_static("id-1")).await
}

#[tokio::test]
async fn small_bodies_are_sent_plain() {
    let response = sent(Reply::json(&serde_json::json!({"a": 1})), true).await;
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()["x-request-id"], "id-1");
    assert!(!response.headers().contains_key(CONTENT_ENCODING));
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "{\"a\":1}");
}

#[tokio::test]
async fn large_bodies_are_compressed_for_who_takes_it() {
    for size in [GZIP_SIZE, 40 * GZIP_SIZE] {
        let reply = Reply::json(&"x".repeat(size));
        assert!(!sent(reply.clone(), false).await.headers().contains_key(CONTENT_ENCODING));
        let response = sent(reply, true).await;
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        let packed = response.into_body().collect().await.unwrap().to_bytes();
        let mut plain = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut plain).unwrap();
        assert_eq!(plain.len(), size + 2);
    }
}

const GZIP_SIZE: usize = crate::limits::GZIP_BYTES_MIN;

#[tokio::test]
async fn answers_without_body_have_no_type() {
    let reply = Reply::no_content().with_retry_after(Some(3)).with_etag(HeaderValue::from_static("\"a\""));
    let response = sent(reply, true).await;
    assert_eq!(response.status(), 204);
    assert!(!response.headers().contains_key(CONTENT_TYPE));
    assert_eq!(response.headers()[RETRY_AFTER], "3");
    assert_eq!(response.headers()[ETAG], "\"a\"");
}

#[test]
fn tags_are_compared_weakly() {
    let has = |sent: &'static str, etag| {
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static(sent));
        none_matches(&headers, etag)
    };
    assert!(has("\"a\"", "\"a\""));
    assert!(has("W/\"a\"", "\"a\""));
    assert!(has("\"b\", \"a\"", "W/\"a\""));
    assert!(has("*", "\"a\""));
    assert!(!has("\"b\"", "\"a\""));
    assert!(!none_matches(&HeaderMap::new(), "\"a\""));
}
