//! The connection loop: accept within bounds, serve HTTP/1.1, drain at the end.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::limits::{HEADER_BYTES_MAX, HEADER_READ_TIMEOUT, HEADERS_MAX};

/// Pause after a failed accept: the usual cause is a lack of file descriptors, which passes.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Failed accepts are told at most this often.
const ACCEPT_TOLD_EVERY: Duration = Duration::from_secs(60);

/// Serves `listener`, at most `connections_max` connections at once, until `stop` resolves, then takes no more connections, lets requests at work finish for at
/// most `patience`, and closes what is left. Every request is handed to `answer`.
pub async fn serve<F, Fut, B>(
    listener: TcpListener,
    answer: F,
    connections_max: usize,
    stop: impl Future<Output = ()>,
    patience: Duration,
) where
    F: Fn(Request<Incoming>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let slots = Arc::new(Semaphore::new(connections_max));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    let mut told: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &slots) => accepted,
        };
        match accepted {
            Ok((stream, slot)) => {
                let answer = answer.clone();
                let service = service_fn(move |request| {
                    let answering = answer(request);
                    async move { Ok::<_, Infallible>(answering.await) }
                });
                let connection = builder().serve_connection(TokioIo::new(stream), service);
                let connection = graceful.watch(connection);
                connections.spawn(async move {
                    // A connection ends with an error when its client breaks off: nothing to do, nothing to say.
                    let _ = connection.await;
                    drop(slot);
                });
            }
            Err(error) => {
                if told.is_none_or(|told| told.elapsed() >= ACCEPT_TOLD_EVERY) {
                    told = Some(Instant::now());
                    tracing::warn!(%error, "connections cannot be accepted; told once a minute while it lasts");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "connections closed before their requests were answered"
        );
        connections.shutdown().await;
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    // Nobody closes the semaphore; were it closed, refusing connections would be the right answer.
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _peer) = listener.accept().await?;
    // Answers are written whole: waiting for more would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, slot))
}

fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .keep_alive(true);
    builder
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
