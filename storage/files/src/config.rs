//! What a warehouse is opened with. Plain values: reading files and environment is the server's part.

use std::fmt;

use crate::s3;

/// One warehouse: a name and the location under which its tables live.
#[derive(Debug, Clone)]
pub struct WarehouseConfig {
    /// The name clients use: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The root of the warehouse in any form that [`crate::Location::parse`] takes.
    pub location: String,
    /// Whether this one is used when a client names none. At most one; the first otherwise.
    pub default: bool,
    /// Settings of an `s3://` location. `None` there means AWS with what the environment provides;
    /// on a `file:` location it is an error.
    pub s3: Option<S3Config>,
}

/// How an S3-compatible store is reached.
#[derive(Debug, Clone)]
pub struct S3Config {
    /// Base URL such as `http://127.0.0.1:9000`; `None` means AWS.
    pub endpoint: Option<String>,
    /// The URL that clients are told, where they reach the store by another name.
    pub external_endpoint: Option<String>,
    /// Region for signatures, also told to clients.
    pub region: String,
    /// `http://host/bucket/key` instead of `http://bucket.host/key`. Most stores other than AWS need it; where the host
    /// is an address, there is no other way, and it is taken whatever this says.
    pub path_style: bool,
    /// Static key. `None` takes credentials from the environment (`AWS_ACCESS_KEY_ID`, web identity,
    /// instance role).
    pub access_key_id: Option<String>,
    /// The secret that belongs to `access_key_id`; both or neither.
    pub secret_access_key: Option<Secret>,
}

impl Default for S3Config {
    fn default() -> Self {
        S3Config {
            endpoint: None,
            external_endpoint: None,
            region: "us-east-1".to_owned(),
            path_style: false,
            access_key_id: None,
            secret_access_key: None,
        }
    }
}

/// A setting of [`S3Config`] that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("'{setting}' {reason}")]
pub struct S3Fault {
    /// The field's name.
    pub setting: &'static str,
    /// Why, as the rest of a sentence.
    pub reason: &'static str,
}

impl S3Config {
    /// Checks everything that can be checked before a bucket is known: no value may be one that a request cannot be made of.
    pub fn check(&self) -> Result<(), S3Fault> {
        let fault = |setting| move |reason| S3Fault { setting, reason };
        for (setting, url) in [("endpoint", &self.endpoint), ("external_endpoint", &self.external_endpoint)] {
            url.as_deref().map_or(Ok(()), |url| s3::base_url(url).map(drop)).map_err(fault(setting))?;
        }
        s3::check_word(&self.region).map_err(fault("region"))?;
        s3::check_word(self.access_key_id.as_deref().unwrap_or_default()).map_err(fault("access_key_id"))?;
        match (&self.access_key_id, &self.secret_access_key) {
            (Some(_), None) => Err("is missing, though there is an access key id"),
            (Some(_), Some(secret)) if secret.expose().chars().any(char::is_control) => {
                Err("has control characters")
            }
            _ => Ok(()),
        }
        .map_err(fault("secret_access_key"))?;
        match (&self.access_key_id, &self.secret_access_key) {
            (None, Some(_)) => Err("is missing, though there is a secret access key"),
            _ => Ok(()),
        }
        .map_err(fault("access_key_id"))
    }

    /// Whether the bucket stands in the path of requests to `endpoint`.
    pub(crate) fn is_path_style(&self, endpoint: Option<&str>) -> bool {
        self.path_style || endpoint.is_some_and(s3::is_ip)
    }
}

/// A text that is never shown: its `Debug` and `Display` are a mask.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the secret itself. The call is the place to look for when reviewing who sees it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Secret(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_itself_only_when_asked() {
        let config = S3Config { secret_access_key: Some(Secret::new("hunter2")), ..S3Config::default() };
        assert!(!format!("{config:?}").contains("hunter2"));
        assert_eq!(config.secret_access_key.as_ref().map(Secret::expose), Some("hunter2"));
        assert_eq!(Secret::new("hunter2").to_string(), "***");
    }
}
