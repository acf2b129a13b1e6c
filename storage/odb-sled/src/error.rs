//! Failures of sled and of the file system, turned into the causes of the port at the border.

use lochan_storage_model::DecodeError;
use lochan_storage_odb::StoreError;

/// A read that sled could not do.
pub(crate) fn read(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Corruption { .. } => {
            StoreError::Corrupt { what: "a page of the engine".into(), detail: error.to_string() }
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
