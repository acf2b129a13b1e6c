//! Receiving the body of an object or part aside, hashing and checking it on the way.

use std::mem;

use futures::StreamExt;
use hyper::HeaderMap;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::StreamingBlob;
use s3s::{S3Error, S3Result, TrailingHeaders, s3_error};

use super::Service;
use crate::store::{Aside, Checksums, Description};

/// How much is gathered before it is written, in bytes. Most metadata files fit.
const BUFFER_BYTES: usize = 1024 * 1024;

/// The headers that carry checksums; the same names are used in trailers.
const CHECKSUM_HEADERS: [&str; 5] = [
    "x-amz-checksum-crc32",
    "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme",
    "x-amz-checksum-sha1",
    "x-amz-checksum-sha256",
];

/// A body that came in whole and is what its sender said it is.
#[derive(Debug)]
pub(super) struct Received {
    aside: Aside,
    /// What is not written yet.
    rest: Vec<u8>,
    size_bytes: u64,
    md5: [u8; 16],
    checksums: Checksums,
}

/// What the sender says of a body, in headers before it or trailers after it.
pub(super) struct Claims<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) trailers: Option<&'a TrailingHeaders>,
    /// `Content-MD5`, base64.
    pub(super) content_md5: Option<&'a str>,
}

impl Received {
    /// The ETag of these bytes as one object or part, without quotes.
    pub(super) fn etag(&self) -> String {
        hex::encode(self.md5)
    }

    pub(super) fn checksums(&self) -> &Checksums {
        &self.checksums
    }

    /// Writes what is left, with the description that says how much it is and what its hashes are.
    /// Blocks.
    pub(super) fn seal(self, description: Description) -> S3Result<crate::store::Sealed> {
        let Received { mut aside, rest, size_bytes, md5, checksums } = self;
        aside.write(&rest).map_err(S3Error::internal_error)?;
        let description = Description { size_bytes, etag: hex::encode(md5), checksums, ..description };
        aside.seal(description).map_err(S3Error::internal_error)
    }
}

/// Reads a body to its end. Errors: a body that breaks off, stalls, is over the bound of an object, or is
/// not what its sender claims. Nothing is left behind then, and no lock is held at any time. One that says beforehand that it
/// is too large is not read at all.
pub(super) async fn receive(
    service: &Service,
    body: Option<StreamingBlob>,
    claims: Claims<'_>,
) -> S3Result<Received> {
    let limits = service.store.limits();
    if announced_bytes(claims.headers).is_some_and(|size_bytes| size_bytes > limits.object_bytes_max) {
        return Err(s3_error!(EntityTooLarge));
    }
    let mut aside = service.on_disk(|store| store.aside().map_err(S3Error::internal_error)).await?;
    let mut hasher = wanted_checksums(claims.headers);
    let mut md5 = Md5::new();
    let mut size_bytes = 0u64;
    let mut rest: Vec<u8> = Vec::new();
    if let Some(mut body) = body {
        loop {
            let chunk = match tokio::time::timeout(limits.upload_stall, body.next()).await {
                Err(_) => return Err(s3_error!(RequestTimeout)),
                Ok(None) => break,
                Ok(Some(chunk)) => {
                    chunk.map_err(|error| S3Error::with_source(s3s::S3ErrorCode::IncompleteBody, error))?
                }
            };
            size_bytes += chunk.len() as u64;
            if size_bytes > limits.object_bytes_max {
                return Err(s3_error!(EntityTooLarge));
            }
            md5.update(&chunk);
            hasher.update(&chunk);
            rest.extend_from_slice(&chunk);
            if rest.len() >= BUFFER_BYTES {
                let full = mem::take(&mut rest);
                aside = service
                    .on_disk(move |_| {
                        aside.write(&full).map_err(S3Error::internal_error)?;
                        Ok(aside)
                    })
                    .await?;
            }
        }
    }
    let md5 = md5.finalize();
    check_md5(claims.content_md5, md5)?;
    let trailers = claims.trailers.and_then(TrailingHeaders::take);
    let checksums = check_checksums(hasher.finalize(), claims.headers, trailers.as_ref())?;
    Ok(Received { aside, rest, size_bytes, md5, checksums })
}

/// How much the sender says will come, without the frame of a chunked body.
fn announced_bytes(headers: &HeaderMap) -> Option<u64> {
    let decoded = headers.get("x-amz-decoded-content-length");
    let size = decoded.or_else(|| headers.get(hyper::header::CONTENT_LENGTH))?;
    size.to_str().ok()?.parse().ok()
}

/// Hashers for the checksums that the sender has sent, or says that it will send after the body.
fn wanted_checksums(headers: &HeaderMap) -> ChecksumHasher {
    let announced: Vec<String> = headers
        .get_all("x-amz-trailer")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let is_wanted = |name: &str| headers.contains_key(name) || announced.iter().any(|other| other == name);
    let [crc32, crc32c, crc64nvme, sha1, sha256] = CHECKSUM_HEADERS.map(is_wanted);
    ChecksumHasher {
        crc32: crc32.then(Default::default),
        crc32c: crc32c.then(Default::default),
        crc64nvme: crc64nvme.then(Default::default),
        sha1: sha1.then(Default::default),
        sha256: sha256.then(Default::default),
    }
}

/// Compares what was computed with what was sent, before the body or after it.
fn check_checksums(
    computed: s3s::dto::Checksum,
    headers: &HeaderMap,
    trailers: Option<&HeaderMap>,
) -> S3Result<Checksums> {
    let found = Checksums {
        crc32: computed.checksum_crc32,
        crc32c: computed.checksum_crc32c,
        crc64nvme: computed.checksum_crc64nvme,
        sha1: computed.checksum_sha1,
        sha256: computed.checksum_sha256,
    };
    let values = [&found.crc32, &found.crc32c, &found.crc64nvme, &found.sha1, &found.sha256];
    for (name, value) in CHECKSUM_HEADERS.into_iter().zip(values) {
        let sent = headers.get(name).or_else(|| trailers.and_then(|trailers| trailers.get(name)));
        if let (Some(sent), Some(value)) = (sent, value)
            && sent.as_bytes() != value.as_bytes()
        {
            return Err(s3_error!(BadDigest, "the body does not have the {name} that was sent"));
        }
    }
    Ok(found)
}

fn check_md5(claimed: Option<&str>, md5: [u8; 16]) -> S3Result<()> {
    let Some(claimed) = claimed else { return Ok(()) };
    match base64(&md5) == claimed.trim() {
        true => Ok(()),
        false => Err(s3_error!(BadDigest, "the body does not have the Content-MD5 that was sent")),
    }
}

fn base64(bytes: &[u8; 16]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(24);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            let digit = DIGITS.get(digit as usize).copied().unwrap_or(b'=');
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_in_base64() {
        let empty = "1B2M2Y8AsgTpgAmY7PhCfg==";
        assert_eq!(base64(&Md5::checksum(b"")), empty);
        check_md5(Some(empty), Md5::checksum(b"")).unwrap();
        assert!(check_md5(Some(empty), Md5::checksum(b"x")).is_err());
    }
}
