//! Calls to the server: thin over the endpoints that `api-spec` declares, errors as values.

mod auth;
mod contents;
mod error;
mod pages;
mod resolve;
mod stream;

use std::cell::RefCell;
use std::convert::Infallible;
use std::time::Duration;

use lochan_api_spec::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use lochan_api_spec::ext::model::ErrorCode as ExtCode;
use lochan_api_spec::nessie::model::ErrorCode as NessieCode;
use lochan_api_spec::syntax::query::QueryParams;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
};
use reqwest::{Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::{Code, Error, Refusal};
pub use resolve::{HASH_DIGITS, Resolved};

use crate::settings::{Credentials, Settings};

/// How long a connection may take to open, in seconds. A server that is there answers at once.
const CONNECT_TIMEOUT_S: u64 = 5;

/// The largest answer taken, in bytes: far above any page, far below what would exhaust a machine.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Bodies from this size on may be refused for it, in bytes.
const LARGE_BODY_BYTES: usize = 4 << 20;

/// How long they wait for that.
const LARGE_BODY_PAUSE: Duration = Duration::from_millis(200);

/// A server of the Nessie API v2.
pub struct Client {
    http: reqwest::Client,
    root: String,
    bearer: auth::Bearer,
    /// The change that is on its way.
    changing: RefCell<Option<String>>,
}

impl Client {
    /// A client of the server in the settings. Connects to nothing yet.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let cannot = |reason: String| Error::Setup { endpoint: settings.endpoint.clone(), reason };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        // Asks for error details: they carry the conflicts.
        headers.insert("Nessie-Client-Spec", HeaderValue::from_static("2"));
        let url = Url::parse(&settings.endpoint).map_err(|error| cannot(error.to_string()))?;
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .user_agent(concat!("lochan/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_S))
            .timeout(Duration::from_secs(settings.timeout_s))
            .redirect(reqwest::redirect::Policy::none());
        let fetches = match &settings.credentials {
            Credentials::Client(client) => client.token_endpoint.as_str(),
            _ => "",
        };
        if url.scheme() == "http" && !fetches.starts_with("https") {
            // No certificate is ever checked, so the roots need not be read at every start.
            builder = builder.tls_built_in_root_certs(false);
        }
        if url.host_str().is_some_and(is_loopback) {
            builder = builder.no_proxy();
        }
        let bearer = auth::Bearer::new(&settings.credentials).map_err(cannot)?;
        let http = builder.build().map_err(|error| cannot(error::chain(&error)))?;
        Ok(Self { http, root: settings.endpoint.clone(), bearer, changing: RefCell::default() })
    }

    /// Calls an endpoint that takes no body.
    pub async fn ask<E>(&self, path: String, query: &E::Query) -> Result<E::Response, Error>
    where
        E: Endpoint<Request = ()>,
        E::Response: DeserializeOwned,
    {
        self.call::<E>(path, query, None, E::INFO.mutates).await
    }

    /// Calls an endpoint with a body.
    pub async fn send<E>(
        &self,
        path: String,
        query: &E::Query,
        body: &E::Request,
    ) -> Result<E::Response, Error>
    where
        E: Endpoint,
        E::Request: Serialize,
        E::Response: DeserializeOwned,
    {
        self.call::<E>(path, query, Some(body), E::INFO.mutates).await
    }

    /// The same, for a change that may only be tried: then nothing was changed, whatever becomes of the call.
    pub async fn send_or_try<E>(
        &self,
        dry_run: bool,
        path: String,
        query: &E::Query,
        body: &E::Request,
    ) -> Result<E::Response, Error>
    where
        E: Endpoint,
        E::Request: Serialize,
        E::Response: DeserializeOwned,
    {
        self.call::<E>(path, query, Some(body), E::INFO.mutates && !dry_run).await
    }

    async fn call<E>(
        &self,
        path: String,
        query: &E::Query,
        body: Option<&E::Request>,
        mutates: bool,
    ) -> Result<E::Response, Error>
    where
        E: Endpoint,
        E::Request: Serialize,
        E::Response: DeserializeOwned,
    {
        let call = Call { mutates, ..Call::new(&self.root, &E::INFO, &path) };
        let mut request = self.request(&E::INFO, &path, &query.to_query()).await?;
        if let Some(body) = body {
            let bytes = serde_json::to_vec(body).map_err(|error| call.unsendable(&error))?;
            request = with_json(request, bytes);
        }
        let bytes = self.exchange(&call, request).await?;
        serde_json::from_slice(&bytes).map_err(|error| call.unreadable(error.to_string()))
    }

    /// Sends a request and reads its answer. Whoever does not wait for it asks [`Client::given_up`] what that means.
    async fn exchange(&self, call: &Call<'_>, request: reqwest::RequestBuilder) -> Result<Vec<u8>, Error> {
        self.changing.replace(call.mutates.then(|| call.request.clone()));
        let answer = match request.send().await {
            Ok(response) => call.accept(response).await,
            Err(error) => Err(call.failed(&error)),
        };
        self.changing.take();
        answer
    }

    /// The error of a call that somebody did not wait for, if it was to change something.
    pub fn given_up(&self) -> Option<Error> {
        let reason = "given up before the server had answered".to_owned();
        self.changing.take().map(|request| Error::Unknown { request, reason })
    }

    async fn request(
        &self,
        info: &EndpointInfo,
        path: &str,
        query: &str,
    ) -> Result<reqwest::RequestBuilder, Error> {
        let method = match info.method {
            Method::Get => reqwest::Method::GET,
            Method::Head => reqwest::Method::HEAD,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Delete => reqwest::Method::DELETE,
        };
        let request = self.http.request(method, format!("{}{path}{query}", self.root));
        Ok(match self.bearer.value(&self.http).await? {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        })
    }
}

/// A request with a body. A large one waits a moment behind its head, where a server may refuse it: one that then closes the
/// connection breaks the sending, and its answer would be lost.
fn with_json(request: reqwest::RequestBuilder, bytes: Vec<u8>) -> reqwest::RequestBuilder {
    let request = request.header(CONTENT_TYPE, "application/json");
    if bytes.len() < LARGE_BODY_BYTES {
        return request.body(bytes);
    }
    let length = bytes.len();
    let later = futures::stream::once(async move {
        tokio::time::sleep(LARGE_BODY_PAUSE).await;
        Ok::<_, Infallible>(bytes)
    });
    request.header(CONTENT_LENGTH, length).body(reqwest::Body::wrap_stream(later))
}

fn seconds_to_wait(response: &Response) -> Option<u64> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// One call, as errors tell it.
struct Call<'a> {
    root: &'a str,
    request: String,
    mutates: bool,
    ours: bool,
}

impl<'a> Call<'a> {
    fn new(root: &'a str, info: &EndpointInfo, path: &str) -> Self {
        let ours = info.surface == Surface::Ext;
        Self { root, request: format!("{} {path}", info.method), mutates: info.mutates, ours }
    }

    /// The body of a success; anything else is an error.
    async fn accept(&self, response: Response) -> Result<Vec<u8>, Error> {
        let status = response.status();
        let retry_after_s = seconds_to_wait(&response);
        let bytes = self.read(response).await?;
        if status.is_success() {
            return Ok(bytes);
        }
        Err(self.refused(status.as_u16(), error::Body::parse(&bytes), retry_after_s))
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(self.unreadable(format!("it is longer than {ANSWER_BYTES_MAX} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn failed(&self, error: &reqwest::Error) -> Error {
        let reason = error::chain(error);
        let endpoint = self.root.to_owned();
        if error.is_builder() {
            Error::Setup { endpoint, reason }
        } else if error.is_connect() {
            Error::Unreachable { endpoint, reason }
        } else if self.mutates {
            // The request may have arrived before the connection broke or the time was up.
            Error::Unknown { request: self.request.clone(), reason }
        } else {
            Error::Broken { request: self.request.clone(), reason }
        }
    }

    fn unsendable(&self, error: &serde_json::Error) -> Error {
        Error::Setup { endpoint: self.root.to_owned(), reason: error.to_string() }
    }

    fn unreadable(&self, reason: String) -> Error {
        let reason = format!("the answer cannot be read: {reason}");
        if self.mutates {
            Error::Unknown { request: self.request.clone(), reason }
        } else {
            Error::NotTheApi { endpoint: self.root.to_owned(), request: self.request.clone(), reason }
        }
    }

    fn refused(&self, status: u16, body: Option<error::Body>, retry_after_s: Option<u64>) -> Error {
        let code = body.as_ref().map(|body| body.code);
        let of_ours = matches!(code, Some(Code::Ext(code)) if code != ExtCode::NotFound);
        if self.ours && !of_ours && matches!(status, 300..400 | 404 | 405 | 501) {
            return Error::NotLochan { endpoint: self.root.to_owned(), request: self.request.clone() };
        }
        // A server says 429 and 503 (and 507, no space) before it takes a change on; any other 5xx leaves open how
        // far the change got.
        if self.mutates && status >= 500 && !matches!(status, 501 | 503 | 507) {
            let reason = match &body {
                Some(body) if !body.message.is_empty() => format!("{status}: {}", body.message),
                _ => format!("the server answered with {status}"),
            };
            return Error::Unknown { request: self.request.clone(), reason };
        }
        // What is missing has a code of its own; without one, it is the path that is not there.
        let of_the_api = code.is_some_and(|code| {
            ![Code::Nessie(NessieCode::Unknown), Code::Ext(ExtCode::NotFound)].contains(&code)
        });
        if !of_the_api && matches!(status, 300..400 | 404 | 405) {
            let reason = match body {
                Some(body) if !body.message.is_empty() => body.message,
                _ => format!("it answered with {status} and no error of that API"),
            };
            return Error::NotTheApi {
                endpoint: self.root.to_owned(),
                request: self.request.clone(),
                reason,
            };
        }
        let (message, details, references) =
            body.map(|body| (body.message, body.details, body.references)).unwrap_or_default();
        Error::Refused(Box::new(Refusal {
            status,
            code,
            message,
            details,
            references,
            request: self.request.clone(),
            retry_after_s,
        }))
    }
}
