//! The S3 endpoint of `lochan-server dev`: a bucket on the local disk that real engines can use.
//!
//! The S3 protocol (routing, XML, signatures, chunked bodies) is `s3s`. What is stored, and how, is
//! ours, because conditional writes have to hold: an upload is received aside, whole, and only then,
//! under a lock of its own key, is the condition checked and the object put in place by one rename.
//! So of many creators one wins, a compare-and-set loses nothing, and an upload that stalls delays
//! nobody, not even writers of the same key.
//!
//! It serves the operations that table engines use (listed in `service`) on a loopback address, checks
//! signatures, and keeps everything across a restart. It knows no versions, tags, access rules or
//! notifications, and is for developing against, not for keeping data that matters.
//!
//! Start at [`DevS3`]; the format on disk is drawn in `store`.

mod limits;
mod server;
mod service;
mod store;

pub use limits::{OBJECT_BYTES_MAX, OBJECTS_MAX, UPLOAD_STALL_MS_MAX};
pub use server::{CONNECTIONS_MAX, Credentials, DRAIN_MS_MAX, DevS3, Error, HEADERS_MS_MAX, XML_BYTES_MAX};
pub use service::PAGE_ITEMS_MAX;
pub use store::{PART_BYTES_MIN, PART_NUMBER_MAX};
