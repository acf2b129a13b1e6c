//! Failures of sled and of the file system, turned into the causes of the port at the border.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lochan_storage_model::DecodeError;
use lochan_storage_odb::StoreError;

/// A read that sled could not do.
pub(crate) fn read(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Corruption { at, .. } => {
            let what = match at {
                None => "sled/db".to_owned(),
                Some(sled::DiskPtr::Inline(offset)) => format!("sled/db at offset {offset}"),
                Some(sled::DiskPtr::Blob(_, blob)) => format!("sled/blobs/{blob}"),
            };
            StoreError::Corrupt { what, detail: "a page does not fit its check sum".into() }
        }
        other => StoreError::Read(other.to_string()),
    }
}

/// A row that cannot be decoded.
pub(crate) fn row(what: impl Into<String>) -> impl FnOnce(DecodeError) -> StoreError {
    move |error| StoreError::undecodable(what, &error)
}

/// A damaged row without a decoding error behind it.
pub(crate) fn damaged(what: impl Into<String>, detail: impl Into<String>) -> StoreError {
    StoreError::Corrupt { what: what.into(), detail: detail.into() }
}

/// A panic of the engine in a read: it asserts what damaged files do not keep to.
pub(crate) fn panicked() -> StoreError {
    damaged("sled/db", "the engine met something impossible and gave up the read")
}

/// Runs a read of the engine; a panic of it is a damaged file.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(panicked()))
}
