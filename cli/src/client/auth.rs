//! The `Authorization` of calls: a token that is known, or one that is fetched when the first call needs it.

use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::error::{self, Error};
use crate::settings::{ClientCredentials, Credentials};

/// How long before its end a fetched token is given up, in seconds: calls take their time.
const EARLY_S: u64 = 30;

/// How long a token lives whose provider does not say, in seconds.
const LIFETIME_S_DEFAULT: u64 = 60;

/// The longest answer of a provider that is looked at, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Where the header's value comes from.
pub enum Bearer {
    /// There is none.
    None,
    /// It is known.
    Fixed(HeaderValue),
    /// It is fetched.
    Fetched {
        /// From whom.
        client: Box<ClientCredentials>,
        /// The last one, and when it ends.
        last: Mutex<Option<(HeaderValue, Instant)>>,
    },
}

impl Bearer {
    /// Takes the settings' credentials; the error is the reason.
    pub fn new(credentials: &Credentials) -> Result<Self, String> {
        Ok(match credentials {
            Credentials::None => Self::None,
            Credentials::Token(token) => Self::Fixed(header(token.reveal())?),
            Credentials::Client(client) => Self::Fetched { client: client.clone(), last: Mutex::new(None) },
        })
    }

    /// The header's value.
    pub async fn value(&self, http: &reqwest::Client) -> Result<Option<HeaderValue>, Error> {
        let (client, last) = match self {
            Self::None => return Ok(None),
            Self::Fixed(value) => return Ok(Some(value.clone())),
            Self::Fetched { client, last } => (client, last),
        };
        let mut last = last.lock().await;
        if let Some((value, _)) = last.as_ref().filter(|(_, end)| *end > Instant::now()) {
            return Ok(Some(value.clone()));
        }
        let failed =
            |(reason, refused)| Error::NoToken { endpoint: client.token_endpoint.clone(), reason, refused };
        let granted = fetch(client, http).await.map_err(failed)?;
        let value = header(&granted.access_token).map_err(|reason| failed((reason, REFUSED)))?;
        let lifetime_s = granted.expires_in.unwrap_or(LIFETIME_S_DEFAULT).saturating_sub(EARLY_S);
        let end = Instant::now().checked_add(Duration::from_secs(lifetime_s));
        *last = end.map(|end| (value.clone(), end));
        Ok(Some(value))
    }
}

fn header(token: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "the token holds characters that no header takes".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// What a provider grants (RFC 6749 section 5.1).
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: Option<u64>,
}

/// What it says when it does not (RFC 6749 section 5.2).
#[derive(Deserialize)]
struct Denied {
    error: String,
    error_description: Option<String>,
}

/// Whether a provider that gives no token was there to refuse it.
const REFUSED: bool = true;

/// Asks for a token; the error says why there is none, and whether the provider was there to refuse it.
async fn fetch(client: &ClientCredentials, http: &reqwest::Client) -> Result<Granted, (String, bool)> {
    let mut form = vec![("grant_type", "client_credentials")];
    form.extend(client.scope.as_deref().map(|scope| ("scope", scope)));
    let request = http
        .post(&client.token_endpoint)
        .basic_auth(&client.client_id, Some(client.client_secret.reveal()))
        .form(&form);
    let broken = |error: reqwest::Error| (error::chain(&error), !REFUSED);
    let mut response = request.send().await.map_err(broken)?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err((format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"), REFUSED));
        }
        bytes.extend_from_slice(&chunk);
    }
    if status.is_success() {
        return serde_json::from_slice(&bytes).map_err(|_| ("the answer holds no token".to_owned(), REFUSED));
    }
    let reason = match serde_json::from_slice::<Denied>(&bytes) {
        Ok(Denied { error, error_description: Some(text) }) => format!("{error}: {text}"),
        Ok(Denied { error, .. }) => error,
        Err(_) => format!("it answered with {}", status.as_u16()),
    };
    Err((reason, !status.is_server_error()))
}
