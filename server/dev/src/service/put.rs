//! `PUT /{bucket}/{key}`, and what requests say of an object beside its bytes.

use s3s::dto::*;
use s3s::{S3Request, S3Result};

use super::Service;
use super::receive::{Claims, receive};
use crate::store::{Attributes, Description, Precondition, now_us};

pub(super) async fn put_object(
    service: &Service,
    request: S3Request<PutObjectInput>,
) -> S3Result<PutObjectOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let claims = Claims {
        headers: &request.headers,
        trailers: request.trailing_headers.as_ref(),
        content_md5: input.content_md5.as_deref(),
    };
    let received = receive(service, input.body, claims).await?;
    let (etag, sums) = (received.etag(), received.checksums().clone());
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
    let condition = Precondition { if_match: input.if_match, if_none_match: input.if_none_match };
    let key = input.key;
    service
        .on_disk(move |_| {
            let description =
                Description { key, modified_us: now_us(), attributes, ..Description::default() };
            bucket.place(received.seal(description)?, &condition)
        })
        .await?;
    Ok(PutObjectOutput {
        e_tag: Some(ETag::Strong(etag)),
        checksum_crc32: sums.crc32,
        checksum_crc32c: sums.crc32c,
        checksum_crc64nvme: sums.crc64nvme,
        checksum_sha1: sums.sha1,
        checksum_sha256: sums.sha256,
        ..PutObjectOutput::default()
    })
}

/// `aws-chunked` says how the body was sent, not what the object is.
pub(super) fn plain_encoding(sent: Option<String>) -> Option<String> {
    let sent = sent?;
    let codings = sent.split(',').map(str::trim);
    let kept: Vec<&str> = codings.filter(|coding| !coding.eq_ignore_ascii_case("aws-chunked")).collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_of_the_transfer_is_not_kept() {
        let check = |sent: &str, kept: Option<&str>| {
            assert_eq!(plain_encoding(Some(sent.into())).as_deref(), kept);
        };
        check("aws-chunked", None);
        check("gzip, aws-chunked", Some("gzip"));
        check("gzip", Some("gzip"));
    }
}
