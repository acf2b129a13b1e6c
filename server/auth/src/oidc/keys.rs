//! The keys of an issuer: fetched by one request at a time, not too often, and kept while the issuer is away.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Header};
use lochan_server_catalog::access::identity::Unknown;
use serde_json::Value;
use tokio::time::Instant;

use super::fetch::Fetcher;

/// Least time between two fetches, whatever tokens come.
pub(super) const FETCH_INTERVAL_MIN: Duration = Duration::from_secs(10);
/// Keys older than this are fetched anew, beside the requests that use them.
pub(super) const AGE_MAX: Duration = Duration::from_secs(10 * 60);
/// Keys older than this are not trusted any more: the issuer has been away too long.
pub(super) const STALE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Most keys of a set.
const KEYS_MAX: usize = 100;
/// Most keys tried on a token that names none.
const TRIED_MAX: usize = 4;

/// A set of keys.
pub(super) struct KeySet {
    /// Which fetch brought it, from 1.
    pub(super) generation: u64,
    keys: Vec<Key>,
    fetched: Instant,
}

struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if it says so.
    algorithm: Option<String>,
    /// The only curve that it can be for.
    curve: Option<Algorithm>,
    decoding: DecodingKey,
}

impl KeySet {
    /// The keys that may have signed a token with this header.
    pub(super) fn fitting(&self, header: &Header) -> Vec<&DecodingKey> {
        let fits = |key: &&Key| {
            (header.kid.is_none() || key.id == header.kid)
                && key.decoding.family().algorithms().contains(&header.alg)
                && key.algorithm.as_ref().is_none_or(|own| *own == format!("{:?}", header.alg))
                && key.curve.is_none_or(|own| own == header.alg)
        };
        self.keys.iter().filter(fits).map(|key| &key.decoding).take(TRIED_MAX).collect()
    }

    /// The usable keys of a document (RFC 7517): signatures by a key pair, of a kind that is known.
    fn read(document: &Value, generation: u64) -> Self {
        let listed = document.get("keys").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let keys = listed.iter().take(KEYS_MAX).filter_map(Key::read).collect();
        Self { generation, keys, fetched: Instant::now() }
    }
}

impl Key {
    fn read(value: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
        if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }
        let curve = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => None,
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                Some(Algorithm::ES256)
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => {
                Some(Algorithm::ES384)
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                Some(Algorithm::EdDSA)
            }
            // Whoever knows a shared secret can make tokens with it; in a public document it is none.
            _ => return None,
        };
        let decoding =
            DecodingKey::from_jwk(&jwk).ok().filter(|key| key.family() != AlgorithmFamily::Hmac)?;
        let algorithm = value.get("alg").and_then(Value::as_str).map(str::to_owned);
        Some(Self { id: jwk.common.key_id, algorithm, curve, decoding })
    }
}

/// The keys of one issuer.
pub(super) struct Keys {
    fetcher: Fetcher,
    current: RwLock<Option<Arc<KeySet>>>,
    fetching: Mutex<Fetching>,
}

type Running = Shared<BoxFuture<'static, ()>>;

/// The fetch under way or the last one.
#[derive(Default)]
struct Fetching {
    begun: Option<Instant>,
    running: Option<Running>,
}

impl Keys {
    pub(super) fn new(fetcher: Fetcher) -> Arc<Self> {
        Arc::new(Self { fetcher, current: RwLock::default(), fetching: Mutex::default() })
    }

    /// The keys, fetched if there are none. Old ones are fetched anew in the background and used meanwhile.
    pub(super) async fn current(self: &Arc<Self>) -> Result<Arc<KeySet>, Unknown> {
        if let Some(set) = self.known() {
            if set.fetched.elapsed() > AGE_MAX {
                self.fetch();
            }
            if set.fetched.elapsed() <= STALE_MAX {
                return Ok(set);
            }
        }
        if let Some(running) = self.fetch() {
            running.await;
        }
        let fresh = self.known().filter(|set| set.fetched.elapsed() <= STALE_MAX);
        fresh.ok_or(Unknown::Undecided { retry_after: FETCH_INTERVAL_MIN })
    }

    /// A newer set than `old`, if one is to be had now; else `old` again.
    pub(super) async fn newer_than(self: &Arc<Self>, old: Arc<KeySet>) -> Arc<KeySet> {
        let newer = |set: &Arc<KeySet>| set.generation > old.generation;
        if let Some(set) = self.known().filter(newer) {
            return set;
        }
        if let Some(running) = self.fetch() {
            running.await;
        }
        self.known().filter(newer).unwrap_or(old)
    }

    fn known(&self) -> Option<Arc<KeySet>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The fetch under way, or a new one; none so soon after the last.
    fn fetch(self: &Arc<Self>) -> Option<Running> {
        let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = fetching.running.as_ref().filter(|running| running.peek().is_none()) {
            return Some(running.clone());
        }
        if fetching.begun.is_some_and(|begun| begun.elapsed() < FETCH_INTERVAL_MIN) {
            return None;
        }
        fetching.begun = Some(Instant::now());
        // In a task of its own: whoever asked for it may leave, and others wait for it too.
        let keys = Arc::clone(self);
        let running = tokio::spawn(async move { keys.fetch_once().await }).map(drop).boxed().shared();
        fetching.running = Some(running.clone());
        Some(running)
    }

    async fn fetch_once(&self) {
        let generation = self.known().map_or(0, |set| set.generation) + 1;
        match self.fetcher.keys().await {
            Ok(document) => {
                let set = KeySet::read(&document, generation);
                if set.keys.is_empty() {
                    // An issuer without keys signs nothing; more likely it is half up.
                    tracing::warn!("the OIDC issuer has no usable key; those known before are kept");
                    return;
                }
                tracing::info!(keys = set.keys.len(), "fetched the keys of the OIDC issuer");
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(set));
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                tracing::warn!(%error, cause, "the keys of the OIDC issuer cannot be fetched");
            }
        }
    }
}
