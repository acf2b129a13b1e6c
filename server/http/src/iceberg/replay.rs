//! Idempotency keys (Iceberg REST contract, 1.8): the same request under the same key is executed once and answered alike.
//!
//! Final answers are kept in memory for as long as is announced; duplicates that arrive together wait for the first. What
//! committed is found in the log of reference changes too, so a restart makes nobody commit twice.

use std::future::Future;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;
use lochan_api_spec::syntax::duration::IsoDuration;
use lochan_server_catalog::iceberg::RequestKey;
use lochan_server_catalog::{Error, Principal};
use lochan_storage_model::{ObjectId, ObjectKind};
use quick_cache::sync::Cache;
use tokio::sync::OnceCell;

use super::convert::bad;
use crate::app::App;
use crate::error;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::reply::Reply;
use crate::router::Op;

const HEADER: &str = "idempotency-key";
/// How long a key is remembered, in seconds.
const LIFETIME_SECONDS: u64 = 30 * 60;
/// Keys kept at once.
const KEYS_MAX: usize = 4_096;
/// Longest answer kept as it is, in bytes; a longer one is told anew from the state as it is then.
const KEPT_BYTES_MAX: usize = 8 * 1024;

/// How long keys are remembered, as announced.
pub(super) fn lifetime() -> IsoDuration {
    IsoDuration::from_seconds(LIFETIME_SECONDS as i64)
}

/// Answers by key.
pub(super) struct Replays(Cache<[u8; 32], Arc<Slot>>);

struct Slot {
    fingerprint: [u8; 32],
    begun: Instant,
    answer: OnceCell<Kept>,
}

/// What is remembered of an answer.
#[derive(Clone)]
enum Kept {
    /// All of it.
    Reply(Reply),
    /// That it was a success, too long to keep.
    Success,
}

impl Default for Replays {
    fn default() -> Self {
        Replays(Cache::new(KEYS_MAX))
    }
}

/// The idempotency key of a request, scoped by who asks and what for.
pub(super) fn request_key(req: &Req, who: &Principal) -> Result<Option<RequestKey>, Failure> {
    let Some(value) = req.headers().get(HEADER) else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| is_uuid7(text));
    let text = text.ok_or_else(|| bad("Idempotency-Key must be a UUID of version 7, 36 characters long"))?;
    let hash = |parts: &[&[u8]]| {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        *ObjectId::of(ObjectKind::Attachment, &bytes).as_bytes()
    };
    let route = req.op.template().as_bytes();
    let target = req.parts.uri.path_and_query().map_or("", |target| target.as_str());
    Ok(Some(RequestKey {
        key: hash(&[
            who.name.as_bytes(),
            req.op.method().as_bytes(),
            route,
            text.to_ascii_lowercase().as_bytes(),
        ]),
        fingerprint: hash(&[target.as_bytes(), &req.body]),
    }))
}

fn is_uuid7(text: &str) -> bool {
    let bytes = text.as_bytes();
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    bytes.len() == 36
        && bytes.get(14) == Some(&b'7')
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if dash(at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// Runs a handler that writes, once per key.
pub(super) async fn run<F, Fut>(replays: &Replays, app: Arc<App>, req: Req, handler: F) -> Answer
where
    F: Fn(Arc<App>, Arc<Req>) -> Fut,
    Fut: Future<Output = Answer>,
{
    let req = Arc::new(req);
    let who = super::convert::principal(&req);
    let Some(request) = request_key(&req, &who)? else { return handler(app, req).await };
    let slot = replays.slot(&request);
    if slot.fingerprint != request.fingerprint {
        return Err(another_request());
    }
    let (op, spec, id) = (req.op, req.client_spec(), req.id.clone());
    // What this very call answers, if it is the one that runs: final or not, long or short.
    let own = std::sync::Mutex::new(None);
    let kept = slot
        .answer
        .get_or_try_init(|| async {
            let answer = match replayed(&app, &req, &request).await {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => handler(app.clone(), req.clone()).await,
                Err(failure) => Err(failure),
            };
            let reply =
                answer.unwrap_or_else(|failure| error::render(failure, Some(op), op.surface(), spec, &id));
            let kept = match is_final(reply.status) {
                false => Err(()),
                true if reply.body.len() > KEPT_BYTES_MAX && reply.status.is_success() => Ok(Kept::Success),
                true => Ok(Kept::Reply(reply.clone())),
            };
            *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
            kept
        })
        .await
        .cloned();
    let own = own.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (own, kept) {
        (Some(reply), _) | (None, Ok(Kept::Reply(reply))) => Ok(reply),
        (None, Ok(Kept::Success)) => told_again(&app, &req).await,
        // The cell runs what it is given or has an answer.
        (None, Err(())) => Err(Failure::Panicked),
    }
}

impl Replays {
    /// The place of a key's answer, a new one if the old has expired.
    fn slot(&self, request: &RequestKey) -> Arc<Slot> {
        let fresh = || {
            Arc::new(Slot {
                fingerprint: request.fingerprint,
                begun: Instant::now(),
                answer: OnceCell::new(),
            })
        };
        let slot = self.0.get_or_insert_with(&request.key, || Ok::<_, std::convert::Infallible>(fresh()));
        let slot = slot.unwrap_or_else(|never| match never {});
        if slot.begun.elapsed() < Duration::from_secs(LIFETIME_SECONDS) {
            return slot;
        }
        let slot = fresh();
        self.0.insert(request.key, slot.clone());
        slot
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

/// The answer to a request that committed before a restart: told anew from the state as it is now.
async fn replayed(app: &Arc<App>, req: &Req, request: &RequestKey) -> Result<Option<Reply>, Failure> {
    let known = app.catalog.iceberg().request_made(&request.key).await?;
    let Some(known) = known else { return Ok(None) };
    if known.fingerprint != request.fingerprint {
        return Err(another_request());
    }
    told_again(app, req).await.map(Some)
}

/// The answer of a write that was made before.
async fn told_again(app: &App, req: &Req) -> Answer {
    match req.op {
        Op::IcebergCreateNamespace
        | Op::IcebergUpdateProperties
        | Op::IcebergCreateTable
        | Op::IcebergRegisterTable
        | Op::IcebergCommitTable
        | Op::IcebergCreateView
        | Op::IcebergRegisterView
        | Op::IcebergCommitView => super::again::answer(app, req).await,
        _ => Ok(Reply::no_content()),
    }
}
