//! Who somebody is: the port through which adapters learn it from a bearer token.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

/// Somebody whose token was good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Their name; becomes the committer, and `role` in rules.
    pub name: String,
    /// Their roles.
    pub roles: Vec<String>,
}

/// Why nobody could be made of a token. Nothing of the token is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The token is no good, and why.
    Refused(Reason),
    /// Whether it is good cannot be found out now.
    Undecided {
        /// When to try again.
        retry_after: Duration,
    },
}

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is none that the server was given, and no signed one either.
    NotKnown,
    /// It is longer than any token may be.
    TooLong,
    /// It has not the form of a signed token.
    Malformed,
    /// Its algorithm is not one of those that are accepted.
    Algorithm,
    /// No key of the issuer fits it.
    Key,
    /// Its signature is not that of the key.
    Signature,
    /// It is of another issuer.
    Issuer,
    /// It is meant for somebody else.
    Audience,
    /// It has expired.
    Expired,
    /// It is not valid yet.
    NotYet,
    /// A claim that must be there is missing or of the wrong type.
    Claims,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotKnown => "the token is not known",
            Self::TooLong => "the token is too long",
            Self::Malformed => "the token is malformed",
            Self::Algorithm => "the token's algorithm is not accepted",
            Self::Key => "no key of the issuer fits the token",
            Self::Signature => "the token's signature is wrong",
            Self::Issuer => "the token is of another issuer",
            Self::Audience => "the token is for another audience",
            Self::Expired => "the token has expired",
            Self::NotYet => "the token is not valid yet",
            Self::Claims => "the token lacks a claim or has a wrong one",
        })
    }
}

/// Tells who brings a token.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// Who brings this bearer token (RFC 6750).
    async fn authenticate(&self, token: &str) -> Result<Arc<Identity>, Unknown>;
}
