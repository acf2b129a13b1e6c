//! Ids that tie answers and log lines together.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderValue};

use crate::limits::REQUEST_ID_BYTES_MAX;

const HEADER: &str = "x-request-id";

/// The id of one request: what `X-Request-Id` brought, else one made here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestId {
    /// Brought by the client: 1 to [`REQUEST_ID_BYTES_MAX`] visible ASCII characters.
    Given(HeaderValue),
    /// Made here: process and number.
    Made(u32, u64),
}

impl RequestId {
    /// The id as a header value.
    pub fn to_header(&self) -> HeaderValue {
        match self {
            RequestId::Given(value) => value.clone(),
            RequestId::Made(..) => HeaderValue::try_from(self.to_string())
                .expect("hexadecimal digits and a hyphen are a header value"),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Given(value) => f.write_str(value.to_str().unwrap_or_default()),
            RequestId::Made(process, number) => write!(f, "{process:08x}-{number:x}"),
        }
    }
}

/// Makes ids that differ within a process and, most likely, between processes.
pub(crate) struct RequestIds {
    process: u32,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        // The standard library's own random keys; an id is no secret.
        RequestIds { process: RandomState::new().build_hasher().finish() as u32, next: AtomicU64::new(1) }
    }

    pub(crate) fn of(&self, headers: &HeaderMap) -> RequestId {
        match headers.get(HEADER) {
            Some(value)
                if (1..=REQUEST_ID_BYTES_MAX).contains(&value.len())
                    && value.as_bytes().iter().all(u8::is_ascii_graphic) =>
            {
                RequestId::Given(value.clone())
            }
            _ => RequestId::Made(self.process, self.next.fetch_add(1, Ordering::Relaxed)),
        }
    }
}
