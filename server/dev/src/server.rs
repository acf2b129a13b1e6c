//! Listening, serving connections, stopping.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use s3s::auth::SimpleAuth;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::limits::Limits;
use crate::service::Service;
use crate::store::Store;

/// Most connections served at once; further ones wait in the listener's queue.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Longest a client may take to send the headers of a request, in milliseconds.
pub const HEADERS_MS_MAX: u64 = 30_000;
/// Longest [`DevS3::shutdown`] waits for requests under way, in milliseconds.
pub const DRAIN_MS_MAX: u64 = 5_000;
/// Largest XML document taken, in bytes: a deletion of 1,000 long keys, a completion of 10,000 parts.
pub const XML_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Pause after a failed accept (out of descriptors, mostly), in milliseconds.
const ACCEPT_PAUSE_MS: u64 = 50;

/// The one key pair that the endpoint knows.
#[derive(Clone)]
pub struct Credentials {
    /// Sent in the clear with every request.
    pub access_key: String,
    /// Signs requests; never sent.
    pub secret_key: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("access_key", &self.access_key).finish_non_exhaustive()
    }
}

/// Why the endpoint did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The listener is reachable from other machines.
    #[error("the development S3 endpoint listens on loopback only, not on {address}")]
    NotLoopback {
        /// Where the listener is bound.
        address: SocketAddr,
    },
    /// Another process serves the folder.
    #[error("{folder} is in use by another process")]
    InUse {
        /// The data folder.
        folder: PathBuf,
    },
    /// The bucket's name breaks the rules of S3.
    #[error("'{bucket}' is no valid bucket name: 3 to 63 lower-case letters, digits, '.' and '-'")]
    BucketName {
        /// The name as given.
        bucket: String,
    },
    /// The data folder cannot be read or written.
    #[error("the development S3 endpoint cannot use {folder}")]
    Folder {
        /// The data folder.
        folder: PathBuf,
        /// What the disk said.
        source: io::Error,
    },
    /// The listener does not know its own address.
    #[error("the listener has no address")]
    Listener {
        /// What the system said.
        source: io::Error,
    },
}

/// A running endpoint. Dropping it stops it without waiting for requests under way.
#[derive(Debug)]
pub struct DevS3 {
    endpoint: String,
    region: String,
    bucket: String,
    stop: watch::Sender<bool>,
    accepting: Option<JoinHandle<()>>,
}

impl DevS3 {
    /// Opens the store in `data_dir` (made if missing), makes `bucket` unless it is there, and serves
    /// both on `listener`, which must be bound to a loopback address.
    ///
    /// Opening reads a few bytes of every object stored. Only requests signed with `credentials` are
    /// answered; addressing is path style. `region` is what clients are told, any is accepted.
    pub async fn start(
        listener: TcpListener,
        data_dir: impl Into<PathBuf>,
        credentials: Credentials,
        region: impl Into<String>,
        bucket: impl Into<String>,
    ) -> Result<DevS3, Error> {
        let limits = Limits::default();
        Self::start_within(limits, listener, data_dir.into(), credentials, region.into(), bucket.into()).await
    }

    async fn start_within(
        limits: Limits,
        listener: TcpListener,
        folder: PathBuf,
        credentials: Credentials,
        region: String,
        bucket: String,
    ) -> Result<DevS3, Error> {
        let address = listener.local_addr().map_err(|source| Error::Listener { source })?;
        if !address.ip().is_loopback() {
            return Err(Error::NotLoopback { address });
        }
        if !s3s::path::check_bucket_name(&bucket) {
            return Err(Error::BucketName { bucket });
        }
        let opened = {
            let (folder, bucket) = (folder.clone(), bucket.clone());
            tokio::task::spawn_blocking(move || {
                let store = Store::open(&folder, limits)?;
                store.ensure_bucket(&bucket)?;
                Ok(store)
            })
            .await
            .unwrap_or_else(|join| Err(io::Error::other(join)))
        };
        let store = opened.map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => Error::InUse { folder },
            _ => Error::Folder { folder, source },
        })?;

        let mut config = S3Config::default();
        config.xml_max_body_size = XML_BYTES_MAX;
        config.post_object_max_file_size = XML_BYTES_MAX as u64;
        let mut builder = S3ServiceBuilder::new(Service::new(Arc::new(store), region.clone()));
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
        builder.set_auth(SimpleAuth::from_single(credentials.access_key, credentials.secret_key));

        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(accept(listener, builder.build(), stopped));
        let endpoint = format!("http://{address}");
        tracing::info!(%endpoint, bucket, "development S3 endpoint listens");
        Ok(DevS3 { endpoint, region, bucket, stop, accepting: Some(accepting) })
    }

    /// The base URL, `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The region that clients are told.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// The bucket that was made at the start.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Stops accepting, lets requests under way end within [`DRAIN_MS_MAX`], and closes the rest.
    /// On return the data folder may be opened again.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        if let Some(accepting) = self.accepting.take()
            && let Err(error) = accepting.await
        {
            tracing::warn!(%error, "development S3 endpoint did not stop cleanly");
        }
    }
}

impl Drop for DevS3 {
    fn drop(&mut self) {
        if let Some(accepting) = &self.accepting {
            accepting.abort();
        }
    }
}

/// Accepts until told to stop, then drains.
async fn accept(listener: TcpListener, service: S3Service, mut stopped: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // Owning the connections means that they end with this task.
    let mut connections = JoinSet::new();
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|&stopped| stopped) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted.and_then(|(stream, _)| stream.set_nodelay(true).map(|()| stream)) {
            Ok(stream) => {
                let connection = graceful.watch(serve(stream, service.clone()));
                connections.spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "development S3 connection ended");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "development S3 endpoint could not accept");
                tokio::time::sleep(Duration::from_millis(ACCEPT_PAUSE_MS)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(Duration::from_millis(DRAIN_MS_MAX), graceful.shutdown()).await.is_err() {
        tracing::warn!("development S3 endpoint closed connections that were still busy");
    }
    connections.shutdown().await;
}

/// One connection. Nagle's algorithm is off (the caller's `set_nodelay`): with it a keep-alive client
/// waits 40 ms for most answers.
fn serve(stream: TcpStream, service: S3Service) -> http1::Connection<TokioIo<TcpStream>, S3Service> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(HEADERS_MS_MAX))
        .serve_connection(TokioIo::new(stream), service)
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod limits_tests;
