//! Idempotency keys (Iceberg REST contract, 1.8): the same request under the same key is executed once and answered alike.
//!
//! Final answers are kept in memory for as long as is announced; duplicates that arrive together wait for the first. What
//! committed is found in the log of reference changes too, so a restart makes nobody commit twice.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use lochan_api_spec::syntax::duration::IsoDuration;
use lochan_server_catalog::iceberg::RequestKey;
use lochan_server_catalog::{Error, Principal};
use lochan_storage_model::{ObjectId, ObjectKind};
use quick_cache::{Weighter, sync::Cache};
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
/// Answers kept at once.
const ANSWERS_MAX: usize = 20_000;
/// Bytes of answers kept at once.
const ANSWERS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How long keys are remembered, as announced.
pub(super) fn lifetime() -> IsoDuration {
    IsoDuration::from_seconds(LIFETIME_SECONDS as i64)
}

/// Answers by key.
pub(super) struct Replays(Cache<[u8; 32], Arc<Slot>, BySize>);

struct Slot {
    fingerprint: [u8; 32],
    begun: Instant,
    answer: OnceCell<Reply>,
}

#[derive(Clone)]
struct BySize;

impl Weighter<[u8; 32], Arc<Slot>> for BySize {
    fn weight(&self, _: &[u8; 32], slot: &Arc<Slot>) -> u64 {
        slot.answer.get().map_or(0, |reply| reply.body.len() as u64) + 256
    }
}

impl Default for Replays {
    fn default() -> Self {
        Replays(Cache::with_weighter(ANSWERS_MAX, ANSWERS_BYTES_MAX, BySize))
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
    F: Fn(Arc<App>, Req) -> Fut,
    Fut: Future<Output = Answer>,
{
    let who = super::convert::principal(&req);
    let Some(request) = request_key(&req, &who)? else { return handler(app, req).await };
    let slot = replays.slot(&request);
    if slot.fingerprint != request.fingerprint {
        return Err(another_request());
    }
    let (op, spec, id) = (req.op, req.client_spec(), req.id.clone());
    // A failure is kept like an answer where the contract calls it final; the others only pass through.
    let passing = std::sync::Mutex::new(None);
    let answered = slot
        .answer
        .get_or_try_init(|| async {
            let answer = match replayed(&app, &req, &request).await {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => handler(app, req).await,
                Err(failure) => Err(failure),
            };
            let reply =
                answer.unwrap_or_else(|failure| error::render(failure, Some(op), op.surface(), spec, &id));
            if is_final(reply.status) {
                return Ok(reply);
            }
            *passing.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(reply);
            Err(())
        })
        .await
        .cloned();
    match answered {
        Ok(reply) => {
            // Weighed again, now with its answer.
            replays.0.insert(request.key, slot);
            Ok(reply)
        }
        Err(()) => {
            let reply = passing.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            reply.ok_or(Failure::Panicked)
        }
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
    Ok(Some(match req.op {
        Op::IcebergCreateNamespace
        | Op::IcebergUpdateProperties
        | Op::IcebergCreateTable
        | Op::IcebergRegisterTable
        | Op::IcebergCommitTable
        | Op::IcebergCreateView
        | Op::IcebergRegisterView
        | Op::IcebergCommitView => super::again::answer(app, req).await?,
        _ => Reply::no_content(),
    }))
}
