//! Buckets.

use s3s::dto::*;
use s3s::{S3Error, S3Request, S3Result, s3_error};

use super::Service;

/// `PUT /{bucket}`. The region asked for is not kept: there is one.
pub(super) async fn create(
    service: &Service,
    request: S3Request<CreateBucketInput>,
) -> S3Result<CreateBucketOutput> {
    let name = request.input.bucket;
    let location = format!("/{name}");
    let is_new =
        service.on_disk(move |store| store.ensure_bucket(&name).map_err(S3Error::internal_error)).await?;
    match is_new {
        true => Ok(CreateBucketOutput { location: Some(location) }),
        false => Err(s3_error!(BucketAlreadyOwnedByYou)),
    }
}

/// `HEAD /{bucket}`
pub(super) async fn head(
    service: &Service,
    request: S3Request<HeadBucketInput>,
) -> S3Result<HeadBucketOutput> {
    service.store.bucket(&request.input.bucket)?;
    Ok(HeadBucketOutput { bucket_region: Some(service.region.clone()), ..HeadBucketOutput::default() })
}

/// `GET /`
pub(super) async fn list(
    service: &Service,
    request: S3Request<ListBucketsInput>,
) -> S3Result<ListBucketsOutput> {
    let prefix = request.input.prefix;
    let is_wanted = |name: &str| prefix.as_ref().is_none_or(|prefix| name.starts_with(prefix));
    let buckets = service.store.all_buckets().into_iter().filter(|bucket| is_wanted(&bucket.name));
    let buckets = buckets.map(|bucket| Bucket {
        name: Some(bucket.name.clone()),
        creation_date: Some(bucket.created.into()),
        ..Bucket::default()
    });
    Ok(ListBucketsOutput { buckets: Some(buckets.collect()), ..ListBucketsOutput::default() })
}

/// `DELETE /{bucket}`
pub(super) async fn delete(
    service: &Service,
    request: S3Request<DeleteBucketInput>,
) -> S3Result<DeleteBucketOutput> {
    let name = request.input.bucket;
    service.on_disk(move |store| store.delete_bucket(&name)).await?;
    Ok(DeleteBucketOutput {})
}

/// `GET /{bucket}?location`. The oldest region has no name in this answer.
pub(super) async fn location(
    service: &Service,
    request: S3Request<GetBucketLocationInput>,
) -> S3Result<GetBucketLocationOutput> {
    service.store.bucket(&request.input.bucket)?;
    let named = (service.region != "us-east-1").then(|| service.region.clone().into());
    Ok(GetBucketLocationOutput { location_constraint: named })
}

/// `GET /{bucket}?versioning`: there are no versions.
pub(super) async fn versioning(
    service: &Service,
    request: S3Request<GetBucketVersioningInput>,
) -> S3Result<GetBucketVersioningOutput> {
    service.store.bucket(&request.input.bucket)?;
    Ok(GetBucketVersioningOutput::default())
}
