//! `PUT` with `x-amz-copy-source`: a whole object, or a span of one as a part of an upload.

use std::io::{Seek, SeekFrom};

use hyper::HeaderMap;
use hyper::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use s3s::crypto::{Checksum, Md5};
use s3s::dto::*;
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::Service;
use super::conditions::ReadConditions;
use super::get::open_source;
use super::put::plain_encoding;
use crate::store::{Attributes, Description, Opened, Precondition, now_us};

pub(super) async fn copy_object(
    service: &Service,
    request: S3Request<CopyObjectInput>,
) -> S3Result<CopyObjectOutput> {
    let headers = request.headers;
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let Opened { mut file, description: source } = open_source(service, &input.copy_source).await?;
    let conditions = ReadConditions {
        if_match: input.copy_source_if_match,
        if_none_match: input.copy_source_if_none_match,
        if_modified_since: input.copy_source_if_modified_since,
        if_unmodified_since: input.copy_source_if_unmodified_since,
    };
    conditions.check_source(&source)?;
    let condition = target_condition(&headers)?;
    let replaces = input.metadata_directive.is_some_and(|d| d.as_str() == MetadataDirective::REPLACE);
    let attributes = match replaces {
        false => source.attributes,
        true => Attributes {
            content_type: input.content_type,
            content_encoding: plain_encoding(input.content_encoding),
            content_disposition: input.content_disposition,
            content_language: input.content_language,
            cache_control: input.cache_control,
            expires: input.expires,
            website_redirect_location: input.website_redirect_location,
            metadata: input.metadata.unwrap_or_default().into_iter().collect(),
        },
    };
    let copy = Description { key: input.key, modified_us: now_us(), attributes, ..source };
    let (etag, modified) = (copy.etag.clone(), copy.modified());
    service
        .on_disk(move |store| {
            let io = S3Error::internal_error::<std::io::Error>;
            file.rewind().map_err(io)?;
            let mut aside = store.aside().map_err(io)?;
            aside.copy(&file, copy.size_bytes).map_err(io)?;
            bucket.place(aside.seal(copy).map_err(io)?, &condition)
        })
        .await?;
    Ok(CopyObjectOutput {
        copy_object_result: Some(CopyObjectResult {
            e_tag: Some(ETag::Strong(etag)),
            last_modified: Some(modified),
            ..CopyObjectResult::default()
        }),
        ..CopyObjectOutput::default()
    })
}

pub(super) async fn upload_part_copy(
    service: &Service,
    request: S3Request<UploadPartCopyInput>,
) -> S3Result<UploadPartCopyOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let Opened { mut file, description: source } = open_source(service, &input.copy_source).await?;
    let conditions = ReadConditions {
        if_match: input.copy_source_if_match,
        if_none_match: input.copy_source_if_none_match,
        if_modified_since: input.copy_source_if_modified_since,
        if_unmodified_since: input.copy_source_if_unmodified_since,
    };
    conditions.check_source(&source)?;
    let span = match &input.copy_source_range {
        None => 0..source.size_bytes,
        Some(range) => {
            let range =
                Range::parse(range).map_err(|_| s3_error!(InvalidArgument, "malformed source range"))?;
            range.check(source.size_bytes)?
        }
    };
    let (etag, modified_us) = service
        .on_disk(move |store| {
            let io = S3Error::internal_error::<std::io::Error>;
            let upload = bucket.upload(&input.key, &input.upload_id)?;
            let mut md5 = Md5::new();
            file.seek(SeekFrom::Start(span.start)).map_err(io)?;
            let length = span.end - span.start;
            let mut aside = store.aside().map_err(io)?;
            aside.copy_hashed(&file, length, |bytes| md5.update(bytes)).map_err(io)?;
            let part = Description {
                key: input.key,
                size_bytes: length,
                etag: hex::encode(md5.finalize()),
                modified_us: now_us(),
                ..Description::default()
            };
            let told = (part.etag.clone(), part.modified());
            upload.place_part(input.part_number, aside.seal(part).map_err(io)?)?;
            Ok(told)
        })
        .await?;
    Ok(UploadPartCopyOutput {
        copy_part_result: Some(CopyPartResult {
            e_tag: Some(ETag::Strong(etag)),
            last_modified: Some(modified_us),
            ..CopyPartResult::default()
        }),
        ..UploadPartCopyOutput::default()
    })
}

/// The condition on what the copy would replace; newer than the protocol library's model of a copy.
fn target_condition(headers: &HeaderMap) -> S3Result<Precondition> {
    let parse = |name: HeaderName| match headers.get(&name) {
        None => Ok(None),
        Some(value) => ETagCondition::parse_http_header(value.as_bytes())
            .map(Some)
            .map_err(|_| s3_error!(InvalidArgument, "malformed {name}")),
    };
    Ok(Precondition { if_match: parse(IF_MATCH)?, if_none_match: parse(IF_NONE_MATCH)? })
}
