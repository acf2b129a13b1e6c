//! Streams: fetching, sending, breaking off, making.

use std::io;

use bytes::Bytes;
use futures::stream;
use http::Request;
use http_body_util::StreamBody;
use hyper::body::Frame;
use lochan_api_spec::ext::model::RefType;
use lochan_api_spec::ext::stream::{
    CommitLine, FORMAT, Header, Item, OperationLine, ReferenceLine, SourceKind, VERSION, Writer,
};
use lochan_api_spec::nessie::model::{Content, ContentKey, IcebergTable};
use lochan_api_spec::syntax::Instant;
use serde_json::Value;

use crate::harness::{Answer, Server};

/// A whole export, or what a query asks of it.
pub async fn export(server: &Server, query: &str) -> Bytes {
    let request = Request::get(format!("/ext/v1/export?{query}")).body(String::new()).expect("a request");
    let (status, body) = server.answer(request).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    body
}

/// Sends a stream in one piece.
pub async fn import(server: &Server, query: &str, stream: &[u8]) -> Answer {
    send(server, query, stream.chunks(1_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect()).await
}

/// Sends a stream that breaks off behind `bytes`.
pub async fn import_cut(server: &Server, query: &str, stream: &[u8], bytes: usize) -> Answer {
    let whole = stream.get(..bytes).unwrap_or(stream);
    let mut pieces: Vec<_> = whole.chunks(777).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    pieces.push(Err(io::Error::other("the connection broke")));
    send(server, query, pieces).await
}

/// Sends a body with headers of its own.
pub async fn import_with(server: &Server, query: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut request = Request::post(format!("/ext/v1/import?{query}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(http_body_util::Full::new(Bytes::copy_from_slice(body))).expect("a request");
    let (status, body) = server.answer(request).await;
    Answer { status, body: serde_json::from_slice(&body).expect("an answer is JSON") }
}

async fn send(server: &Server, query: &str, pieces: Vec<io::Result<Bytes>>) -> Answer {
    let frames = stream::iter(pieces.into_iter().map(|piece| piece.map(Frame::data)));
    let request = Request::post(format!("/ext/v1/import?{query}"))
        .header("content-type", "application/x-ndjson")
        .body(StreamBody::new(frames))
        .expect("a request");
    let (status, body) = server.answer(request).await;
    Answer { status, body: serde_json::from_slice(&body).expect("an answer is JSON") }
}

/// The lines of a stream.
pub fn lines(stream: &[u8]) -> Vec<Value> {
    let lines = stream.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON")).collect()
}

/// A stream of another server with these items, `per_part` in each part.
pub fn foreign(items: &[Item], per_part: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        source: SourceKind::Nessie,
        repository: None,
        server: Some("nessie 0.1".into()),
        default_branch: "main".into(),
        taken_at: Instant::from_micros(5),
    };
    let mut writer = Writer::begin(header, &mut out);
    for part in items.chunks(per_part.max(1)) {
        writer.begin_part(None, &mut out);
        for item in part {
            writer.item(item, &mut out).expect("small items");
        }
        writer.end_part(|_| None, &mut out);
    }
    writer.end(&mut out);
    out
}

/// The stream with its checks written anew, after its header was changed.
pub fn rechained(stream: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer: Option<Writer> = None;
    for line in lines(stream) {
        let (name, value) = line.as_object().and_then(|line| line.iter().next()).expect("one member");
        match (name.as_str(), &mut writer) {
            ("header", _) => {
                let header = serde_json::from_value(value.clone()).expect("a header");
                writer = Some(Writer::begin(header, &mut out));
            }
            ("part", Some(writer)) => writer.begin_part(None, &mut out),
            ("partEnd", Some(writer)) => writer.end_part(|_| None, &mut out),
            ("end", _) => {}
            (_, Some(writer)) => {
                let item = serde_json::from_value(line.clone()).expect("an item");
                writer.item(&item, &mut out).expect("small items");
            }
            (_, None) => panic!("no header"),
        }
    }
    writer.expect("a header").end(&mut out);
    out
}

/// A reference of another server.
pub fn reference(kind: RefType, name: &str, hash: &str) -> Item {
    Item::Reference(ReferenceLine { kind, name: name.into(), hash: hash.into() })
}

/// A commit of another server that puts the table `key`, `micros` after the epoch.
pub fn commit(id: &str, parents: &[&str], micros: i64, key: &str) -> CommitLine {
    let content = Content::IcebergTable(IcebergTable {
        id: Some("5f4dbd08-0000-4000-8000-000000000001".into()),
        metadata_location: format!("s3://lake/{key}"),
        snapshot_id: micros,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    });
    CommitLine {
        id: id.into(),
        parents: parents.iter().map(|parent| (*parent).to_owned()).collect(),
        message: format!("puts {key}"),
        committer: "carol".into(),
        authors: vec!["dave".into()],
        signed_off_by: Vec::new(),
        commit_time: Instant::from_micros(micros),
        author_time: None,
        properties: [("x".to_owned(), vec!["y".to_owned()])].into(),
        attachments: Vec::new(),
        operation_count: 1,
        operations: vec![OperationLine::Put { key: ContentKey::parse(key).expect("a key"), content }],
    }
}

/// The item of a commit.
pub fn item(commit: CommitLine) -> Item {
    Item::Commit(Box::new(commit))
}
