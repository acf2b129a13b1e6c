//! What a warehouse is opened with. Plain values: reading files and environment is the server's part.

use std::fmt;

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
    /// `http://host/bucket/key` instead of `http://bucket.host/key`. Most stores other than AWS need it.
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
