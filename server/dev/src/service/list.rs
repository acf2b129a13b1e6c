//! `GET /{bucket}` in its two versions.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use s3s::dto::*;
use s3s::{S3Request, S3Result, s3_error};

use super::{Service, page_items, wire_count, wire_size};
use crate::store::{Description, Page, Query};

/// What stays as it is under `encoding-type=url`. A space becomes `%20`, which every decoder takes.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

pub(super) async fn list_objects_v2(
    service: &Service,
    request: S3Request<ListObjectsV2Input>,
) -> S3Result<ListObjectsV2Output> {
    let input = request.input;
    let after = match &input.continuation_token {
        Some(token) => Some(open_token(token)?),
        None => input.start_after.clone(),
    };
    let query = Query {
        prefix: input.prefix.clone().unwrap_or_default(),
        delimiter: input.delimiter.clone().unwrap_or_default(),
        after,
        items_max: page_items(input.max_keys),
    };
    let (page, items_max) = page(service, &input.bucket, query).await?;
    let text = Texts::new(input.encoding_type.as_ref());
    Ok(ListObjectsV2Output {
        key_count: Some(wire_count(page.keys.len() + page.groups.len())),
        is_truncated: Some(page.next.is_some()),
        next_continuation_token: page.next.as_ref().map(hex::encode),
        contents: Some(text.objects(&page)),
        common_prefixes: Some(text.groups(&page)),
        name: Some(input.bucket),
        prefix: Some(text.shown(input.prefix.unwrap_or_default())),
        delimiter: input.delimiter.map(|delimiter| text.shown(delimiter)),
        start_after: input.start_after.map(|after| text.shown(after)),
        continuation_token: input.continuation_token,
        max_keys: Some(wire_count(items_max)),
        encoding_type: input.encoding_type,
        ..ListObjectsV2Output::default()
    })
}

pub(super) async fn list_objects(
    service: &Service,
    request: S3Request<ListObjectsInput>,
) -> S3Result<ListObjectsOutput> {
    let input = request.input;
    let query = Query {
        prefix: input.prefix.clone().unwrap_or_default(),
        delimiter: input.delimiter.clone().unwrap_or_default(),
        after: input.marker.clone().filter(|marker| !marker.is_empty()),
        items_max: page_items(input.max_keys),
    };
    let (page, items_max) = page(service, &input.bucket, query).await?;
    let text = Texts::new(input.encoding_type.as_ref());
    // Told only with a delimiter, as S3 does; otherwise a client goes on from the last key.
    let next = page.next.clone().filter(|_| input.delimiter.is_some());
    Ok(ListObjectsOutput {
        is_truncated: Some(page.next.is_some()),
        next_marker: next.map(|next| text.shown(next)),
        contents: Some(text.objects(&page)),
        common_prefixes: Some(text.groups(&page)),
        name: Some(input.bucket),
        prefix: Some(text.shown(input.prefix.unwrap_or_default())),
        delimiter: input.delimiter.map(|delimiter| text.shown(delimiter)),
        marker: Some(text.shown(input.marker.unwrap_or_default())),
        max_keys: Some(wire_count(items_max)),
        encoding_type: input.encoding_type,
        ..ListObjectsOutput::default()
    })
}

async fn page(service: &Service, bucket: &str, query: Query) -> S3Result<(Page, usize)> {
    let bucket = service.store.bucket(bucket)?;
    let items_max = query.items_max;
    let page = service.on_disk(move |_| Ok(bucket.list(&query))).await?;
    Ok((page, items_max))
}

/// A continuation token is the last item told, in hexadecimal, so that any key fits into it.
fn open_token(token: &str) -> S3Result<String> {
    let bytes = hex::decode(token).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| s3_error!(InvalidArgument, "the continuation token is none of ours"))
}

/// How keys are written: as they are, or percent-encoded where the client asks for it, because XML
/// cannot carry every character that a key may have.
struct Texts {
    is_encoded: bool,
}

impl Texts {
    fn new(encoding: Option<&EncodingType>) -> Self {
        Texts { is_encoded: encoding.is_some_and(|encoding| encoding.as_str() == EncodingType::URL) }
    }

    fn shown(&self, text: String) -> String {
        match self.is_encoded {
            true => utf8_percent_encode(&text, KEPT).to_string(),
            false => text,
        }
    }

    fn objects(&self, page: &Page) -> Vec<Object> {
        let objects = page.keys.iter().map(|(key, listed)| Object {
            key: Some(self.shown(key.clone())),
            e_tag: Some(ETag::Strong(listed.etag.clone())),
            size: Some(wire_size(listed.size_bytes)),
            last_modified: Some(
                Description { modified_us: listed.modified_us, ..Description::default() }.modified(),
            ),
            storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
            ..Object::default()
        });
        objects.collect()
    }

    fn groups(&self, page: &Page) -> Vec<CommonPrefix> {
        page.groups.iter().map(|group| CommonPrefix { prefix: Some(self.shown(group.clone())) }).collect()
    }
}
