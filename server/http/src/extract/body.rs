//! Reads a body within its limit, then undoes its coding within the same limit: the limit counts decoded bytes.

use std::io::Read;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Refusal;
use crate::limits::{BODIES_BYTES_MAX, BODY_READ_TIMEOUT, INLINE_DECODE_BYTES_MAX, RETRY_AFTER_SECONDS};

/// Bodies up to this size are not counted against the budget of all bodies.
const FREE_BYTES: usize = 64 * 1024;
const UNIT_BYTES: usize = 64 * 1024;

/// What all bodies together may take. Nobody waits for it: whoever finds it spent is told to come back.
#[derive(Clone)]
pub(crate) struct BodyBudget(Arc<Semaphore>);

impl BodyBudget {
    pub(crate) fn new() -> Self {
        BodyBudget(Arc::new(Semaphore::new(BODIES_BYTES_MAX / UNIT_BYTES)))
    }

    pub(crate) fn take(&self, held: &mut Option<OwnedSemaphorePermit>, size: usize) -> Result<(), Refusal> {
        let wanted = size.saturating_sub(FREE_BYTES).div_ceil(UNIT_BYTES);
        let have = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted <= have {
            return Ok(());
        }
        let more = u32::try_from(wanted - have).unwrap_or(u32::MAX);
        let busy = |_| Refusal::Busy { retry_after_seconds: RETRY_AFTER_SECONDS };
        let permit = self.0.clone().try_acquire_many_owned(more).map_err(busy)?;
        match held {
            Some(held) => held.merge(permit),
            None => *held = Some(permit),
        }
        Ok(())
    }
}

/// A body in memory, and its share of the budget, given back when the request is done.
#[derive(Default)]
pub(crate) struct ReadBody {
    pub(crate) bytes: Bytes,
    pub(crate) share: Option<OwnedSemaphorePermit>,
}

/// Reads and decodes `body`: at most `limit_bytes` decoded, and hardly more on the wire.
pub(crate) async fn read_body<B>(
    headers: &HeaderMap,
    body: B,
    limit_bytes: usize,
    budget: &BodyBudget,
) -> Result<ReadBody, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return Ok(ReadBody::default());
    }
    let coding = Coding::of(headers)?;
    // What does not compress grows a little when it is coded.
    let wire_bytes_max = match coding {
        Coding::Identity => limit_bytes,
        Coding::Gzip | Coding::Deflate => limit_bytes + limit_bytes / 1024 + 1024,
    };
    let mut share = None;
    let raw = tokio::time::timeout(BODY_READ_TIMEOUT, collect(body, wire_bytes_max, budget, &mut share))
        .await
        .map_err(|_| Refusal::BodyTimeout)?
        .map_err(|refusal| match refusal {
            Refusal::BodyTooLarge { .. } => Refusal::BodyTooLarge { limit_bytes },
            other => other,
        })?;
    let bytes = match coding {
        Coding::Identity => raw,
        _ if raw.is_empty() => raw,
        coding if raw.len() <= INLINE_DECODE_BYTES_MAX => {
            coding.decode(&raw, limit_bytes, budget, &mut share)?
        }
        coding => {
            let budget = budget.clone();
            let decoded = tokio::task::spawn_blocking(move || {
                let bytes = coding.decode(&raw, limit_bytes, &budget, &mut share);
                bytes.map(|bytes| (bytes, share))
            });
            let (bytes, share) = decoded.await.map_err(|_| Refusal::BodyBroken)??;
            return Ok(ReadBody { bytes, share });
        }
    };
    Ok(ReadBody { bytes, share })
}

async fn collect<B>(
    mut body: B,
    limit_bytes: usize,
    budget: &BodyBudget,
    share: &mut Option<OwnedSemaphorePermit>,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    let too_large = Refusal::BodyTooLarge { limit_bytes };
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit_bytes {
        return Err(too_large);
    }
    // Most bodies come as one frame, which is then used as it is.
    let mut first: Option<Bytes> = None;
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Refusal::BodyBroken)?.into_data() else { continue };
        let size = first.as_ref().map_or(all.len(), Bytes::len) + data.len();
        if size > limit_bytes {
            return Err(too_large);
        }
        budget.take(share, size)?;
        match first.take() {
            None if all.is_empty() => first = Some(data),
            None => all.extend_from_slice(&data),
            Some(begun) => {
                all.reserve(size.max(announced.min(size * 2)));
                all.extend_from_slice(&begun);
                all.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| all.freeze()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
    Deflate,
}

impl Coding {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let unknown = |name: &str| {
            let name = name.escape_default();
            Refusal::UnsupportedMediaType(format!(
                "The body must be plain, gzip or deflate, but Content-Encoding says '{name}'."
            ))
        };
        let mut coding = Coding::Identity;
        for value in headers.get_all(CONTENT_ENCODING) {
            for name in value.to_str().map_err(|_| unknown("?"))?.split(',').map(str::trim) {
                coding = match (coding, name.to_ascii_lowercase().as_str()) {
                    (coding, "" | "identity") => coding,
                    (Coding::Identity, "gzip" | "x-gzip") => Coding::Gzip,
                    (Coding::Identity, "deflate") => Coding::Deflate,
                    // Twice coded bodies are a way to make a small request large, and no client sends them.
                    _ => return Err(unknown(name)),
                };
            }
        }
        Ok(coding)
    }

    fn decode(
        self,
        raw: &[u8],
        limit_bytes: usize,
        budget: &BodyBudget,
        share: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<Bytes, Refusal> {
        match self {
            Coding::Identity => Ok(Bytes::copy_from_slice(raw)),
            Coding::Gzip => inflate(MultiGzDecoder::new(raw), "gzip", limit_bytes, budget, share),
            // "deflate" means the zlib format; some clients send the bare stream.
            Coding::Deflate if is_zlib(raw) => {
                inflate(ZlibDecoder::new(raw), "deflate", limit_bytes, budget, share)
            }
            Coding::Deflate => inflate(DeflateDecoder::new(raw), "deflate", limit_bytes, budget, share),
        }
    }
}

fn is_zlib(raw: &[u8]) -> bool {
    match raw {
        [a, b, ..] => a & 0x0f == 8 && u16::from_be_bytes([*a, *b]) % 31 == 0,
        _ => false,
    }
}

fn inflate(
    mut decoder: impl Read,
    name: &str,
    limit_bytes: usize,
    budget: &BodyBudget,
    share: &mut Option<OwnedSemaphorePermit>,
) -> Result<Bytes, Refusal> {
    let mut out = Vec::new();
    loop {
        let before = out.len();
        let step = decoder
            .by_ref()
            .take(UNIT_BYTES as u64)
            .read_to_end(&mut out)
            .map_err(|_| Refusal::Malformed(format!("The request body is not valid {name}.")))?;
        if out.len() > limit_bytes {
            return Err(Refusal::BodyTooLarge { limit_bytes });
        }
        budget.take(share, out.len())?;
        if step == 0 || out.len() == before {
            return Ok(Bytes::from(out));
        }
    }
}
