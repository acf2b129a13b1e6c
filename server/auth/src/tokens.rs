//! Bearer tokens that the server was given: kept as hashes, compared in constant time.

use std::fmt;
use std::sync::Arc;

use lochan_server_catalog::Identity;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Most tokens of a server: each is compared with every one that comes.
pub const TOKENS_MAX: usize = 1_000;
/// Longest token that is looked at, static or signed, in bytes.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The SHA-256 of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of a token.
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl fmt::Debug for TokenHash {
    // A hash of a token that people made up can be undone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A token, and whose it is.
#[derive(Debug, Clone)]
pub struct StaticToken {
    hash: TokenHash,
    identity: Arc<Identity>,
}

/// What is wrong with a token of the configuration. Nothing of the token is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is empty, or could not be sent.
    #[error(
        "the token of '{name}' is empty, too long, or holds blanks or other characters that no header can hold"
    )]
    Unsendable {
        /// Whose.
        name: String,
    },
    /// The hash is not 64 hexadecimal digits.
    #[error("the SHA-256 of the token of '{name}' must have 64 hexadecimal digits")]
    BadHash {
        /// Whose.
        name: String,
    },
    /// Two have the same.
    #[error("'{first}' and '{second}' have the same token")]
    Same {
        /// One.
        first: String,
        /// Another.
        second: String,
    },
    /// More than [`TOKENS_MAX`].
    #[error("there are more than {TOKENS_MAX} tokens")]
    TooMany,
}

impl StaticToken {
    /// The token of a name; only its hash is kept.
    pub fn new(name: &str, token: &str, roles: Vec<String>) -> Result<Self, TokenError> {
        let sendable =
            (1..=TOKEN_BYTES_MAX).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic());
        if !sendable {
            return Err(TokenError::Unsendable { name: name.to_owned() });
        }
        Ok(Self::of(name, TokenHash::of(token), roles))
    }

    /// A token of which only the SHA-256 is known, as hexadecimal digits.
    pub fn hashed(name: &str, sha256: &str, roles: Vec<String>) -> Result<Self, TokenError> {
        let mut hash = [0; 32];
        hex::decode_to_slice(sha256.trim(), &mut hash)
            .map_err(|_| TokenError::BadHash { name: name.to_owned() })?;
        Ok(Self::of(name, TokenHash(hash), roles))
    }

    fn of(name: &str, hash: TokenHash, roles: Vec<String>) -> Self {
        Self { hash, identity: Arc::new(Identity { name: name.to_owned(), roles }) }
    }
}

/// All tokens of a server.
#[derive(Debug, Default)]
pub struct Tokens(Vec<StaticToken>);

impl Tokens {
    /// Takes the tokens, of which no two may be the same.
    pub fn new(tokens: Vec<StaticToken>) -> Result<Self, TokenError> {
        if tokens.len() > TOKENS_MAX {
            return Err(TokenError::TooMany);
        }
        for (at, token) in tokens.iter().enumerate() {
            if let Some(other) = tokens.iter().skip(at + 1).find(|other| other.hash == token.hash) {
                let name = |token: &StaticToken| token.identity.name.clone();
                return Err(TokenError::Same { first: name(token), second: name(other) });
            }
        }
        Ok(Self(tokens))
    }

    /// Whose a token is. Every one is compared, whatever the outcome of those before.
    pub(crate) fn find(&self, hash: &TokenHash) -> Option<Arc<Identity>> {
        let mut found = None;
        for token in &self.0 {
            if bool::from(token.hash.0.ct_eq(&hash.0)) {
                found = Some(&token.identity);
            }
        }
        found.cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_by_value_and_by_hash() {
        let hash = hex::encode(Sha256::digest(b"sesame-2"));
        let tokens = Tokens::new(vec![
            StaticToken::new("ann", "sesame-1", vec!["writer".into()]).unwrap(),
            StaticToken::hashed("bob", &hash, Vec::new()).unwrap(),
        ])
        .unwrap();
        let name = |token: &str| tokens.find(&TokenHash::of(token)).map(|found| found.name.clone());
        assert_eq!(name("sesame-1").as_deref(), Some("ann"));
        assert_eq!(name("sesame-2").as_deref(), Some("bob"));
        for other in ["", "sesame", "sesame-11", "SESAME-1", &hash] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn mistakes_are_named_without_the_token() {
        let unsendable = |token: &str| StaticToken::new("ann", token, Vec::new()).unwrap_err().to_string();
        for bad in ["", "two words", "tab\t", "umläut", &"x".repeat(TOKEN_BYTES_MAX + 1)] {
            let text = unsendable(bad);
            assert!(text.contains("'ann'") && (bad.is_empty() || !text.contains(bad)), "{text}");
        }
        assert!(StaticToken::hashed("ann", "12", Vec::new()).is_err());
        let same = |name| StaticToken::new(name, "sesame", Vec::new()).unwrap();
        let error = Tokens::new(vec![same("a"), same("b")]).unwrap_err();
        assert_eq!(error, TokenError::Same { first: "a".into(), second: "b".into() });
        assert!(!format!("{:?}", same("a")).contains("sesame"));
    }

    #[test]
    fn no_more_and_no_longer_tokens_than_the_bounds() {
        let tokens = |count: usize| {
            let token = |n: usize| StaticToken::hashed("ann", &format!("{n:064x}"), Vec::new()).unwrap();
            Tokens::new((0..count).map(token).collect())
        };
        assert!(tokens(TOKENS_MAX).is_ok());
        assert!(matches!(tokens(TOKENS_MAX + 1), Err(TokenError::TooMany)));
        let long = |bytes: usize| StaticToken::new("ann", &"x".repeat(bytes), Vec::new());
        assert!(long(TOKEN_BYTES_MAX).is_ok() && long(TOKEN_BYTES_MAX + 1).is_err());
    }
}
