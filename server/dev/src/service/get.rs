//! `GET` and `HEAD /{bucket}/{key}`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops;

use bytes::Bytes;
use futures::stream;
use s3s::dto::*;
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::conditions::ReadConditions;
use super::{Service, wire_size};
use crate::store::{Checksums, Description, Opened};

/// How much is read from disk at a time, in bytes.
const CHUNK_BYTES: u64 = 256 * 1024;

pub(super) async fn get_object(
    service: &Service,
    request: S3Request<GetObjectInput>,
) -> S3Result<GetObjectOutput> {
    let input = request.input;
    let conditions = ReadConditions {
        if_match: input.if_match,
        if_none_match: input.if_none_match,
        if_modified_since: input.if_modified_since,
        if_unmodified_since: input.if_unmodified_since,
    };
    let Opened { file, description } = open(service, input.bucket, input.key).await?;
    conditions.check(&description)?;
    let wanted = match (input.range, input.part_number) {
        (Some(range), _) => Some(range.check(description.size_bytes)?),
        (None, Some(number)) => part(&description, number)?,
        (None, None) => None,
    };
    let content_range = wanted.as_ref().map(|wanted| content_range(wanted, description.size_bytes));
    let is_whole = wanted.is_none();
    let span = wanted.unwrap_or(0..description.size_bytes);
    let sums = match is_whole && input.checksum_mode.is_some() {
        true => description.checksums.clone(),
        false => Checksums::default(),
    };
    let parts_count = input.part_number.and_then(|_| parts_count(&description));
    let length = span.end - span.start;
    let attributes = description.attributes.clone();
    Ok(GetObjectOutput {
        accept_ranges: Some("bytes".to_owned()),
        body: Some(body(file, span)),
        content_length: Some(wire_size(length)),
        content_range,
        parts_count,
        e_tag: Some(ETag::Strong(description.etag.clone())),
        last_modified: Some(description.modified()),
        content_type: attributes.content_type,
        content_encoding: attributes.content_encoding,
        content_disposition: attributes.content_disposition,
        content_language: attributes.content_language,
        cache_control: attributes.cache_control,
        expires: attributes.expires,
        website_redirect_location: attributes.website_redirect_location,
        metadata: Some(attributes.metadata.into_iter().collect()),
        checksum_crc32: sums.crc32,
        checksum_crc32c: sums.crc32c,
        checksum_crc64nvme: sums.crc64nvme,
        checksum_sha1: sums.sha1,
        checksum_sha256: sums.sha256,
        ..GetObjectOutput::default()
    })
}

pub(super) async fn head_object(
    service: &Service,
    request: S3Request<HeadObjectInput>,
) -> S3Result<HeadObjectOutput> {
    let input = request.input;
    let conditions = ReadConditions {
        if_match: input.if_match,
        if_none_match: input.if_none_match,
        if_modified_since: input.if_modified_since,
        if_unmodified_since: input.if_unmodified_since,
    };
    let Opened { description, .. } = open(service, input.bucket, input.key).await?;
    conditions.check(&description)?;
    let wanted = match (input.range, input.part_number) {
        (Some(range), _) => Some(range.check(description.size_bytes)?),
        (None, Some(number)) => part(&description, number)?,
        (None, None) => None,
    };
    let content_range = wanted.as_ref().map(|wanted| content_range(wanted, description.size_bytes));
    let length = wanted.as_ref().map_or(description.size_bytes, |wanted| wanted.end - wanted.start);
    let sums = match wanted.is_none() && input.checksum_mode.is_some() {
        true => description.checksums.clone(),
        false => Checksums::default(),
    };
    let parts_count = input.part_number.and_then(|_| parts_count(&description));
    let attributes = description.attributes.clone();
    Ok(HeadObjectOutput {
        accept_ranges: Some("bytes".to_owned()),
        content_length: Some(wire_size(length)),
        content_range,
        parts_count,
        e_tag: Some(ETag::Strong(description.etag.clone())),
        last_modified: Some(description.modified()),
        content_type: attributes.content_type,
        content_encoding: attributes.content_encoding,
        content_disposition: attributes.content_disposition,
        content_language: attributes.content_language,
        cache_control: attributes.cache_control,
        expires: attributes.expires,
        website_redirect_location: attributes.website_redirect_location,
        metadata: Some(attributes.metadata.into_iter().collect()),
        checksum_crc32: sums.crc32,
        checksum_crc32c: sums.crc32c,
        checksum_crc64nvme: sums.crc64nvme,
        checksum_sha1: sums.sha1,
        checksum_sha256: sums.sha256,
        ..HeadObjectOutput::default()
    })
}

pub(super) async fn open(service: &Service, bucket: String, key: String) -> S3Result<Opened> {
    service.on_disk(move |store| store.bucket(&bucket)?.get(&key)).await
}

/// The bytes of one part of an object made from parts; `None` for part 1 of a plain object, which is
/// all of it.
fn part(description: &Description, number: i32) -> S3Result<Option<ops::Range<u64>>> {
    let sizes = &description.part_sizes_bytes;
    if sizes.is_empty() && number == 1 {
        return Ok(None);
    }
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let found = place.and_then(|place| Some((sizes.get(..place)?, sizes.get(place)?)));
    let (before, size) = found.ok_or_else(|| s3_error!(InvalidRange, "there is no part {number}"))?;
    let start: u64 = before.iter().sum();
    Ok(Some(start..start + size))
}

fn parts_count(description: &Description) -> Option<i32> {
    let count = description.part_sizes_bytes.len();
    (count > 0).then(|| super::wire_count(count))
}

fn content_range(wanted: &ops::Range<u64>, size_bytes: u64) -> String {
    // A part may be empty, and then has no last byte to name.
    format!("bytes {}-{}/{size_bytes}", wanted.start, wanted.end.saturating_sub(1).max(wanted.start))
}

/// Streams a span of an open file.
fn body(file: File, span: ops::Range<u64>) -> StreamingBlob {
    let chunks = stream::try_unfold((file, span), |(file, span)| async move {
        if span.is_empty() {
            return Ok::<_, io::Error>(None);
        }
        let read = tokio::task::spawn_blocking(move || read_chunk(file, span)).await;
        read.map_err(io::Error::other)?.map(Some)
    });
    StreamingBlob::wrap(chunks)
}

fn read_chunk(mut file: File, span: ops::Range<u64>) -> io::Result<(Bytes, (File, ops::Range<u64>))> {
    let length = CHUNK_BYTES.min(span.end - span.start);
    file.seek(SeekFrom::Start(span.start))?;
    let mut chunk = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.by_ref().take(length).read_to_end(&mut chunk)?;
    match chunk.len() as u64 == length {
        true => Ok((chunk.into(), (file, span.start + length..span.end))),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The source of a copy.
pub(super) async fn open_source(service: &Service, source: &CopySource) -> S3Result<Opened> {
    match source {
        CopySource::Bucket { version_id: Some(_), .. } => {
            Err(s3_error!(NotImplemented, "there are no versions"))
        }
        CopySource::Bucket { bucket, key, .. } => {
            open(service, bucket.as_ref().to_owned(), key.as_ref().to_owned()).await
        }
        _ => Err::<Opened, S3Error>(s3_error!(NotImplemented, "a copy names its source by bucket and key")),
    }
}
