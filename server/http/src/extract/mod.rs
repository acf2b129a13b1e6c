//! What a handler is given: the request, read, decoded and bounded.

mod bearer;
mod body;
mod commit_headers;
mod json;
mod lines;
mod media;
mod presence;
mod read_on;
mod request;
mod request_id;
#[cfg(test)]
mod tests;

pub(crate) use bearer::Credential;
pub(crate) use body::{BodyBudget, ReadBody, read_body};
pub use commit_headers::CommitHeaders;
pub use json::from_json;
pub use lines::Lines;
pub(crate) use media::{
    accepts_gzip, accepts_json, check_content_type, check_nessie_body, check_nessie_content_type,
    check_repository_config,
};
pub use presence::Presence;
pub(crate) use presence::PresenceGuard;
pub(crate) use read_on::ReadOn;
pub use request::{ClientSpec, Proxy, Req, decode_segment};
pub use request_id::RequestId;
pub(crate) use request_id::RequestIds;
