//! The request as a handler sees it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use lochan_api_spec::syntax::query::{Pairs, QueryParams};
use lochan_server_catalog::requests::RequestKey;
use lochan_server_catalog::{Admission, Api, Identity, Principal};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use super::{CommitHeaders, Lines, Presence, RequestId, from_json};
use crate::error::Refusal;
use crate::router::{Op, Params, Span, Surface};

/// A routed request with its body in memory, decoded and within its limit.
#[derive(Debug)]
pub struct Req {
    /// The operation.
    pub op: Op,
    /// Method, URI, headers.
    pub parts: Parts,
    /// Places of the path parameters; read them with [`Req::param`].
    pub params: Params,
    /// The decoded body.
    pub body: Bytes,
    /// The body of an operation that takes a stream of lines; [`Req::body`] is empty then.
    pub lines: Option<Lines>,
    /// The id for answers and logs.
    pub id: RequestId,
    /// Who asks; `None` while authentication is off, and where anybody may ask.
    pub identity: Option<Arc<Identity>>,
    /// Whether the client still waits.
    pub presence: Presence,
    /// Until when a mutating operation must have been admitted.
    pub admission_deadline: Instant,
    /// Under which idempotency key, once it is known.
    pub(crate) request: Option<RequestKey>,
    /// The body's share of the memory for bodies.
    pub(crate) _share: Option<OwnedSemaphorePermit>,
}

impl Req {
    /// A path parameter, still percent-encoded; empty when the path does not have it.
    pub fn raw_param(&self, span: Span) -> &str {
        span.of(self.parts.uri.path())
    }

    /// A path parameter, decoded: `%XX` as UTF-8, `+` as a space. Bytes that are no UTF-8 are refused.
    pub fn param(&self, span: Span) -> Result<String, Refusal> {
        decode_segment(self.raw_param(span))
    }

    /// The raw query, empty when there is none.
    pub fn raw_query(&self) -> &str {
        self.parts.uri.query().unwrap_or("")
    }

    /// The query parameters of an endpoint.
    pub fn query<Q: QueryParams>(&self) -> Result<Q, Refusal> {
        Ok(Q::parse(&Pairs::parse(self.raw_query()))?)
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The body as a JSON document, which is an object: a reader of fields would take a list of their values too.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        if self.body.trim_ascii_start().starts_with(b"[") {
            return Err(Refusal::Malformed(
                "The request body must be a JSON object, but it is a list.".to_owned(),
            ));
        }
        from_json(&self.body)
    }

    /// The body as a JSON document, an empty one as `null`.
    pub fn json_or_null<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        if self.body.iter().all(u8::is_ascii_whitespace) { from_json(b"null") } else { self.json() }
    }

    /// Who asks, nobody in particular while authentication is off, and whether they still wait: the connection is
    /// there, and the time until admission is not over.
    pub fn principal(&self) -> Principal {
        let (presence, deadline) = (self.presence.clone(), self.admission_deadline);
        let admission = Admission::new(move || !presence.is_gone() && Instant::now() < deadline);
        let api = match self.op.surface() {
            Surface::NessieV1 => Api::NessieV1,
            Surface::NessieV2 => Api::NessieV2,
            Surface::Iceberg => Api::Iceberg,
            Surface::Ext => Api::Lochan,
        };
        match self.identity.as_deref() {
            None => Principal { admission, api, request: self.request, ..Principal::default() },
            Some(Identity { name, roles }) => {
                Principal { name: name.clone(), roles: roles.clone(), api, admission, request: self.request }
            }
        }
    }

    /// The `Nessie-Commit-*` headers.
    pub fn commit_headers(&self) -> CommitHeaders {
        CommitHeaders::of(&self.parts.headers)
    }

    /// What `Nessie-Client-Spec` says.
    pub fn client_spec(&self) -> ClientSpec {
        ClientSpec::of(&self.parts.headers)
    }

    /// The root URL under which the client reaches this server, without a slash at the end: `Host`, else `fallback`.
    /// Behind a trusted proxy `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix` (the first value of each) come first.
    pub fn base_url(&self, proxy: Proxy, fallback: &str) -> String {
        let headers = &self.parts.headers;
        let forwarded = |name: &str, marks: &[u8]| match proxy {
            Proxy::Unknown => None,
            Proxy::Trusted => header_text(headers, name, marks),
        };
        let host =
            forwarded("x-forwarded-host", HOST_MARKS).or_else(|| header_text(headers, "host", HOST_MARKS));
        let Some(host) = host else {
            return fallback.trim_end_matches('/').to_owned();
        };
        let scheme = match forwarded("x-forwarded-proto", HOST_MARKS) {
            Some("https") => "https",
            _ => "http",
        };
        let host = match forwarded("x-forwarded-port", HOST_MARKS) {
            Some(port) if port.parse::<u16>().is_ok() => {
                let bare = host.rsplit_once(':').filter(|(_, old)| old.parse::<u16>().is_ok());
                Cow::Owned(format!("{}:{port}", bare.map_or(host, |(bare, _)| bare)))
            }
            _ => Cow::Borrowed(host),
        };
        let prefix = forwarded("x-forwarded-prefix", PREFIX_MARKS).unwrap_or("").trim_matches('/');
        let slash = if prefix.is_empty() { "" } else { "/" };
        format!("{scheme}://{host}{slash}{prefix}")
    }
}

/// Whether headers of a proxy are believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// Nobody vouches for them, and anybody can send them.
    #[default]
    Unknown,
    /// An operator says that a proxy stands before every client and sets them.
    Trusted,
}

/// What a host holds besides letters and digits.
const HOST_MARKS: &[u8] = b".:-_[]";
/// What a path holds besides letters and digits.
const PREFIX_MARKS: &[u8] = b".:-_/~%";

/// First element of a header, if it holds nothing but letters, digits and `marks`, and is thus safe in a URL.
fn header_text<'h>(headers: &'h HeaderMap, name: &str, marks: &[u8]) -> Option<&'h str> {
    let value = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok())?;
    let first = value.split(',').next().unwrap_or("").trim();
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
    (!first.is_empty() && first.bytes().all(safe)).then_some(first)
}

/// Decodes one path parameter: `%XX` as UTF-8, `+` as a space.
pub fn decode_segment(raw: &str) -> Result<String, Refusal> {
    let spaced: Cow<'_, str> = if raw.contains('+') { raw.replace('+', " ").into() } else { raw.into() };
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Refusal::Malformed(format!("The path holds '{raw}', which is no UTF-8 once decoded."))),
    }
}

/// The version of the Nessie contract that a client announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientSpec(u32);

impl ClientSpec {
    /// Reads `Nessie-Client-Spec`: the number before the first dot, 0 when there is none.
    pub fn of(headers: &HeaderMap) -> Self {
        let text = headers.get("nessie-client-spec").and_then(|value| value.to_str().ok()).unwrap_or("");
        ClientSpec(text.split('.').next().unwrap_or("").trim().parse().unwrap_or(0))
    }

    /// Whether error bodies may hold `errorDetails` (Nessie contract, section 13.2).
    pub fn takes_error_details(self) -> bool {
        self.0 >= 2
    }
}
