//! Routes of the ceilings.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::log::GroupLog;
use super::{Kind, answers};

#[derive(Clone)]
struct App {
    log: Option<GroupLog>,
    canned: Arc<Canned>,
}

struct Canned {
    reference: Bytes,
    content: Bytes,
    diff: Bytes,
    table: Bytes,
}

/// Serves on a free loopback port, prints its address, and ends when standard input closes.
pub async fn serve(kind: Kind, log: &Path) -> Result<()> {
    let log = match kind {
        Kind::Null => None,
        Kind::DurableNull => Some(GroupLog::create(log).context("creating the log")?),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    // Without this the ceiling would suffer from delayed acknowledgements that no server under test has.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let serving = axum::serve(listener, router(log)).into_future();
    let (gone, parent) = oneshot::channel();
    std::thread::spawn(move || {
        // However the reading ends, nobody is left to serve for.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = gone.send(());
    });
    tokio::select! {
        outcome = serving => outcome.context("serving"),
        _ = parent => Ok(()),
    }
}

/// All routes; writes are durable when there is a log.
pub fn router(log: Option<GroupLog>) -> Router {
    let canned = Canned {
        reference: answers::reference().into(),
        content: answers::content().into(),
        diff: answers::diff().into(),
        table: answers::iceberg_table().into(),
    };
    let reference = get(|State(app): State<App>| async move { json(app.canned.reference.clone()) });
    Router::new()
        .route(
            "/api/v2/trees",
            post(|State(app): State<App>| async move { json(app.canned.reference.clone()) }),
        )
        .route(
            "/api/v2/trees/{ref}",
            reference.delete(|State(app): State<App>| async move { json(app.canned.reference.clone()) }),
        )
        .route(
            "/api/v2/trees/{ref}/contents/{key}",
            get(|State(app): State<App>| async move { json(app.canned.content.clone()) }),
        )
        .route(
            "/api/v2/trees/{ref}/diff/{to}",
            get(|State(app): State<App>| async move { json(app.canned.diff.clone()) }),
        )
        .route("/api/v2/trees/{ref}/history/commit", post(commit))
        .route("/api/v2/trees/{ref}/history/merge", post(merge))
        .route(
            "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}",
            get(|State(app): State<App>| async move { json(app.canned.table.clone()) }).post(update_table),
        )
        .with_state(App { log, canned: Arc::new(canned) })
}

/// The shape of a Nessie commit; contents stay raw text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitBody<'a> {
    #[serde(borrow)]
    commit_meta: &'a RawValue,
    #[serde(borrow)]
    operations: Vec<OperationBody<'a>>,
}

#[derive(Deserialize)]
struct OperationBody<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    key: KeyBody<'a>,
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct KeyBody<'a> {
    #[serde(borrow)]
    elements: Vec<&'a str>,
}

async fn commit(State(app): State<App>, body: Bytes) -> Response {
    write(&app, body, answers::commit, |body| {
        serde_json::from_slice::<CommitBody<'_>>(body).is_ok_and(|commit| {
            !commit.commit_meta.get().is_empty()
                && commit.operations.iter().all(|operation| {
                    operation.kind == "PUT"
                        && !operation.key.elements.is_empty()
                        && !operation.content.get().is_empty()
                })
        })
    })
    .await
}

async fn merge(State(app): State<App>, body: Bytes) -> Response {
    write(&app, body, answers::merge, |body| serde_json::from_slice::<&RawValue>(body).is_ok()).await
}

async fn update_table(State(app): State<App>, body: Bytes) -> Response {
    let table = app.canned.table.clone();
    write(&app, body, |_| table.clone(), |body| serde_json::from_slice::<&RawValue>(body).is_ok()).await
}

async fn write<A: Into<Bytes>>(
    app: &App,
    body: Bytes,
    answer: impl Fn(&str) -> A,
    parses: impl Fn(&[u8]) -> bool,
) -> Response {
    let Some(log) = &app.log else {
        return json(answer(answers::HASH).into());
    };
    if !parses(&body) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let hash = blake3::hash(&body);
    if log.append(body.to_vec()).await {
        json(answer(hash.to_hex().as_str()).into())
    } else {
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}

fn json(body: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
