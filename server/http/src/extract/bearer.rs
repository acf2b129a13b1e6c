//! Who asks, by the bearer token of the request (RFC 6750). The header is taken out of the request, so that nothing that
//! shows a request can show the token.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use lochan_server_catalog::{Authenticator, Identity};

use crate::error::Refusal;

const SCHEME: &str = "bearer ";

/// What a request says about its sender.
#[derive(Default)]
pub(crate) enum Credential {
    /// Nothing.
    #[default]
    None,
    /// A bearer token.
    Bearer(HeaderValue),
    /// Something that is not understood.
    Other,
}

impl Credential {
    /// Takes the credential out of the headers.
    pub(crate) fn take(headers: &mut HeaderMap) -> Self {
        let several = headers.get_all(AUTHORIZATION).iter().nth(1).is_some();
        match headers.remove(AUTHORIZATION) {
            None => Credential::None,
            Some(value) if !several && token(&value).is_some() => Credential::Bearer(value),
            Some(_) => Credential::Other,
        }
    }

    /// Finds out who it is of.
    pub(crate) async fn identify(&self, by: &dyn Authenticator) -> Result<Arc<Identity>, Refusal> {
        match self {
            Credential::None => Err(Refusal::NoToken),
            Credential::Other => Err(Refusal::NoBearer),
            Credential::Bearer(value) => {
                let token = token(value).ok_or(Refusal::NoBearer)?;
                Ok(by.authenticate(token).await?)
            }
        }
    }
}

fn token(value: &HeaderValue) -> Option<&str> {
    let text = value.to_str().ok()?;
    let (scheme, token) = text.split_at_checked(SCHEME.len())?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case(SCHEME) && !token.is_empty() && !token.contains(' ')).then_some(token)
}
