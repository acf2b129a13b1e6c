use std::net::SocketAddr;

use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::extract::ReadOn;
use crate::limits::{CONNECTIONS_MAX, UNREAD_BODY_BYTES_MAX, UNREAD_BODY_TIMEOUT};

const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// A loop that answers everything with 200, for as long as the test runs.
async fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = |_: Request<Incoming>| async { Response::new(Full::<Bytes>::default()) };
    tokio::spawn(serve(listener, answer, CONNECTIONS_MAX, std::future::pending(), Duration::ZERO));
    address
}

/// The status of the answer to `head`, on a connection of its own.
async fn status(address: SocketAddr, head: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Past the bound the server may answer and close before it has read everything.
    let _ = stream.write_all(head).await;
    first_line(&mut stream).await
}

async fn first_line(stream: &mut TcpStream) -> String {
    let mut line = [0; 12];
    stream.read_exact(&mut line).await.unwrap();
    String::from_utf8_lossy(&line).into_owned()
}

/// A head of exactly `size` bytes.
fn head(size: usize) -> Vec<u8> {
    let (begin, end) = (b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"\r\n\r\n");
    let mut head = begin.to_vec();
    head.resize(size - end.len(), b'x');
    head.extend_from_slice(end);
    head
}

fn fields(count: usize) -> Vec<u8> {
    let fields: String = (1..count).map(|n| format!("X{n}: y\r\n")).collect();
    format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n").into_bytes()
}

#[tokio::test]
async fn heads_are_bounded_in_bytes_and_fields() {
    let address = start().await;
    // What comes in one piece with the last bytes below the bound is read too, so the refusal is certain from twice the bound on.
    assert_eq!(status(address, &head(HEADER_BYTES_MAX - 1)).await, "HTTP/1.1 200");
    assert_eq!(status(address, &head(2 * HEADER_BYTES_MAX + 1)).await, "HTTP/1.1 431");
    assert_eq!(status(address, &fields(HEADERS_MAX)).await, "HTTP/1.1 200");
    assert_eq!(status(address, &fields(HEADERS_MAX + 1)).await, "HTTP/1.1 431");
}

/// Also the time for which nothing is asked.
#[tokio::test(start_paused = true)]
async fn a_head_that_takes_too_long_closes_the_connection() {
    let address = start().await;
    let (begin, end) = ASK.split_at(10);
    let blink = Duration::from_secs(1);
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(begin).await.unwrap();
    tokio::time::sleep(HEADER_READ_TIMEOUT - blink).await;
    stream.write_all(end).await.unwrap();
    assert_eq!(first_line(&mut stream).await, "HTTP/1.1 200");
    let begun = tokio::time::Instant::now();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    let waited = begun.elapsed();
    assert!(waited >= HEADER_READ_TIMEOUT - blink && waited <= HEADER_READ_TIMEOUT + blink, "{waited:?}");
}

/// A loop that refuses everything unread.
async fn start_refusing() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = |request: Request<Incoming>| async {
        let waits = request.headers().contains_key("expect");
        drop(ReadOn::new(request.into_body(), waits));
        Response::builder().status(413).body(Full::<Bytes>::default()).unwrap()
    };
    tokio::spawn(serve(listener, answer, CONNECTIONS_MAX, std::future::pending(), Duration::ZERO));
    address
}

/// Clients that write all and read only then, as most do.
#[tokio::test]
async fn a_refusal_reaches_a_client_that_is_still_sending() {
    let mut stream = TcpStream::connect(start_refusing().await).await.unwrap();
    for _ in 0..2 {
        let size = 12 * 1024 * 1024;
        let head = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; size]).await.unwrap();
        assert_eq!(first_line(&mut stream).await, "HTTP/1.1 413");
        let mut byte = [0];
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).await.unwrap();
            seen.extend(byte);
        }
    }
}

#[tokio::test]
async fn who_waits_to_be_asked_for_a_body_is_not_asked() {
    let mut stream = TcpStream::connect(start_refusing().await).await.unwrap();
    let head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head).await.unwrap();
    assert_eq!(first_line(&mut stream).await, "HTTP/1.1 413");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
}

#[tokio::test]
async fn a_body_that_does_not_end_is_given_up() {
    const PIECE_BYTES: usize = 1024 * 1024;
    let mut stream = TcpStream::connect(start_refusing().await).await.unwrap();
    let head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1099511627776\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let mut sent = 0;
    while stream.write_all(&vec![b' '; PIECE_BYTES]).await.is_ok() {
        sent += PIECE_BYTES;
        assert!(sent < 2 * UNREAD_BODY_BYTES_MAX, "{sent} bytes were taken");
    }
    assert!(sent >= UNREAD_BODY_BYTES_MAX, "only {sent} bytes were taken");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_given_up() {
    let mut stream = TcpStream::connect(start_refusing().await).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1").await.unwrap();
    assert_eq!(first_line(&mut stream).await, "HTTP/1.1 413");
    let begun = tokio::time::Instant::now();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(begun.elapsed() >= UNREAD_BODY_TIMEOUT && begun.elapsed() < 2 * UNREAD_BODY_TIMEOUT);
}

#[tokio::test]
async fn the_connection_past_the_bound_waits_for_one_to_close() {
    let address = start().await;
    let mut open = Vec::with_capacity(CONNECTIONS_MAX);
    for _ in 0..CONNECTIONS_MAX {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(ASK).await.unwrap();
        assert_eq!(first_line(&mut stream).await, "HTTP/1.1 200");
        open.push(stream);
    }
    let mut next = TcpStream::connect(address).await.unwrap();
    next.write_all(ASK).await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(100), next.readable()).await;
    assert!(early.is_err(), "it was answered beside {CONNECTIONS_MAX} others");
    open.pop();
    assert_eq!(first_line(&mut next).await, "HTTP/1.1 200");
}
