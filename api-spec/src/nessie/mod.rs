//! The Nessie REST API, versions 1 and 2.
//!
//! [`model`] holds the documents of both versions; [`v1`] and [`v2`] declare the endpoints, one file each.

mod fetch;
pub mod model;
mod parameters;
pub mod v1;
pub mod v2;
