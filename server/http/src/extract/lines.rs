//! A body as a stream of lines, read as it comes: its length has no bound, that of a line has.

use std::fmt;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use futures::{Stream, StreamExt, stream};
use http::HeaderMap;
use http_body_util::BodyExt;
use hyper::body::Body;
use lochan_api_spec::ext::stream::LINE_BYTES_MAX;

use super::body::Coding;
use crate::error::Refusal;
use crate::limits::STREAM_STALL_TIMEOUT;

/// Coded bytes decoded at once, so that a few that stand for many are noticed in time.
const DECODED_AT_ONCE_BYTES: usize = 4 * 1024;

/// The lines of a body.
pub struct Lines {
    /// Behind a lock that is never taken: it only makes requests shareable between threads.
    pieces: Mutex<Pieces>,
    decoder: Decoder,
    /// Bytes not given yet.
    buffer: BytesMut,
    /// Bytes of the buffer that hold no end of a line.
    searched: usize,
    /// A piece that is coded and not decoded yet.
    coded: Bytes,
    ended: bool,
}

type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, Refusal>> + Send>>;

enum Decoder {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Lines {
    /// The lines of `body`, plain or coded as `headers` say.
    pub(crate) fn of<B>(headers: &HeaderMap, body: B) -> Result<Self, Refusal>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
    {
        let decoder = match Coding::of(headers)? {
            Coding::Identity => Decoder::Plain,
            Coding::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Coding::Deflate => Decoder::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
        };
        let pieces = stream::unfold(body, |mut body| async {
            loop {
                let frame = match tokio::time::timeout(STREAM_STALL_TIMEOUT, body.frame()).await {
                    Err(_elapsed) => return Some((Err(Refusal::BodyTimeout), body)),
                    Ok(None) => return None,
                    Ok(Some(frame)) => frame,
                };
                match frame.map(|frame| frame.into_data()) {
                    Ok(Ok(data)) => return Some((Ok(data), body)),
                    Ok(Err(_trailers)) => {}
                    Err(_) => return Some((Err(Refusal::BodyBroken), body)),
                }
            }
        });
        Ok(Self {
            pieces: Mutex::new(Box::pin(pieces)),
            decoder,
            buffer: BytesMut::new(),
            searched: 0,
            coded: Bytes::new(),
            ended: false,
        })
    }

    /// The next line without its end; `None` at the end of the body. A last line may lack its end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            let fresh = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(at) = fresh.iter().position(|byte| *byte == b'\n') {
                let mut line = self.buffer.split_to(self.searched + at + 1);
                line.truncate(self.searched + at);
                self.searched = 0;
                return Ok(Some(line.freeze()));
            }
            self.searched = self.buffer.len();
            if self.searched >= LINE_BYTES_MAX {
                return Err(Refusal::BodyTooLarge { limit_bytes: LINE_BYTES_MAX });
            }
            if !self.fill().await? {
                self.searched = 0;
                let rest = std::mem::take(&mut self.buffer).freeze();
                return Ok((!rest.is_empty()).then_some(rest));
            }
        }
    }

    /// Reads on; false at the end of the body.
    async fn fill(&mut self) -> Result<bool, Refusal> {
        if self.ended {
            return Ok(false);
        }
        while self.coded.is_empty() {
            let pieces = self.pieces.get_mut().unwrap_or_else(PoisonError::into_inner);
            match pieces.next().await.transpose()? {
                Some(piece) => self.coded = piece,
                None => return self.end(),
            }
        }
        match &mut self.decoder {
            Decoder::Plain => {
                let piece = std::mem::take(&mut self.coded);
                self.buffer.extend_from_slice(&piece);
            }
            Decoder::Gzip(decoder) => {
                let some = self.coded.split_to(self.coded.len().min(DECODED_AT_ONCE_BYTES));
                decoder.write_all(&some).map_err(|_| broken_code())?;
                self.buffer.extend_from_slice(decoder.get_ref());
                decoder.get_mut().clear();
            }
            Decoder::Deflate(decoder) => {
                let some = self.coded.split_to(self.coded.len().min(DECODED_AT_ONCE_BYTES));
                decoder.write_all(&some).map_err(|_| broken_code())?;
                self.buffer.extend_from_slice(decoder.get_ref());
                decoder.get_mut().clear();
            }
        }
        Ok(true)
    }

    /// What a decoder holds back until it hears of the end.
    fn end(&mut self) -> Result<bool, Refusal> {
        self.ended = true;
        let last = match &mut self.decoder {
            Decoder::Plain => return Ok(false),
            Decoder::Gzip(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
            Decoder::Deflate(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
        };
        self.buffer.extend_from_slice(&last.map_err(|_| broken_code())?);
        Ok(true)
    }
}

fn broken_code() -> Refusal {
    Refusal::Malformed("The request body is not in the coding that Content-Encoding names.".to_owned())
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("buffered_bytes", &self.buffer.len()).finish_non_exhaustive()
    }
}
