#![doc = include_str!("../README.md")]

pub mod error;
pub mod extract;
mod failure;
mod handlers;
pub mod limits;
pub mod management;
pub mod reply;
pub mod router;
mod serve;
mod service;
#[cfg(test)]
mod service_tests;
mod telemetry;

pub use extract::Req;
pub use failure::Failure;
pub use handlers::{Answer, Handlers};
pub use reply::Reply;
pub use router::Op;
pub use serve::serve;
pub use service::Service;
pub use telemetry::{SharedRecorder, Telemetry};
