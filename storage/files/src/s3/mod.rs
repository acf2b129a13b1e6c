//! A warehouse in a bucket of an S3-compatible store, through `object_store`.

mod endpoint;
mod exchange;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
};

use crate::config::S3Config;
use crate::counts::Counters;
use crate::error::Error;
use crate::file::{Mode, too_large};
use crate::location::Location;
use crate::warehouse::OBJECT_BYTES_MAX;
pub use endpoint::base_url;
pub(crate) use endpoint::{check_word, is_ip};
use exchange::{CountingConnector, Exchange};

/// Longest a connection takes to be made, in milliseconds.
pub const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// Longest one attempt takes, body included, in milliseconds.
pub const REQUEST_TIMEOUT_MS: u64 = 30_000;
/// How often a request is repeated after a 5xx, a 429 or a broken connection.
pub const RETRIES_MAX: usize = 5;
/// No retry begins later than this after the first attempt, in milliseconds.
pub const RETRY_WINDOW_MS: u64 = 60_000;
/// First pause between attempts, in milliseconds; later ones grow, with jitter.
pub const BACKOFF_MS_INITIAL: u64 = 100;
/// Longest pause between attempts, in milliseconds.
pub const BACKOFF_MS_MAX: u64 = 5_000;
/// How often a conditional PUT is repeated after 409, which AWS answers when another conditional
/// request for the same key is under way and either may win.
pub const CONFLICT_ROUNDS_MAX: u32 = 3;

/// How long an object store is waited for, and how often it is asked; what is documented by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    request_timeout: Duration,
    retries_max: usize,
    retry_window: Duration,
    backoff_initial: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            request_timeout: Duration::from_millis(REQUEST_TIMEOUT_MS),
            retries_max: RETRIES_MAX,
            retry_window: Duration::from_millis(RETRY_WINDOW_MS),
            backoff_initial: Duration::from_millis(BACKOFF_MS_INITIAL),
        }
    }
}

/// Client of one bucket.
#[derive(Debug)]
pub(crate) struct S3Store {
    client: AmazonS3,
}

impl S3Store {
    /// Builds the client of the bucket of `root`. Connects to nothing.
    pub(crate) fn open(root: &Location, config: &S3Config, counters: Arc<Counters>) -> Result<Self, Error> {
        Self::open_with(root, config, counters, Patience::default())
    }

