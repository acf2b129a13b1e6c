//! One request from head to answer: route, check, read, run, answer, count.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::FutureExt;
use http::header::EXPECT;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Body;
use lochan_api_spec::endpoint::Auth;
use lochan_server_catalog::Authenticator;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument;

use crate::error::{self, Refusal};
use crate::extract::{
    BodyBudget, ClientSpec, Credential, Lines, PresenceGuard, ReadBody, ReadOn, Req, RequestId, RequestIds,
    accepts_gzip, accepts_json, check_content_type, check_nessie_body, check_nessie_content_type,
    check_repository_config, read_body,
};
use crate::failure::Failure;
use crate::handlers::{Answer, Handlers};
use crate::limits::{
    ADMISSION_TIMEOUT, ICEBERG_BODY_BYTES_MAX, NESSIE_BODY_BYTES_MAX, READ_TIMEOUT, REQUESTS_MAX,
    RETRY_AFTER_SECONDS, TARGET_BYTES_MAX,
};
use crate::openapi;
use crate::reply::{AnswerBody, Reply};
use crate::router::{self, Effect, Op, Routed, Surface};
use crate::telemetry::{InFlight, Telemetry};
use crate::to_end::ToEnd;

/// The public surfaces over the application `A`.
pub struct Service<A> {
    app: Arc<A>,
    handlers: Handlers<A>,
    telemetry: Arc<Telemetry>,
    /// Who tells who asks; nobody while authentication is off.
    authenticator: Option<Arc<dyn Authenticator>>,
    ids: RequestIds,
    pub(crate) at_work: Arc<Semaphore>,
    bodies: BodyBudget,
}

impl<A: Send + Sync + 'static> Service<A> {
    /// A service that calls `handlers` with `app`, for anybody.
    pub fn new(app: Arc<A>, handlers: Handlers<A>, telemetry: Arc<Telemetry>) -> Arc<Self> {
        Self::guarded(app, handlers, telemetry, None)
    }

    /// The same for those whom the authenticator knows; operations declared for anyone stay so.
    pub fn guarded(
        app: Arc<A>,
        handlers: Handlers<A>,
        telemetry: Arc<Telemetry>,
        authenticator: Option<Arc<dyn Authenticator>>,
    ) -> Arc<Self> {
        Arc::new(Service {
            app,
            handlers,
            telemetry,
            authenticator,
            ids: RequestIds::new(),
            at_work: Arc::new(Semaphore::new(REQUESTS_MAX as usize)),
            bodies: BodyBudget::new(),
        })
    }

    /// Answers one request. Dropping the future ends a read; a mutating request that runs goes on in its own task.
    pub async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<AnswerBody>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
    {
        let (mut parts, body) = request.into_parts();
        let credential = Credential::take(&mut parts.headers);
        let id = self.ids.of(&parts.headers);
        let body = ReadOn::new(body, parts.headers.contains_key(EXPECT));
        let takes_gzip = accepts_gzip(&parts.headers);
        let routed = router::route(&parts.method, parts.uri.path());
        let face = Face::of(&routed, &parts);
        let mut record = Record { telemetry: &self.telemetry, face, started: Instant::now(), status: None };
        let reply = match self.run(routed, parts, credential, body, &id).await {
            Ok(reply) => reply,
            Err(failure) => face.render(failure, &id),
        };
        record.status = Some(reply.status);
        tracing::debug!(
            request.id = %id,
            endpoint = face.op.map_or("none", Op::name),
            status = reply.status.as_u16(),
            elapsed_us = record.started.elapsed().as_micros() as u64,
            "request answered"
        );
        reply.into_response(takes_gzip, id.to_header()).await
    }

    async fn run<B>(
        self: &Arc<Self>,
        routed: Routed,
        parts: Parts,
        credential: Credential,
        body: B,
        id: &RequestId,
    ) -> Answer
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
    {
        let target_bytes = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
        if target_bytes > TARGET_BYTES_MAX {
            return Err(Refusal::TargetTooLong { limit_bytes: TARGET_BYTES_MAX }.into());
        }
        if routed.surface().is_nessie() && router::is_illegal(parts.uri.path()) {
            return Err(Refusal::IllegalPath.into());
        }
        let (op, params) = match routed {
            Routed::Op(op, params) => (op, params),
            Routed::Options(_, ops) => {
                return Ok(Reply::empty(StatusCode::OK).with_allow(&router::allow(ops)));
            }
            Routed::WrongMethod(_, ops) => {
                return Err(Refusal::WrongMethod { allow: router::allow(ops) }.into());
            }
            Routed::Page(page) => return Ok(openapi::answer(page).await),
            Routed::PageOptions => return Ok(Reply::empty(StatusCode::OK).with_allow(openapi::ALLOW)),
            Routed::WrongPageMethod => {
                return Err(Refusal::WrongMethod { allow: openapi::ALLOW.to_owned() }.into());
            }
            Routed::Unknown(_) => return Err(Refusal::UnknownPath.into()),
            Routed::Misplaced(_) => return Err(Refusal::MisplacedPath.into()),
        };
        check_media(op, &parts)?;
        let at_work = Arc::clone(&self.at_work).try_acquire_owned();
        let at_work = at_work.map_err(|_| Refusal::Busy { retry_after_seconds: RETRY_AFTER_SECONDS })?;
        let held = Held { _at_work: at_work, _in_flight: self.telemetry.enter() };
        // Before anything that strangers send is looked at; read on and thrown away it is.
        let identity = match &self.authenticator {
            Some(authenticator) if op.auth() == Auth::Bearer => {
                Some(credential.identify(authenticator.as_ref()).await?)
            }
            _ => None,
        };
        let mut lines = None;
        let body = match parts.method {
            _ if op.takes_lines() => {
                lines = Some(Lines::of(&parts.headers, body)?);
                ReadBody::default()
            }
            Method::POST | Method::PUT => {
                read_body(&parts.headers, body, body_bytes_max(op), &self.bodies).await?
            }
            _ => ReadBody::default(),
        };
        let (guard, presence) = PresenceGuard::new();
        let req = Req {
            op,
            parts,
            params,
            body: body.bytes,
            lines,
            id: id.clone(),
            identity,
            presence,
            admission_deadline: Instant::now() + ADMISSION_TIMEOUT,
            request: None,
            _share: body.share,
        };
        let answer = match op.effect() {
            Effect::Reads => {
                let answer = self.read(req).await;
                drop(held);
                answer
            }
            Effect::Writes => self.write(req, held).await,
        };
        guard.answered();
        answer
    }

    /// Runs a read in the connection's own task: it ends with its connection, or in time.
    async fn read(&self, req: Req) -> Answer {
        match tokio::time::timeout(READ_TIMEOUT, self.call(req)).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(Refusal::ReadTimeout.into()),
        }
    }

    /// Runs a mutating request to its end, whatever becomes of its connection. What became of it is logged and counted
    /// there, as its client may be gone.
    async fn write(self: &Arc<Self>, req: Req, held: Held) -> Answer {
        let (op, id) = (req.op, req.id.clone());
        let face = Face { op: Some(op), surface: op.surface(), spec: req.client_spec() };
        let span = tracing::info_span!("write", request.id = %id, endpoint = op.name());
        let service = Arc::clone(self);
        let task = async move {
            let reply = service.call(req).await.unwrap_or_else(|failure| face.render(failure, &id));
            service.telemetry.written(op, reply.status);
            drop(held);
            reply
        };
        // Handlers' panics are caught where they are called, so one that comes here is of this layer.
        let task = AssertUnwindSafe(task.instrument(span)).catch_unwind();
        ToEnd::new(task).await.map_err(|_| Failure::Panicked)
    }

    async fn call(&self, req: Req) -> Answer {
        let Some(call) = self.handlers.call(Arc::clone(&self.app), req) else {
            return Err(Refusal::NotOffered.into());
        };
        AssertUnwindSafe(call).catch_unwind().await.unwrap_or(Err(Failure::Panicked))
    }

    /// Waits until nothing is at work any more, at most `patience`. Answers how many requests were left.
    pub async fn drained(&self, patience: Duration) -> u32 {
        match tokio::time::timeout(patience, self.at_work.acquire_many(REQUESTS_MAX)).await {
            Ok(_) => 0,
            Err(_) => REQUESTS_MAX.saturating_sub(self.at_work.available_permits() as u32),
        }
    }
}

