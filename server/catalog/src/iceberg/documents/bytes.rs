//! Compressed metadata files.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use lochan_storage_files::OBJECT_BYTES_MAX;

use crate::error::Error;

/// Whether bytes begin as gzip does; JSON never does.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Compresses a document.
pub(crate) fn gzip(json: &[u8]) -> Result<Bytes, Error> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(json.len() / 4 + 64), Compression::default());
    let failed = |error: std::io::Error| Error::Internal(error.into());
    encoder.write_all(json).map_err(failed)?;
    Ok(encoder.finish().map_err(failed)?.into())
}

/// Unpacks a file, within the bound of what is read in one piece.
pub(super) async fn gunzip(file: Bytes) -> Result<Bytes, Error> {
    let unpacked = tokio::task::spawn_blocking(move || {
        let mut json = Vec::new();
        let read = MultiGzDecoder::new(file.as_ref()).take(OBJECT_BYTES_MAX + 1).read_to_end(&mut json);
        read.map(|_| json)
    });
    let json = unpacked
        .await
        .map_err(|error| Error::Internal(error.into()))?
        .map_err(|error| Error::BadRequest(format!("the metadata file is not valid gzip: {error}")))?;
    if json.len() as u64 > OBJECT_BYTES_MAX {
        return Err(Error::BadRequest(format!(
            "the metadata file is larger than {OBJECT_BYTES_MAX} bytes unpacked"
        )));
    }
    Ok(json.into())
}
