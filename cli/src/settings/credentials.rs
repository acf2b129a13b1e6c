//! Who we are: nobody, the bearer of a token, or a client that fetches its tokens from an OpenID Connect provider.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Source;
use super::file::Values;
use crate::args::Global;
use crate::error::Error;
use crate::host::Host;

/// The largest token file taken, in bytes: HTTP servers take less.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the request that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// How we say who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// We do not.
    None,
    /// With a bearer token.
    Token(Secret),
    /// With a bearer token fetched for us (OAuth 2.0, RFC 6749 section 4.4).
    Client(Box<ClientCredentials>),
}

/// A client known to an OpenID Connect provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCredentials {
    /// Where tokens are handed out.
    pub token_endpoint: String,
    /// The client's id.
    pub client_id: String,
    /// Its secret.
    pub client_secret: Secret,
    /// What the token is asked to allow.
    pub scope: Option<String>,
}

/// The nearest place that says who we are, and its name.
pub(super) fn load(global: &Global, host: &Host, values: &Values) -> Result<(Credentials, Source), Error> {
    let token = |text: &str| is_token(text).map(|()| Credentials::Token(Secret::new(text.trim())));
    if let Some(token) = &global.token {
        return Ok((Credentials::Token(token.clone()), Source::Flag));
    }
    if let Some(path) = &global.token_file {
        return Ok((Credentials::Token(read(path)?), Source::Flag));
    }
    if let Some(text) = host.var("LOCHAN_TOKEN") {
        return Ok((token(text)?, Source::Environment("LOCHAN_TOKEN")));
    }
    if let Some(path) = host.var("LOCHAN_TOKEN_FILE") {
        return Ok((Credentials::Token(read(Path::new(path))?), Source::Environment("LOCHAN_TOKEN_FILE")));
    }
    if host.var("LOCHAN_OAUTH2_TOKEN_ENDPOINT").is_some() {
        return Ok((client(host, values)?, Source::Environment("LOCHAN_OAUTH2_TOKEN_ENDPOINT")));
    }
    if let Some(text) = values.text("token")? {
        return Ok((token(&text)?, Source::File));
    }
    if let Some(path) = values.file("token_file")? {
        return Ok((Credentials::Token(read(&path)?), Source::File));
    }
    if values.text("oauth2_token_endpoint")?.is_some() {
        return Ok((client(host, values)?, Source::File));
    }
    Ok((Credentials::None, Source::Default))
}

/// Whether this can be sent as a token; blanks around it do not count.
pub(super) fn is_token(text: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
    match text.trim().chars().all(is_plain) {
        true => Ok(()),
        false => Err(Error::Settings("the token holds characters that no token has".to_owned())),
    }
}

fn client(host: &Host, values: &Values) -> Result<Credentials, Error> {
    let text = |variable: &str, key: &str| match host.var(variable) {
        Some(text) => Ok(Some(text.to_owned())),
        None => values.text(key),
    };
    let needed = |found: Option<String>, variable: &str, key: &str| {
        found
            .ok_or_else(|| Error::Settings(format!("`{key}` or {variable} is needed for the token endpoint")))
    };
    let endpoint = ("LOCHAN_OAUTH2_TOKEN_ENDPOINT", "oauth2_token_endpoint");
    let id = ("LOCHAN_OAUTH2_CLIENT_ID", "oauth2_client_id");
    let secret = ("LOCHAN_OAUTH2_CLIENT_SECRET", "oauth2_client_secret");
    let secret_file = match host.var("LOCHAN_OAUTH2_CLIENT_SECRET_FILE") {
        Some(path) => Some(PathBuf::from(path)),
        None => values.file("oauth2_client_secret_file")?,
    };
    let client_secret = match (text(secret.0, secret.1)?, secret_file) {
        (Some(text), _) => Secret::new(text),
        (None, Some(path)) => read(&path)?,
        (None, None) => Secret::new(needed(None, secret.0, secret.1)?),
    };
    Ok(Credentials::Client(Box::new(ClientCredentials {
        token_endpoint: needed(text(endpoint.0, endpoint.1)?, endpoint.0, endpoint.1)?,
        client_id: needed(text(id.0, id.1)?, id.0, id.1)?,
        client_secret,
        scope: text("LOCHAN_OAUTH2_SCOPE", "oauth2_scope")?,
    })))
}

/// Reads a secret from a file; blanks around it do not count.
fn read(path: &Path) -> Result<Secret, Error> {
    use std::io::Read;
    let failed = |reason: String| Error::File { path: path.display().to_string(), reason };
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(TOKEN_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| failed(error.to_string()))?;
    let text = text.trim();
    if text.is_empty() { Err(failed("it holds no token".to_owned())) } else { Ok(Secret::new(text)) }
}