/// What a request holds while it is at work.
struct Held {
    _at_work: OwnedSemaphorePermit,
    _in_flight: InFlight,
}

/// How to answer: the surface, and what the client understands.
#[derive(Clone, Copy)]
struct Face {
    op: Option<Op>,
    surface: Surface,
    spec: ClientSpec,
}

impl Face {
    fn of(routed: &Routed, parts: &Parts) -> Self {
        let op = if let Routed::Op(op, _) = routed { Some(*op) } else { None };
        Face { op, surface: routed.surface(), spec: ClientSpec::of(&parts.headers) }
    }

    fn render(self, failure: Failure, id: &RequestId) -> Reply {
        error::render(failure, self.op, self.surface, self.spec, id)
    }
}

/// Records the end of a request, also when its future is dropped because the client has left.
struct Record<'s> {
    telemetry: &'s Telemetry,
    face: Face,
    started: Instant,
    status: Option<StatusCode>,
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.telemetry.answered(self.face.op, self.face.surface, self.status, self.started.elapsed());
    }
}

/// Refuses what the surface does not speak. Iceberg clients may send any `Accept`.
fn check_media(op: Op, parts: &Parts) -> Result<(), Refusal> {
    let has_body = matches!(parts.method, Method::POST | Method::PUT);
    if op.surface().is_nessie() {
        return check_nessie_media(op, &parts.headers, has_body);
    }
    // The token request is a form by its contract; the lines of a stream are looked at one by one.
    if has_body && !op.is_token() && !op.takes_lines() {
        check_content_type(&parts.headers)?;
    }
    Ok(())
}

/// What the reference server checks of types, in its order: of the calls for the configuration only what has a body; and two
/// of version 1 answer nothing, so that it is all the same what the client takes.
fn check_nessie_media(op: Op, headers: &HeaderMap, has_body: bool) -> Result<(), Refusal> {
    let is_config = matches!(
        op,
        Op::V1GetConfig | Op::V2GetConfig | Op::V2GetRepositoryConfig | Op::V2UpdateRepositoryConfig
    );
    let is_mute = matches!(op, Op::V1AssignReference | Op::V1DeleteReference);
    if !is_config {
        check_nessie_content_type(headers)?;
    }
    if !is_mute && !accepts_json(headers) {
        return Err(Refusal::NotAcceptable);
    }
    match op {
        Op::V2UpdateRepositoryConfig => check_repository_config(headers),
        _ if has_body => check_nessie_body(headers),
        _ => Ok(()),
    }
}

fn body_bytes_max(op: Op) -> usize {
    match op.surface() {
        Surface::Iceberg => ICEBERG_BODY_BYTES_MAX,
        Surface::NessieV1 | Surface::NessieV2 | Surface::Ext => NESSIE_BODY_BYTES_MAX,
    }
}
