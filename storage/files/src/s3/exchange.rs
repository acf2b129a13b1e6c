//! What really went over the wire during one operation: how many attempts, and the last status.
//!
//! `object_store` folds throttling, server errors and lost connections into one generic error and does
//! not say whether it retried. A service between it and the HTTP client notes both, and counts requests.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};

use crate::counts::{Counters, Request};
use crate::error::Error;
use crate::location::Location;

tokio::task_local! {
    /// The exchange of the operation that this task is running.
    static CURRENT: Exchange;
}

/// Attempts made and last status seen, shared between an operation and the service below it.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange(Arc<Seen>);

#[derive(Debug, Default)]
struct Seen {
    attempts: AtomicU32,
    /// 0 while no answer has come.
    status: AtomicU16,
}

/// Runs `operation` so that its requests are noted in `exchange`.
pub(super) async fn scope<T>(exchange: Exchange, operation: impl Future<Output = T>) -> T {
    CURRENT.scope(exchange, operation).await
}

impl Exchange {
    pub(super) fn attempts(&self) -> u32 {
        self.0.attempts.load(Ordering::Relaxed)
    }

    /// Whether the last answer was 409.
    pub(super) fn is_conflict(&self) -> bool {
        self.status() == 409
    }

    fn status(&self) -> u16 {
        self.0.status.load(Ordering::Relaxed)
    }

    fn begin(&self) {
        self.0.attempts.fetch_add(1, Ordering::Relaxed);
        self.0.status.store(0, Ordering::Relaxed);
    }

    fn answered(&self, status: u16) {
        self.0.status.store(status, Ordering::Relaxed);
    }

    /// Sorts a failure by what a caller can do about it.
    pub(super) fn classify(&self, at: &Location, error: object_store::Error) -> Error {
        use object_store::Error as Below;
        let location = at.as_str().to_owned();
        // A conflict is reported as "already exists" below, but says only that somebody else is writing.
        if self.is_conflict() {
            return Error::Throttled { location, source: Box::new(error) };
        }
        match error {
            Below::NotFound { .. } => Error::NotFound { location },
            Below::AlreadyExists { .. } | Below::Precondition { .. } => Error::AlreadyExists { location },
            Below::PermissionDenied { .. } | Below::Unauthenticated { .. } => {
                Error::Denied { location, source: Box::new(error) }
            }
            Below::InvalidPath { .. } => Error::invalid(location, "has a key that the store refuses"),
            _ => match self.status() {
                429 | 503 => Error::Throttled { location, source: Box::new(error) },
                0 | 500.. => Error::Unavailable { location, source: Box::new(error) },
                // The headers were fine, so it was the body that broke off.
                200..=299 => Error::Unavailable { location, source: Box::new(error) },
                _ => Error::Other { location, source: Box::new(error) },
            },
        }
    }
}

/// Makes HTTP clients whose requests are counted and noted.
#[derive(Debug)]
pub(super) struct CountingConnector(Arc<Counters>);

impl CountingConnector {
    pub(super) fn new(counters: Arc<Counters>) -> Self {
        CountingConnector(counters)
    }
}

impl HttpConnector for CountingConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(CountingService { client, counters: Arc::clone(&self.0) }))
    }
}

#[derive(Debug)]
struct CountingService {
    client: HttpClient,
    counters: Arc<Counters>,
}

#[async_trait]
impl HttpService for CountingService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(kind) = Request::of_method(request.method().as_str()) {
            self.counters.add(kind);
        }
        // Outside an operation (a token being fetched) there is nobody to tell.
        let _ = CURRENT.try_with(Exchange::begin);
        let answer = self.client.execute(request).await?;
        let _ = CURRENT.try_with(|exchange| exchange.answered(answer.status().as_u16()));
        Ok(answer)
    }
}
