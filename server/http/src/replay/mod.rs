//! Idempotency keys (Iceberg REST contract, 1.8; ours on the Nessie API too): the same request under the same key is
//! executed once and answered alike.
//!
//! Final answers are kept in memory for as long as is announced; duplicates that arrive together wait for the first. What
//! changed a reference is found in the log of reference changes too, so a restart makes nobody write twice; the answer is
//! then told anew by the surface ([`Retell`]).

mod kept;
mod key;

use std::future::Future;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;
use http::StatusCode;
use lochan_api_spec::syntax::duration::IsoDuration;
use lochan_server_catalog::Error;
use lochan_server_catalog::requests::{RequestKey, Written};

use self::kept::{Kept, LIFETIME_SECONDS, Replays};
use crate::app::App;
use crate::error;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::{Answer, Handlers};
use crate::reply::Reply;
use crate::router::Op;

/// How long keys are remembered, as announced.
pub(crate) fn lifetime() -> IsoDuration {
    IsoDuration::from_seconds(LIFETIME_SECONDS as i64)
}

/// How a surface answers anew what was written before under the same key.
pub(crate) type Retell = for<'a> fn(&'a App, &'a Req, &'a Written) -> BoxFuture<'a, Answer>;

/// Handlers that write, each behind the memory of idempotency keys.
pub(crate) struct Writes {
    /// The table they are put into.
    pub(crate) handlers: Handlers<App>,
    replays: Arc<Replays>,
    retell: Retell,
}

impl Writes {
    /// No handler yet, beside those of `handlers`.
    pub(crate) fn new(handlers: Handlers<App>, retell: Retell) -> Self {
        Writes { handlers, replays: Arc::default(), retell }
    }

    /// The same with a handler for `op`.
    pub(crate) fn on<F, Fut>(mut self, op: Op, handler: F) -> Self
    where
        F: Fn(Arc<App>, Arc<Req>) -> Fut + Send + Sync + Clone + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        let (replays, retell) = (self.replays.clone(), self.retell);
        self.handlers = self.handlers.on(op, move |app, req| {
            let (replays, handler) = (replays.clone(), handler.clone());
            async move { run(&replays, retell, app, req, handler).await }
        });
        self
    }
}

/// Runs a handler that writes, once per key.
async fn run<F, Fut>(replays: &Replays, retell: Retell, app: Arc<App>, mut req: Req, handler: F) -> Answer
where
    F: Fn(Arc<App>, Arc<Req>) -> Fut,
    Fut: Future<Output = Answer>,
{
    req.request = key::of(&req)?;
    let (request, req) = (req.request, Arc::new(req));
    let Some(request) = request else { return handler(app, req).await };
    let slot = replays.slot(&request, Instant::now());
    if slot.fingerprint != request.fingerprint {
        return Err(another_request());
    }
    let (op, spec, id) = (req.op, req.client_spec(), req.id.clone());
    // What this very call answers, if it is the one that runs: final or not, long or short.
    let own = std::sync::Mutex::new(None);
    let kept = slot
        .answer
        .get_or_try_init(|| async {
            let answer = match told_again(&app, &req, &request, retell).await {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => handler(app.clone(), req.clone()).await,
                Err(failure) => Err(failure),
            };
            let reply =
                answer.unwrap_or_else(|failure| error::render(failure, Some(op), op.surface(), spec, &id));
            let kept = match is_final(reply.status) {
                false => Err(()),
                true => Ok(replays.keep(&reply)),
            };
            *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
            kept
        })
        .await
        .cloned();
    let own = own.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (own, kept) {
        (Some(reply), _) | (None, Ok(Kept::Reply(reply))) => Ok(reply),
        (None, Ok(Kept::Success)) => match told_again(&app, &req, &request, retell).await? {
            Some(reply) => Ok(reply),
            // It changed no reference, so doing it once more does no harm.
            None => handler(app, req).await,
        },
        // The cell runs what it is given or has an answer.
        (None, Err(())) => Err(Failure::Panicked),
    }
}

fn another_request() -> Failure {
    Error::Unprocessable("the Idempotency-Key was used for another request".into()).into()
}

/// Whether an answer is the last word on a request: successes, and refusals that depend on nothing but its contents.
fn is_final(status: StatusCode) -> bool {
    status.is_success()
        || (status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 408 | 419 | 429))
}

/// The answer to a request that has changed a reference before; `None` if it has not.
async fn told_again(
    app: &App,
    req: &Req,
    request: &RequestKey,
    retell: Retell,
) -> Result<Option<Reply>, Failure> {
    let Some(written) = app.catalog.request_made(&req.principal(), &request.key).await? else {
        return Ok(None);
    };
    if written.request.fingerprint != request.fingerprint {
        return Err(another_request());
    }
    retell(app, req, &written).await.map(Some)
}
