//! Compression of answers.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::limits::{GZIP_BYTES_MIN, INLINE_GZIP_BYTES_MAX};

/// Whether a body of this size is ever compressed.
pub(super) fn is_worth_it(body: &[u8]) -> bool {
    body.len() >= GZIP_BYTES_MIN
}

/// The compressed body, or `None` when it is better sent as it is. Large ones are compressed on another thread.
pub(super) async fn compress(body: &Bytes) -> Option<Bytes> {
    if !is_worth_it(body) {
        return None;
    }
    if body.len() <= INLINE_GZIP_BYTES_MAX {
        return pack(body);
    }
    let body = body.clone();
    tokio::task::spawn_blocking(move || pack(&body)).await.ok().flatten()
}

/// The plain form of a body that this program has compressed itself. Unpacked on another thread.
pub(super) async fn unpack(body: Bytes) -> Bytes {
    let unpack = move || {
        let mut plain = Vec::new();
        GzDecoder::new(body.as_ref()).read_to_end(&mut plain).map(|_| Bytes::from(plain))
    };
    match tokio::task::spawn_blocking(unpack).await {
        Ok(Ok(plain)) => plain,
        // What the program carries is checked by its tests; a broken thread is told by its own panic.
        _ => Bytes::new(),
    }
}

fn pack(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() < body.len()).then(|| Bytes::from(packed))
}
