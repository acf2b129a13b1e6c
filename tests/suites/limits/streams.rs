//! Streams of an import: a part of the largest size, as many references as may be, and one past each.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use futures::stream;
use http::Request;
use http_body_util::StreamBody;
use hyper::body::Frame;
use lochan_api_spec::ext::model::RefType;
use lochan_api_spec::ext::stream::{
    Attachment, FORMAT, Header, Item, PART_BYTES_MAX, ReferenceLine, SourceKind, VERSION, Writer,
};
use lochan_api_spec::syntax::Instant as Time;
use lochan_server_catalog::ext::import::REFERENCES_MAX;
use lochan_storage_model::{ObjectId, ObjectKind};

use crate::harness::{Answer, EMPTY, Server};
use crate::measured;

/// References of one part.
const REFERENCES_PER_PART: usize = 5_000;
/// Size of an attachment, in bytes.
const ATTACHMENT_BYTES: usize = 512 << 10;
/// Size of the pieces in which a client sends, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Tries all of it; tells what was wrong.
pub async fn tried(server: &Server) -> Vec<String> {
    let mut wrong = parts(server).await;
    wrong.extend(references(server).await);
    wrong
}

/// Sends a stream piece by piece.
async fn import(server: &Server, query: &str, body: &Bytes) -> Answer {
    timed_import(server, query, body).await.0
}

/// The same, with the moment at which the last piece was sent.
async fn timed_import(server: &Server, query: &str, body: &Bytes) -> (Answer, Instant) {
    let body = body.clone();
    let sent = Arc::new(Mutex::new(Instant::now()));
    let clock = sent.clone();
    let pieces = (0..body.len()).step_by(PIECE_BYTES).map(move |at| {
        *clock.lock().expect("nobody panics with it") = Instant::now();
        let piece = body.slice(at..body.len().min(at + PIECE_BYTES));
        Ok::<_, std::io::Error>(Frame::data(piece))
    });
    let request = Request::post(format!("/ext/v1/import?{query}"))
        .header("content-type", "application/x-ndjson")
        .body(StreamBody::new(stream::iter(pieces)))
        .expect("a request");
    let (status, body) = server.answer(request).await;
    let sent = *sent.lock().expect("nobody panics with it");
    (Answer { status, body: serde_json::from_slice(&body).expect("an answer is JSON") }, sent)
}

fn begin(out: &mut Vec<u8>) -> Writer {
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        source: SourceKind::Nessie,
        repository: None,
        server: None,
        default_branch: "main".into(),
        taken_at: Time::from_micros(1),
    };
    Writer::begin(header, out)
}

fn reference(name: &str) -> Item {
    Item::Reference(ReferenceLine { kind: RefType::Tag, name: name.into(), hash: EMPTY.into() })
}

fn attachment(number: usize, bytes: usize) -> Item {
    let mut data = vec![b'x'; bytes];
    data.iter_mut().zip(number.to_be_bytes()).for_each(|(byte, digit)| *byte = digit);
    let id = ObjectId::of(ObjectKind::Attachment, &data).to_string();
    Item::Attachment(Attachment { id, data: hex(&data) })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A stream of one part of exactly the largest size, and where its last line but the ends begins.
fn largest_part() -> (Vec<u8>, usize) {
    let frame = {
        let mut line = Vec::new();
        let mut writer = begin(&mut Vec::new());
        writer.begin_part(None, &mut Vec::new());
        writer.item(&attachment(0, 0), &mut line).expect("it is small");
        line.len()
    };
    let mut out = Vec::new();
    let mut writer = begin(&mut out);
    writer.begin_part(None, &mut out);
    for number in 1.. {
        let room = (PART_BYTES_MAX - writer.part_bytes() - frame) / 2;
        if room <= ATTACHMENT_BYTES {
            // Bytes take two digits each, so the name of a reference makes the rest even.
            let rest = PART_BYTES_MAX - writer.part_bytes() - frame - line_of(&reference("")).len();
            let name = "n".repeat(12 + rest % 2);
            writer.item(&reference(&name), &mut out).expect("it is small");
            let (last, digits) = (out.len(), rest - name.len());
            writer.item(&attachment(number, digits / 2), &mut out).expect("it fits");
            assert_eq!(writer.part_bytes(), PART_BYTES_MAX);
            writer.end_part(|_| None, &mut out);
            writer.end(&mut out);
            return (out, last);
        }
        // The last two must have room.
        let bytes = if room - ATTACHMENT_BYTES < 1_024 { ATTACHMENT_BYTES / 2 } else { ATTACHMENT_BYTES };
        writer.item(&attachment(number, bytes), &mut out).expect("it fits");
    }
    unreachable!("it was full once");
}

fn line_of(item: &Item) -> Vec<u8> {
    let mut line = serde_json::to_vec(item).expect("it is JSON");
    line.push(b'\n');
    line
}

async fn parts(server: &Server) -> Vec<String> {
    let (mut stream, last) = largest_part();
    let mut wrong = Vec::new();
    let past = {
        let mut past = stream.clone();
        let end = past[last..].iter().position(|byte| *byte == b'\n').expect("a line ends");
        past.insert(last + end, b' ');
        Bytes::from(past)
    };
    stream.shrink_to_fit();
    let at = import(server, "id=part-at&prefix=part-at%2F", &stream.into()).await;
    if at.status != 200 {
        wrong.push(format!("a part at the bound: {} {}", at.status, at.body));
    }
    measured("a part of a stream", &mut wrong, 0, 400, "part 1 is larger than 67108864 bytes", async || {
        timed_import(server, "id=part-past&prefix=part-past%2F", &past).await
    })
    .await;
    let state = server.get("/ext/v1/imports/part-past").await.ok();
    if state["nextPart"] != 1 {
        wrong.push(format!("nothing of the part is taken: {state}"));
    }
    wrong
}

async fn references(server: &Server) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut stream = Vec::new();
    let mut writer = begin(&mut stream);
    let names: Vec<String> = (0..REFERENCES_MAX).map(|number| format!("r{number}")).collect();
    for part in names.chunks(REFERENCES_PER_PART) {
        writer.begin_part(None, &mut stream);
        for name in part {
            writer.item(&reference(name), &mut stream).expect("they are small");
        }
        writer.end_part(|_| None, &mut stream);
    }
    let progress = writer.progress();
    let mut more = Writer::resume(progress);
    let mut past = Vec::new();
    more.begin_part(None, &mut past);
    more.item(&reference("one-more"), &mut past).expect("it is small");
    more.end_part(|_| None, &mut past);
    more.end(&mut past);
    let mut end = Vec::new();
    writer.end(&mut end);
    let (stream, end, past) = (Bytes::from(stream), Bytes::from(end), Bytes::from(past));

    import(server, "id=many", &stream).await.ok();
    let words = "the stream has more than 100000 references";
    measured("references of an import", &mut wrong, 0, 400, words, async || {
        timed_import(server, "id=many", &past).await
    })
    .await;
    // The refusal has spoilt nothing.
    let at = import(server, "id=many", &end).await;
    if at.status != 200 || at.body["references"] != REFERENCES_MAX || at.body["status"] != "DONE" {
        wrong.push(format!("references at the bound: {} {}", at.status, at.body["status"]));
    }
    for (name, status) in [("r0", 200), ("r99999", 200), ("one-more", 404)] {
        let found = server.get(&format!("/api/v2/trees/{name}")).await;
        if found.status != status {
            wrong.push(format!("{name}: {} {}", found.status, found.body));
        }
    }
    wrong
}
