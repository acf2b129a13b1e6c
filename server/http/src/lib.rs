#![doc = include_str!("../README.md")]

mod app;
pub mod error;
mod ext;
pub mod extract;
mod failure;
mod handlers;
pub mod iceberg;
pub mod limits;
pub mod management;
pub mod nessie;
mod openapi;
mod replay;
pub mod reply;
pub mod router;
mod routes;
mod serve;
mod service;
#[cfg(test)]
mod service_tests;
mod telemetry;
mod to_end;

pub use app::{App, Site};
pub use extract::Req;
pub use failure::Failure;
pub use handlers::{Answer, Handlers};
pub use reply::Reply;
pub use router::Op;
pub use routes::routes;
pub use serve::serve;
pub use service::Service;
pub use telemetry::{SharedRecorder, Telemetry};
