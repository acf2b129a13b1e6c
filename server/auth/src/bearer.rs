//! Bearer tokens of every kind, one after the other.

use std::sync::Arc;

use async_trait::async_trait;
use lochan_server_catalog::access::identity::{Reason, Unknown};
use lochan_server_catalog::{Authenticator, Identity};

use crate::oidc::Oidc;
use crate::tokens::{TOKEN_BYTES_MAX, TokenHash, Tokens};

/// Knows the tokens that the server was given, then those that an issuer signs.
pub struct Bearer {
    tokens: Tokens,
    oidc: Option<Oidc>,
}

impl Bearer {
    /// Knows these.
    #[must_use]
    pub const fn new(tokens: Tokens, oidc: Option<Oidc>) -> Self {
        Self { tokens, oidc }
    }
}

#[async_trait]
impl Authenticator for Bearer {
    async fn authenticate(&self, token: &str) -> Result<Arc<Identity>, Unknown> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Unknown::Refused(Reason::TooLong));
        }
        let hash = TokenHash::of(token);
        if let Some(identity) = self.tokens.find(&hash) {
            return Ok(identity);
        }
        match &self.oidc {
            Some(oidc) => oidc.authenticate(token, hash).await,
            None => Err(Unknown::Refused(Reason::NotKnown)),
        }
    }
}
