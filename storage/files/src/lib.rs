//! Object storage of warehouses.
//!
//! This crate owns the answer to three questions: is this text a location we may touch
//! ([`Location`]), which warehouse does it belong to ([`Warehouses`]), and how are whole small
//! objects read and written there ([`Warehouse`]). It knows folders (`file:`) and S3-compatible
//! endpoints, and nothing about tables, commits or metadata documents: it moves bytes.
//!
//! Everything that reads, writes or hands out a location goes through [`Location::parse`] first and
//! through [`Warehouses::owner_of`] second; [`Warehouse`] refuses a location it does not contain.
//!
//! All S3 traffic runs through `object_store`. Folders do not: they need a file and its directory
//! synced before an answer is given, which that library does not offer.

mod config;
mod counts;
mod error;
mod file;
mod location;
mod s3;
mod warehouse;
mod warehouses;

pub use config::{S3Config, S3Fault, Secret, WarehouseConfig};
pub use counts::IoCounts;
pub use error::Error;
pub use location::{
    DECODE_ROUNDS_MAX, FILE_SEGMENT_BYTES_MAX, LOCATION_BYTES_MAX, Location, S3_KEY_BYTES_MAX,
};
pub use s3::{
    BACKOFF_MS_INITIAL, BACKOFF_MS_MAX, CONFLICT_ROUNDS_MAX, CONNECT_TIMEOUT_MS, REQUEST_TIMEOUT_MS,
    RETRIES_MAX, RETRY_WINDOW_MS, base_url,
};
pub use warehouse::{OBJECT_BYTES_MAX, PROBE_TIMEOUT_MS, Warehouse};
pub use warehouses::{NAME_BYTES_MAX, WAREHOUSES_MAX, Warehouses};
