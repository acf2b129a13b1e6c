//! Fetching the keys of an issuer, within bounds.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use serde_json::Value;

use super::settings::{Settings, SettingsError};

/// Time for one document.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest document, in bytes.
const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// Why keys could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    /// No answer, or no success.
    #[error("the issuer did not answer as it should")]
    Http(#[from] reqwest::Error),
    /// More than it may be.
    #[error("the document is larger than {DOCUMENT_BYTES_MAX} bytes")]
    TooLarge,
    /// No JSON.
    #[error("the document is no JSON")]
    Json(#[from] serde_json::Error),
    /// Another issuer answers there.
    #[error("the discovery document is of another issuer: '{0}'")]
    OtherIssuer(String),
    /// The discovery document says not where keys are, or somewhere they must not be fetched from.
    #[error("the discovery document has no usable jwks_uri")]
    NoKeys,
}

/// Fetches the keys of one issuer.
pub(super) struct Fetcher {
    client: Client,
    settings: Settings,
}

impl Fetcher {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let client = Client::builder()
            .timeout(FETCH_TIMEOUT)
            .redirect(Policy::none())
            .user_agent("lochan-server")
            .build()
            .map_err(|error| SettingsError::Client(error.to_string()))?;
        Ok(Self { client, settings: settings.clone() })
    }

    /// The issuer's key set as it is now.
    pub(super) async fn keys(&self) -> Result<Value, FetchError> {
        match &self.settings.jwks_uri {
            Some(uri) => self.document(uri).await,
            None => self.document(&self.discovered().await?).await,
        }
    }

    /// Where the issuer's own document says that its keys are (OpenID Connect Discovery, 4).
    async fn discovered(&self) -> Result<String, FetchError> {
        let issuer = &self.settings.issuer;
        let at = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document = self.document(&at).await?;
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        match text("issuer") {
            Some(found) if found == issuer => {}
            other => return Err(FetchError::OtherIssuer(other.unwrap_or("").chars().take(200).collect())),
        }
        let uri = text("jwks_uri").filter(|uri| self.settings.url(uri).is_ok());
        uri.map(str::to_owned).ok_or(FetchError::NoKeys)
    }

    async fn document(&self, url: &str) -> Result<Value, FetchError> {
        let mut answer = self.client.get(url).send().await?.error_for_status()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if bytes.len() + chunk.len() > DOCUMENT_BYTES_MAX {
                return Err(FetchError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(serde_json::from_slice(&bytes)?)
    }
}