    fn open_with(
        root: &Location,
        config: &S3Config,
        counters: Arc<Counters>,
        patience: Patience,
    ) -> Result<Self, Error> {
        let refuse = |reason: String| Error::invalid(root.as_str(), reason);
        let bucket = root.bucket().ok_or_else(|| refuse("has no bucket".to_owned()))?;
        config.check().map_err(|fault| refuse(format!("has S3 settings of which {fault}")))?;
        let mut builder = match (&config.access_key_id, &config.secret_access_key) {
            (Some(id), Some(secret)) => {
                AmazonS3Builder::new().with_access_key_id(id.as_str()).with_secret_access_key(secret.expose())
            }
            _ => AmazonS3Builder::from_env(),
        };
        let from_env = |builder: &AmazonS3Builder, key| builder.get_config_value(&key);
        for (name, key) in [
            ("AWS_ACCESS_KEY_ID", AmazonS3ConfigKey::AccessKeyId),
            ("AWS_SESSION_TOKEN", AmazonS3ConfigKey::Token),
        ] {
            let value = from_env(&builder, key).unwrap_or_default();
            endpoint::check_word(&value)
                .map_err(|reason| refuse(format!("is reached with {name}, which {reason}")))?;
        }
        let endpoint = config
            .endpoint
            .clone()
            .or_else(|| from_env(&builder, AmazonS3ConfigKey::S3Endpoint))
            .or_else(|| from_env(&builder, AmazonS3ConfigKey::Endpoint));
        let is_path_style = config.is_path_style(endpoint.as_deref());
        let of_bucket = endpoint::of_bucket(endpoint.as_deref(), bucket, &config.region, is_path_style)
            .map_err(|reason| refuse(format!("has an S3 endpoint that {reason}")))?;
        if let Some(endpoint) = &endpoint {
            // With virtual-hosted style `object_store` takes the endpoint as that of the bucket. This setting goes before
            // what the environment says.
            let endpoint = if is_path_style { endpoint.trim_end_matches('/').to_owned() } else { of_bucket };
            builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
        }
        let client = builder
            .with_bucket_name(bucket)
            .with_region(config.region.as_str())
            .with_virtual_hosted_style_request(!is_path_style)
            .with_client_options(
                ClientOptions::new()
                    .with_connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS))
                    .with_timeout(patience.request_timeout)
                    .with_allow_http(true),
            )
            .with_retry(RetryConfig {
                backoff: BackoffConfig {
                    init_backoff: patience.backoff_initial,
                    max_backoff: Duration::from_millis(BACKOFF_MS_MAX),
                    base: 2.0,
                },
                max_retries: patience.retries_max,
                retry_timeout: patience.retry_window,
            })
            .with_http_connector(CountingConnector::new(counters))
            .build()
            .map_err(|error| refuse(format!("cannot be used: {error}")))?;
        Ok(S3Store { client })
    }

    pub(crate) async fn put(&self, at: &Location, bytes: Bytes, mode: Mode) -> Result<(), Error> {
        let path = path(at)?;
        let put_mode = match mode {
            Mode::New => PutMode::Create,
            Mode::Replace => PutMode::Overwrite,
        };
        let mut rounds = 0;
        loop {
            let options = PutOptions { mode: put_mode.clone(), ..PutOptions::default() };
            let put = self.client.put_opts(&path, bytes.clone().into(), options);
            let (result, exchange) = Exchange::watch(put).await;
            let Err(error) = result else { return Ok(()) };
            if mode == Mode::New && exchange.is_conflict() && rounds < CONFLICT_ROUNDS_MAX {
                rounds += 1;
                tracing::debug!(location = %at, round = rounds, "conditional put met another one");
                tokio::time::sleep(Duration::from_millis(BACKOFF_MS_INITIAL)).await;
                continue;
            }
            let error = exchange.classify(at, error);
            let is_own_work_possible = exchange.attempts() + rounds > 1;
            if is_own_work_possible && matches!(error, Error::AlreadyExists { .. }) {
                return self.settle(at, &bytes, error).await;
            }
            return Err(error);
        }
    }

    /// Decides whether the object found by a retry is what an earlier attempt of the same call wrote.
    async fn settle(&self, at: &Location, sent: &Bytes, taken: Error) -> Result<(), Error> {
        match self.read(at).await? {
            Some(found) if found == *sent => Ok(()),
            _ => Err(taken),
        }
    }

    pub(crate) async fn read(&self, at: &Location) -> Result<Option<Bytes>, Error> {
        let path = path(at)?;
        let (result, exchange) = Exchange::watch(async {
            let found = self.client.get(&path).await?;
            let size_bytes = found.meta.size;
            // An answer without a length does not get here, and a longer body than promised is an error.
            match size_bytes > OBJECT_BYTES_MAX {
                true => Ok((size_bytes, None)),
                false => found.bytes().await.map(|bytes| (size_bytes, Some(bytes))),
            }
        })
        .await;
        match result {
            Ok((_, Some(bytes))) => Ok(Some(bytes)),
            Ok((size_bytes, None)) => Err(too_large(at, size_bytes)),
            Err(error) => absent_as_none(exchange.classify(at, error)),
        }
    }

    pub(crate) async fn size(&self, at: &Location) -> Result<Option<u64>, Error> {
        let path = path(at)?;
        let (result, exchange) = Exchange::watch(self.client.head(&path)).await;
        match result {
            Ok(found) => Ok(Some(found.size)),
            Err(error) => absent_as_none(exchange.classify(at, error)),
        }
    }

    pub(crate) async fn delete(&self, at: &Location) -> Result<(), Error> {
        let path = path(at)?;
        // A missing key is no error to S3; "not found" here is a missing bucket.
        let (result, exchange) = Exchange::watch(self.client.delete(&path)).await;
        result.map_err(|error| exchange.classify(at, error))
    }

    /// Asks for the first page of the listing. Unlike a `HEAD` it tells a missing bucket from an empty one.
    pub(crate) async fn probe(&self, at: &Location) -> Result<(), Error> {
        let prefix = match at.key() {
            "" => None,
            _ => Some(path(at)?),
        };
        let (result, exchange) = Exchange::watch(first(self.client.list(prefix.as_ref()))).await;
        result.map_err(|error| exchange.classify(at, error))
    }
}

async fn first<S, T>(mut listing: S) -> object_store::Result<()>
where
    S: TryStreamExt<Ok = T, Error = object_store::Error> + Unpin,
{
    listing.try_next().await.map(|_| ())
}

/// The key as `object_store` takes it literally. Its `Path::from` would percent-encode names itself,
/// giving an object that no other client finds.
fn path(at: &Location) -> Result<Path, Error> {
    if at.key().is_empty() {
        return Err(Error::invalid(at.as_str(), "names a whole bucket"));
    }
    Path::parse(at.key())
        .map_err(|error| Error::invalid(at.as_str(), format!("has an impossible key: {error}")))
}

fn absent_as_none<T>(error: Error) -> Result<Option<T>, Error> {
    match error {
        Error::NotFound { .. } => Ok(None),
        error => Err(error),
    }
}

/// Runs an operation of the client and returns what was seen on the wire beside its result.
impl Exchange {
    async fn watch<T>(
        operation: impl Future<Output = object_store::Result<T>>,
    ) -> (object_store::Result<T>, Exchange) {
        let exchange = Exchange::default();
        let result = exchange::scope(exchange.clone(), operation).await;
        (result, exchange)
    }
}

#[cfg(test)]
mod tests;
