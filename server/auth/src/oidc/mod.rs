//! Signed tokens of an OpenID Connect issuer: issuer, audience and algorithms are pinned; its keys are fetched, kept, and
//! fetched anew when a token names one that is not known.

mod fetch;
mod keys;
mod settings;
mod signatures;
#[cfg(test)]
mod tests;
mod verify;

use std::sync::Arc;

use lochan_server_catalog::Identity;
use lochan_server_catalog::access::identity::{Reason, Unknown};
use quick_cache::sync::Cache;

use crate::tokens::TokenHash;
use keys::Keys;
pub use settings::{ALGORITHMS, CLOCK_SKEW_SECONDS_MAX, Settings, SettingsError};
use verify::Verifier;

/// Tokens whose signature need not be checked again, while the keys stay and they are not expired.
const VERIFIED_MAX: usize = 4_096;

/// Knows the tokens of one issuer.
pub struct Oidc {
    verifier: Verifier,
    keys: Arc<Keys>,
    verified: Cache<TokenHash, Verified>,
}

/// A token that was good.
#[derive(Clone)]
struct Verified {
    identity: Arc<Identity>,
    /// When it ends, in seconds since 1970, skew included.
    ends: u64,
    /// The key set that it was checked with.
    generation: u64,
}

impl Oidc {
    /// Knows the tokens of the issuer of `settings`. Nothing is fetched before the first token comes.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        signatures::install();
        Ok(Self {
            verifier: Verifier::new(settings)?,
            keys: Keys::new(fetch::Fetcher::new(settings)?),
            verified: Cache::new(VERIFIED_MAX),
        })
    }

    /// Who brings a token, whose hash is given too.
    pub(crate) async fn authenticate(&self, token: &str, hash: TokenHash) -> Result<Arc<Identity>, Unknown> {
        // What cannot be good whatever the keys are makes nobody fetch them.
        let header = self.verifier.header(token)?;
        let mut set = self.keys.current().await?;
        if let Some(known) = self.verified.get(&hash)
            && known.generation == set.generation
            && known.ends > jsonwebtoken::get_current_timestamp()
        {
            return Ok(known.identity);
        }
        let mut keys = set.fitting(&header);
        if keys.is_empty() {
            set = self.keys.newer_than(set).await;
            keys = set.fitting(&header);
        }
        let mut refused = Reason::Key;
        for key in keys {
            match self.verifier.verify(token, &header, key) {
                Ok((identity, ends)) => {
                    let identity = Arc::new(identity);
                    let verified = Verified { identity: identity.clone(), ends, generation: set.generation };
                    self.verified.insert(hash, verified);
                    return Ok(identity);
                }
                Err(reason) => refused = reason,
            }
        }
        Err(Unknown::Refused(refused))
    }
}
