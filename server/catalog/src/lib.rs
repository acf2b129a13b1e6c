//! The application: every use case of the catalog, and the ports it needs.
//!
//! Each use case authorises, loads, decides, hands to the engine's writer, and answers with domain values. Knows no HTTP
//! and no wire document of Nessie: adapters translate. Start at [`Catalog`]; [`nessie`], [`iceberg`] and
//! [`ext`] hold a file per group of use cases.

pub mod access;
pub mod catalog;
pub mod error;
pub mod ext;
pub mod iceberg;
pub mod nessie;
pub mod point;
pub mod requests;

pub use access::{
    Access, Admission, Api, Authorizer, Check, OpenAuthorizer, Principal, Subject,
    identity::{Authenticator, Identity},
};
pub use catalog::{Catalog, Settings};
pub use error::Error;
pub use point::{Effective, PointKind, RefPoint};
