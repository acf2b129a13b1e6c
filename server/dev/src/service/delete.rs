//! `DELETE /{bucket}/{key}` and `POST /{bucket}?delete`.

use s3s::dto::*;
use s3s::{S3Request, S3Result, s3_error};

use super::{PAGE_ITEMS_MAX, Service};
use crate::store::Precondition;

pub(super) async fn delete_object(
    service: &Service,
    request: S3Request<DeleteObjectInput>,
) -> S3Result<DeleteObjectOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    let condition = Precondition { if_match: input.if_match, if_none_match: None };
    service.on_disk(move |_| bucket.delete(&input.key, &condition)).await?;
    Ok(DeleteObjectOutput::default())
}

/// Deletes up to [`PAGE_ITEMS_MAX`] objects. One that fails is named and the others are deleted.
pub(super) async fn delete_objects(
    service: &Service,
    request: S3Request<DeleteObjectsInput>,
) -> S3Result<DeleteObjectsOutput> {
    let input = request.input;
    let bucket = service.store.bucket(&input.bucket)?;
    if input.delete.objects.len() > PAGE_ITEMS_MAX {
        return Err(s3_error!(MalformedXML, "at most {PAGE_ITEMS_MAX} objects are deleted at once"));
    }
    let is_quiet = input.delete.quiet.unwrap_or(false);
    service
        .on_disk(move |_| {
            let (mut deleted, mut errors) = (Vec::new(), Vec::new());
            for object in input.delete.objects {
                let condition =
                    Precondition { if_match: object.e_tag.map(ETagCondition::ETag), if_none_match: None };
                match bucket.delete(&object.key, &condition) {
                    Ok(()) if is_quiet => {}
                    Ok(()) => {
                        deleted.push(DeletedObject { key: Some(object.key), ..DeletedObject::default() });
                    }
                    Err(error) => errors.push(Error {
                        key: Some(object.key),
                        code: Some(error.code().as_str().to_owned()),
                        message: error.message().map(str::to_owned),
                        ..Error::default()
                    }),
                }
            }
            Ok(DeleteObjectsOutput {
                deleted: Some(deleted),
                errors: Some(errors),
                ..DeleteObjectsOutput::default()
            })
        })
        .await
}
