//! Answers with a metadata document: put together as text, so that a large document is copied and never written anew.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderValue, StatusCode};
use lochan_server_catalog::iceberg::{TableAnswer, ViewAnswer};

use crate::failure::Failure;
use crate::reply::Reply;

/// Room for what stands around a document, in bytes.
const FRAME_BYTES: usize = 1_024;

/// The answer of create, load and register (`LoadTableResult`).
pub(super) fn table(answer: &TableAnswer) -> Result<Reply, Failure> {
    let config = json(&answer.config);
    let tail: &[(&str, &[u8])] = if answer.config.is_empty() { &[] } else { &[("config", &config)] };
    let reply = Reply::json_bytes(document(answer.metadata_location.as_deref(), &answer.metadata, tail));
    with_etag(reply, answer.etag.as_deref())
}

/// The answer of a commit (`CommitTableResponse`).
pub(super) fn commit(answer: &TableAnswer) -> Result<Reply, Failure> {
    let reply = Reply::json_bytes(document(answer.metadata_location.as_deref(), &answer.metadata, &[]));
    with_etag(reply, answer.etag.as_deref())
}

/// The answer of every view route (`LoadViewResult`).
pub(super) fn view(answer: &ViewAnswer) -> Reply {
    Reply::json_bytes(document(Some(&answer.metadata_location), &answer.metadata, &[]))
}

/// 304 with the tag that the client has already.
pub(super) fn unchanged(etag: &str) -> Result<Reply, Failure> {
    with_etag(Reply::empty(StatusCode::NOT_MODIFIED), Some(etag))
}

fn with_etag(reply: Reply, etag: Option<&str>) -> Result<Reply, Failure> {
    let Some(etag) = etag else { return Ok(reply) };
    let value = HeaderValue::try_from(etag).map_err(|error| Failure::Unexpected(error.into()))?;
    Ok(reply.with_etag(value))
}

fn document(location: Option<&str>, metadata: &[u8], tail: &[(&str, &[u8])]) -> Bytes {
    let mut body = BytesMut::with_capacity(metadata.len() + FRAME_BYTES);
    body.put_u8(b'{');
    if let Some(location) = location {
        body.put_slice(b"\"metadata-location\":");
        body.put_slice(&json(location));
        body.put_u8(b',');
    }
    body.put_slice(b"\"metadata\":");
    body.put_slice(metadata);
    for (field, value) in tail {
        body.put_slice(b",\"");
        body.put_slice(field.as_bytes());
        body.put_slice(b"\":");
        body.put_slice(value);
    }
    body.put_u8(b'}');
    body.freeze()
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and maps of texts always serialise")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_framed() {
        let body = document(Some("s3://b/\"x\""), b"{\"a\":1}", &[("config", b"{}")]);
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"metadata-location": "s3://b/\"x\"", "metadata": {"a": 1}, "config": {}})
        );
        let body = document(None, b"{}", &[]);
        assert_eq!(body, "{\"metadata\":{}}");
    }
}
