//! The S3 operations that table engines use, each in its own file; anything else is answered 501.
//!
//! Objects: put, get (ranges, parts, conditions), head, copy, delete (one, many), conditional writes
//! (`If-None-Match`, `If-Match`). Multipart uploads: create, part, part from an object, list, complete,
//! abort. Listings: V1 and V2. Buckets: create, head, list, delete, location.

mod buckets;
mod conditions;
mod copy;
mod delete;
mod get;
mod list;
mod put;
mod receive;
mod uploads;

use std::sync::Arc;

use s3s::dto::*;
use s3s::{S3, S3Error, S3Request, S3Response, S3Result};

use crate::store::Store;

/// Most keys, groups, parts or uploads on one page of a listing.
pub const PAGE_ITEMS_MAX: usize = 1_000;

/// What every operation is given.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    store: Arc<Store>,
    region: String,
}

impl Service {
    pub(crate) fn new(store: Arc<Store>, region: String) -> Self {
        Service { store, region }
    }

    /// Runs work on the disk on a thread that may block. It runs to its end even when the request that
    /// wanted it has gone, so an object is never half in place.
    async fn on_disk<T, F>(&self, work: F) -> S3Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Store) -> S3Result<T> + Send + 'static,
    {
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(done) => done,
            Err(join) => Err(S3Error::internal_error(join)),
        }
    }
}

/// Spells out the operations served, as the trait of the protocol wants them.
macro_rules! operations {
    ($($name:ident: $input:ty => $output:ty, $function:path;)+) => {
        #[async_trait::async_trait]
        impl S3 for Service {
            $(async fn $name(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                $function(self, request).await.map(S3Response::new)
            })+
        }
    };
}

operations! {
    create_bucket: CreateBucketInput => CreateBucketOutput, buckets::create;
    head_bucket: HeadBucketInput => HeadBucketOutput, buckets::head;
    list_buckets: ListBucketsInput => ListBucketsOutput, buckets::list;
    delete_bucket: DeleteBucketInput => DeleteBucketOutput, buckets::delete;
    get_bucket_location: GetBucketLocationInput => GetBucketLocationOutput, buckets::location;
    get_bucket_versioning: GetBucketVersioningInput => GetBucketVersioningOutput, buckets::versioning;
    put_object: PutObjectInput => PutObjectOutput, put::put_object;
    get_object: GetObjectInput => GetObjectOutput, get::get_object;
    head_object: HeadObjectInput => HeadObjectOutput, get::head_object;
    copy_object: CopyObjectInput => CopyObjectOutput, copy::copy_object;
    delete_object: DeleteObjectInput => DeleteObjectOutput, delete::delete_object;
    delete_objects: DeleteObjectsInput => DeleteObjectsOutput, delete::delete_objects;
    list_objects: ListObjectsInput => ListObjectsOutput, list::list_objects;
    list_objects_v2: ListObjectsV2Input => ListObjectsV2Output, list::list_objects_v2;
    create_multipart_upload: CreateMultipartUploadInput => CreateMultipartUploadOutput, uploads::create;
    upload_part: UploadPartInput => UploadPartOutput, uploads::put_part;
    upload_part_copy: UploadPartCopyInput => UploadPartCopyOutput, copy::upload_part_copy;
    list_parts: ListPartsInput => ListPartsOutput, uploads::list_parts;
    list_multipart_uploads: ListMultipartUploadsInput => ListMultipartUploadsOutput, uploads::list;
    complete_multipart_upload: CompleteMultipartUploadInput => CompleteMultipartUploadOutput, uploads::complete;
    abort_multipart_upload: AbortMultipartUploadInput => AbortMultipartUploadOutput, uploads::abort;
}

/// Sizes are signed on the wire.
fn wire_size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// How many items a page may have, from what the client asks for.
fn page_items(asked: Option<i32>) -> usize {
    asked.map_or(PAGE_ITEMS_MAX, |asked| usize::try_from(asked).unwrap_or(0).min(PAGE_ITEMS_MAX))
}

/// The `count` that a page tells, which is at most [`PAGE_ITEMS_MAX`].
fn wire_count(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
