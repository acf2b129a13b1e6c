//! Multipart uploads.

use s3s::dto::*;
use s3s::{S3Request, S3Result, s3_error};

use super::put::plain_encoding;
use super::receive::{Claims, receive};
use super::{Service, page_items, wire_count, wire_size};
use crate::store::{Attributes, Description, FinishedPart, PART_NUMBER_MAX, Precondition, now_us};

/// `POST /{bucket}/{key}?uploads`
pub(super) async fn create(
    service: &Service,
    request: S3Request<CreateMultipartUploadInput>,
) -> S3Result<CreateMultipartUploadOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let attributes = Attributes {
        content_type: input.content_type,
        content_encoding: plain_encoding(input.content_encoding),
        content_disposition: input.content_disposition,
        content_language: input.content_language,
        cache_control: input.cache_control,
        expires: input.expires,
        website_redirect_location: input.website_redirect_location,
        metadata: input.metadata.unwrap_or_default().into_iter().collect(),
    };
    let key = input.key.clone();
    let id = service.on_disk(move |store| bucket.create_upload(store, &key, attributes)).await?;
    Ok(CreateMultipartUploadOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        upload_id: Some(id),
        checksum_algorithm: input.checksum_algorithm,
        ..CreateMultipartUploadOutput::default()
    })
}

/// `PUT /{bucket}/{key}?partNumber=…&uploadId=…`
pub(super) async fn put_part(
    service: &Service,
    request: S3Request<UploadPartInput>,
) -> S3Result<UploadPartOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    if !(1..=PART_NUMBER_MAX).contains(&input.part_number) {
        return Err(s3_error!(InvalidArgument, "part numbers go from 1 to {PART_NUMBER_MAX}"));
    }
    let key = input.key.clone();
    // Before gigabytes are received for nothing.
    let upload = service.on_disk(move |_| bucket.upload(&key, &input.upload_id)).await?;
    let claims = Claims {
        headers: &request.headers,
        trailers: request.trailing_headers.as_ref(),
        content_md5: input.content_md5.as_deref(),
    };
    let received = receive(service, input.body, claims).await?;
    let (etag, sums) = (received.etag(), received.checksums().clone());
    service
        .on_disk(move |_| {
            let part = Description { key: input.key, modified_us: now_us(), ..Description::default() };
            upload.place_part(input.part_number, received.seal(part)?)
        })
        .await?;
    Ok(UploadPartOutput {
        e_tag: Some(ETag::Strong(etag)),
        checksum_crc32: sums.crc32,
        checksum_crc32c: sums.crc32c,
        checksum_crc64nvme: sums.crc64nvme,
        checksum_sha1: sums.sha1,
        checksum_sha256: sums.sha256,
        ..UploadPartOutput::default()
    })
}

/// `GET /{bucket}/{key}?uploadId=…`
pub(super) async fn list_parts(
    service: &Service,
    request: S3Request<ListPartsInput>,
) -> S3Result<ListPartsOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let (key, id) = (input.key.clone(), input.upload_id.clone());
    let all = service.on_disk(move |_| bucket.upload(&key, &id)?.parts()).await?;
    let after = input.part_number_marker.unwrap_or(0);
    let items_max = page_items(input.max_parts);
    let mut rest = all.into_iter().filter(|(number, _)| *number > after).peekable();
    let parts: Vec<Part> = rest
        .by_ref()
        .take(items_max)
        .map(|(number, part)| Part {
            part_number: Some(number),
            size: Some(wire_size(part.size_bytes)),
            last_modified: Some(part.modified()),
            e_tag: Some(ETag::Strong(part.etag)),
            checksum_crc32: part.checksums.crc32,
            checksum_crc32c: part.checksums.crc32c,
            checksum_crc64nvme: part.checksums.crc64nvme,
            checksum_sha1: part.checksums.sha1,
            checksum_sha256: part.checksums.sha256,
        })
        .collect();
    let is_truncated = rest.peek().is_some() && items_max > 0;
    let last = parts.last().and_then(|part| part.part_number);
    Ok(ListPartsOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        upload_id: Some(input.upload_id),
        is_truncated: Some(is_truncated),
        next_part_number_marker: last.filter(|_| is_truncated),
        part_number_marker: Some(after),
        max_parts: Some(wire_count(items_max)),
        parts: Some(parts),
        ..ListPartsOutput::default()
    })
}

