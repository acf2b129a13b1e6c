//! The wire contracts of Lochan, used by the server, the CLI and the OpenAPI builder.
//!
//! This crate owns what is written on and read from the wire: text forms ([`syntax`]), the Nessie API v1 and
//! v2 ([`nessie`]), the Iceberg REST catalog ([`iceberg`]), our own API ([`ext`]) and one declaration per [`endpoint`]. It knows no
//! store, no HTTP library and no semantics: whether a reference exists or a commit conflicts is decided elsewhere.
//!
//! A word on names: the wire says `hash` and `elements` where the inside says commit id and content key. The
//! wire's words stop at this crate's border; conversions live beside the handlers and commands that need them.

pub mod endpoint;
pub mod ext;
pub mod iceberg;
pub mod nessie;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod parameter;
pub mod syntax;
