//! Compression of answers.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
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

fn pack(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() < body.len()).then(|| Bytes::from(packed))
}
