//! What a handler answers, and how it becomes a response.

mod body;
mod etag;
mod gzip;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use http::header::{
    ALLOW, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

pub use body::{AnswerBody, BrokenOff, Feed, Piece};
pub use etag::none_matches;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// An answer before it is a response.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The body; empty means none, but for an answer that is fed piece by piece.
    pub body: Bytes,
    feed: Option<Feed>,
    content_type: HeaderValue,
    /// Whether the body is compressed already.
    is_packed: bool,
    etag: Option<HeaderValue>,
    retry_after_seconds: Option<u32>,
    refused: Option<(Refused, HeaderValue)>,
}

/// Which header tells more of a refusal. No answer has two of them.
#[derive(Clone, Copy, Debug)]
enum Refused {
    /// `Allow`.
    Method,
    /// `WWW-Authenticate`.
    Stranger,
}

impl Reply {
    fn new(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Self {
        Reply {
            status,
            body,
            feed: None,
            content_type,
            is_packed: false,
            etag: None,
            retry_after_seconds: None,
            refused: None,
        }
    }

    /// 200 with a JSON document.
    pub fn json<T: Serialize>(value: &T) -> Self {
        Reply::document(StatusCode::OK, value)
    }

    /// 200 with the bytes of a JSON document.
    pub fn json_bytes(bytes: impl Into<Bytes>) -> Self {
        Reply::new(StatusCode::OK, JSON, bytes.into())
    }

    /// Any status with a JSON document.
    pub fn document<T: Serialize>(status: StatusCode, value: &T) -> Self {
        let mut body = Vec::with_capacity(512);
        match serde_json::to_writer(&mut body, value) {
            Ok(()) => Reply::new(status, JSON, body.into()),
            Err(error) => {
                // Only a map whose keys are no strings gets here: a mistake in a wire type, found by its first test.
                tracing::error!(%error, "an answer could not be written as JSON");
                Reply::new(StatusCode::INTERNAL_SERVER_ERROR, JSON, Bytes::from_static(b"{}"))
            }
        }
    }

    /// 200 with text of another type.
    pub fn text(content_type: &'static str, text: impl Into<Bytes>) -> Self {
        Reply::new(StatusCode::OK, HeaderValue::from_static(content_type), text.into())
    }

    /// 200 with a body that comes piece by piece. It is never compressed: its pieces go out as they come.
    pub fn fed(content_type: &'static str, feed: Feed) -> Self {
        let mut reply = Reply::text(content_type, Bytes::new());
        reply.feed = Some(feed);
        reply
    }

    /// 200 with a body that is compressed with gzip already; whoever does not take that is sent it unpacked.
    pub fn packed(content_type: &'static str, gzip: Bytes) -> Self {
        Reply { is_packed: true, ..Reply::new(StatusCode::OK, HeaderValue::from_static(content_type), gzip) }
    }

    /// An answer without a body, such as 204 or 304.
    pub fn empty(status: StatusCode) -> Self {
        Reply::new(status, JSON, Bytes::new())
    }

    /// 204.
    pub fn no_content() -> Self {
        Reply::empty(StatusCode::NO_CONTENT)
    }

    /// The same with an entity tag, given with its quotes (and `W/`).
    pub fn with_etag(mut self, etag: HeaderValue) -> Self {
        self.etag = Some(etag);
        self
    }

    /// The same with `Retry-After`.
    pub fn with_retry_after(mut self, seconds: Option<u32>) -> Self {
        self.retry_after_seconds = seconds;
        self
    }

    /// The same with `Allow`.
    pub(crate) fn with_allow(mut self, allow: &str) -> Self {
        self.refused = HeaderValue::try_from(allow).ok().map(|allow| (Refused::Method, allow));
        self
    }

    /// The same with `WWW-Authenticate`.
    pub(crate) fn with_challenge(mut self, challenge: Option<String>) -> Self {
        let challenge = challenge.and_then(|challenge| HeaderValue::try_from(challenge).ok());
        self.refused = challenge.map(|challenge| (Refused::Stranger, challenge));
        self
    }

    /// The response: compressed when the client takes it and the body is worth it.
    pub(crate) async fn into_response(
        self,
        takes_gzip: bool,
        request_id: HeaderValue,
    ) -> Response<AnswerBody> {
        let has_body = !self.body.is_empty() || self.feed.is_some();
        let worth_it = self.is_packed || gzip::is_worth_it(&self.body);
        let (body, is_zipped) = match (self.is_packed, takes_gzip) {
            (true, true) => (self.body, true),
            (true, false) => (gzip::unpack(self.body).await, false),
            (false, true) => match gzip::compress(&self.body).await {
                Some(zipped) => (zipped, true),
                None => (self.body, false),
            },
            (false, false) => (self.body, false),
        };
        let body = match self.feed {
            Some(feed) => AnswerBody::fed(feed),
            None => AnswerBody::whole(body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(REQUEST_ID, request_id);
        if has_body {
            headers.insert(CONTENT_TYPE, self.content_type);
        }
        if is_zipped {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if worth_it {
            headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        }
        if let Some(etag) = self.etag {
            headers.insert(ETAG, etag);
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        match self.refused {
            Some((Refused::Method, allow)) => drop(headers.insert(ALLOW, allow)),
            Some((Refused::Stranger, challenge)) => drop(headers.insert(WWW_AUTHENTICATE, challenge)),
            None => {}
        }
        response
    }
}