/// `GET /{bucket}?uploads`. A delimiter is refused rather than ignored.
pub(super) async fn list(
    service: &Service,
    request: S3Request<ListMultipartUploadsInput>,
) -> S3Result<ListMultipartUploadsOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    if input.delimiter.as_ref().is_some_and(|delimiter| !delimiter.is_empty()) {
        return Err(s3_error!(NotImplemented, "uploads are not listed by delimiter"));
    }
    let prefix = input.prefix.clone().unwrap_or_default();
    let all = service.on_disk(move |_| bucket.uploads(&prefix)).await?;
    let after_key = input.key_marker.clone().unwrap_or_default();
    let after_id = input.upload_id_marker.clone();
    let items_max = page_items(input.max_uploads);
    let is_after = |key: &str, id: &str| match &after_id {
        Some(after_id) => (key, id) > (after_key.as_str(), after_id.as_str()),
        None => after_key.is_empty() || key > after_key.as_str(),
    };
    let mut rest = all.into_iter().filter(|upload| is_after(&upload.head.key, &upload.id)).peekable();
    let uploads: Vec<MultipartUpload> = rest
        .by_ref()
        .take(items_max)
        .map(|upload| MultipartUpload {
            initiated: Some(upload.head.modified()),
            key: Some(upload.head.key),
            upload_id: Some(upload.id),
            ..MultipartUpload::default()
        })
        .collect();
    let is_truncated = rest.peek().is_some() && items_max > 0;
    let last = uploads.last().filter(|_| is_truncated);
    Ok(ListMultipartUploadsOutput {
        bucket: Some(input.bucket),
        prefix: input.prefix,
        key_marker: input.key_marker,
        upload_id_marker: input.upload_id_marker,
        max_uploads: Some(wire_count(items_max)),
        is_truncated: Some(is_truncated),
        next_key_marker: last.and_then(|last| last.key.clone()),
        next_upload_id_marker: last.and_then(|last| last.upload_id.clone()),
        uploads: Some(uploads),
        ..ListMultipartUploadsOutput::default()
    })
}

/// `POST /{bucket}/{key}?uploadId=…`. The upload stays when its condition fails, so that the client
/// can abort it.
pub(super) async fn complete(
    service: &Service,
    request: S3Request<CompleteMultipartUploadInput>,
) -> S3Result<CompleteMultipartUploadOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let condition = Precondition { if_match: input.if_match, if_none_match: input.if_none_match };
    let named = input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default();
    let parts = named
        .into_iter()
        .map(|part| {
            let number = part.part_number.ok_or_else(|| s3_error!(MalformedXML, "a part has no number"))?;
            Ok(FinishedPart { number, etag: part.e_tag.map(ETag::into_value) })
        })
        .collect::<S3Result<Vec<FinishedPart>>>()?;
    let (key, id) = (input.key.clone(), input.upload_id);
    let etag = service
        .on_disk(move |store| {
            let upload = bucket.upload(&key, &id)?;
            let sealed = upload.join(store, &parts)?;
            let etag = sealed.etag().to_owned();
            bucket.place(sealed, &condition)?;
            // The object is in place; that two completions raced is no news to either.
            let _ = upload.remove();
            Ok(etag)
        })
        .await?;
    Ok(CompleteMultipartUploadOutput {
        location: Some(format!("/{}/{}", input.bucket, input.key)),
        bucket: Some(input.bucket),
        key: Some(input.key),
        e_tag: Some(ETag::Strong(etag)),
        ..CompleteMultipartUploadOutput::default()
    })
}

/// `DELETE /{bucket}/{key}?uploadId=…`
pub(super) async fn abort(
    service: &Service,
    request: S3Request<AbortMultipartUploadInput>,
) -> S3Result<AbortMultipartUploadOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    service.on_disk(move |_| bucket.upload(&input.key, &input.upload_id)?.remove()).await?;
    Ok(AbortMultipartUploadOutput::default())
}
