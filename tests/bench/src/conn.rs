//! One keep-alive HTTP/1.1 connection of one worker: only what a load loop needs, so that the generator stays cheap.
//! One write per request, one buffer reused for all answers, no redirects, no compression.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::ops::Range;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest answer that is read, in bytes: above every page of the workloads.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Room made before each read, in bytes.
const READ_BYTES: usize = 16 << 10;
/// Most header lines of an answer.
const HEADERS_MAX: usize = 64;

/// Connection to one server.
pub struct Conn {
    stream: TcpStream,
    host: String,
    request: Vec<u8>,
    answer: Vec<u8>,
    body: Vec<u8>,
}

/// What a server answered; the body is valid until the next call.
pub struct Answer<'a> {
    /// HTTP status.
    pub status: u16,
    /// Whole body, chunks joined.
    pub body: &'a [u8],
}

struct Head {
    status: u16,
    length: usize,
    framing: Framing,
}

enum Framing {
    Length(usize),
    Chunked,
}

impl Conn {
    /// Connects to `addr`.
    pub async fn open(addr: SocketAddr) -> Result<Self, Error> {
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, host: addr.to_string(), request: Vec::new(), answer: Vec::new(), body: Vec::new() })
    }

    /// Sends one request and reads the whole answer. After an error the connection is of no further use.
    pub async fn call(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Result<Answer<'_>, Error> {
        self.write_request(method, path, body).await?;
        self.answer.clear();
        let head = loop {
            self.fill().await?;
            if let Some(head) = parse_head(&self.answer)? {
                break head;
            }
        };
        match head.framing {
            Framing::Length(length) => {
                let range = self.read_until(head.length, length).await?;
                let body = self.answer.get(range).ok_or_else(|| malformed("short body"))?;
                Ok(Answer { status: head.status, body })
            }
            Framing::Chunked => {
                self.read_chunks(head.length).await?;
                Ok(Answer { status: head.status, body: &self.body })
            }
        }
    }

    async fn write_request(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Result<(), Error> {
        let out = &mut self.request;
        out.clear();
        for part in [method, " ", path, " HTTP/1.1\r\nHost: ", self.host.as_str()] {
            out.extend_from_slice(part.as_bytes());
        }
        out.extend_from_slice(b"\r\nAccept: application/json\r\nNessie-Client-Spec: 2\r\n");
        if let Some(body) = body {
            out.extend_from_slice(b"Content-Type: application/json\r\nContent-Length: ");
            out.extend_from_slice(body.len().to_string().as_bytes());
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(body);
        } else {
            out.extend_from_slice(b"\r\n");
        }
        self.stream.write_all(out).await
    }

    async fn fill(&mut self) -> Result<(), Error> {
        if self.answer.len() > ANSWER_BYTES_MAX {
            return Err(malformed("answer too long"));
        }
        self.answer.reserve(READ_BYTES);
        match self.stream.read_buf(&mut self.answer).await? {
            0 => Err(Error::new(ErrorKind::UnexpectedEof, "connection closed within an answer")),
            _ => Ok(()),
        }
    }

    async fn read_until(&mut self, from: usize, length: usize) -> Result<Range<usize>, Error> {
        let end = from.saturating_add(length);
        while self.answer.len() < end {
            self.fill().await?;
        }
        Ok(from..end)
    }

    async fn read_chunks(&mut self, from: usize) -> Result<(), Error> {
        self.body.clear();
        let mut at = from;
        loop {
            let rest = self.answer.get(at..).unwrap_or_default();
            match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((line, size))) => {
                    let size = usize::try_from(size).map_err(|_| malformed("chunk too long"))?;
                    let range = self.read_until(at + line, size.saturating_add(2)).await?;
                    at = range.end;
                    if size == 0 {
                        return Ok(());
                    }
                    let data = self.answer.get(range.start..range.end - 2).unwrap_or_default();
                    self.body.extend_from_slice(data);
                }
                Ok(httparse::Status::Partial) => self.fill().await?,
                Err(_) => return Err(malformed("bad chunk size")),
            }
        }
    }
}

fn parse_head(answer: &[u8]) -> Result<Option<Head>, Error> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut headers);
    let length = match parsed.parse(answer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(e) => return Err(malformed(&e.to_string())),
    };
    let status = parsed.code.ok_or_else(|| malformed("no status"))?;
    let mut framing = None;
    for header in parsed.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).map_err(|_| malformed("bad length"))?;
            framing = Some(Framing::Length(text.trim().parse().map_err(|_| malformed("bad length"))?));
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Some(Framing::Chunked);
        }
    }
    let framing = match framing {
        Some(framing) => framing,
        None if status == 204 || status == 304 => Framing::Length(0),
        None => return Err(malformed("answer has neither length nor chunks")),
    };
    Ok(Some(Head { status, length, framing }))
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("malformed answer: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Answers each request with the given bytes, a few at a time.
    async fn serve(answers: Vec<&'static [u8]>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0u8; 4096];
            for answer in answers {
                assert!(stream.read(&mut request).await.unwrap() > 0);
                for part in answer.chunks(7) {
                    stream.write_all(part).await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        addr
    }

    #[tokio::test]
    async fn reads_length_chunks_and_empty_answers_on_one_connection() {
        let addr = serve(vec![
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
            b"HTTP/1.1 204 No Content\r\n\r\n",
            b"HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\n{}",
        ])
        .await;
        let mut conn = Conn::open(addr).await.unwrap();
        for (status, body) in [(200, "hello"), (200, "abc0123456789"), (204, ""), (409, "{}")] {
            let answer = conn.call("GET", "/", None).await.unwrap();
            assert_eq!((answer.status, answer.body), (status, body.as_bytes()));
        }
        assert!(conn.call("GET", "/", None).await.is_err(), "the peer is gone");
    }

    #[tokio::test]
    async fn an_answer_without_framing_is_an_error() {
        let addr = serve(vec![b"HTTP/1.1 200 OK\r\n\r\n"]).await;
        let mut conn = Conn::open(addr).await.unwrap();
        assert!(conn.call("GET", "/", None).await.is_err());
    }
}
