//! Which server, and who we are: flags, then environment, then the configuration file, then defaults.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::args::Global;
use crate::error::Error;
use crate::host::Host;

/// The server of someone who configured nothing: `lochan-server` on this machine.
pub const ENDPOINT_DEFAULT: &str = "http://127.0.0.1:19120/";

/// How long a call may take when nothing else is said, in seconds. Merges of many keys take their time.
pub const TIMEOUT_S_DEFAULT: u64 = 120;

/// The longest wait that can be asked for, in seconds.
const TIMEOUT_S_MAX: u64 = 86_400;

/// The keys of the configuration file.
const KEYS: [&str; 4] = ["endpoint", "token", "token_file", "timeout_s"];

/// How alike a wrong key and a known one must be for the known one to be suggested.
const LIKENESS_MIN: f64 = 0.6;

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A flag.
    Flag,
    /// An environment variable.
    Environment(&'static str),
    /// The configuration file.
    File,
    /// Nobody said anything.
    Default,
}

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The server's root without a slash at its end: `http://127.0.0.1:19120`.
    pub endpoint: String,
    /// Where the endpoint came from.
    pub endpoint_source: Source,
    /// The bearer token and where it came from; a secret.
    pub token: Option<(String, Source)>,
    /// How long a call may take, in seconds.
    pub timeout_s: u64,
    /// The configuration file, if there is a place for one.
    pub file: Option<PathBuf>,
    /// Whether that file exists.
    pub file_found: bool,
}

/// Reads flags, environment and file.
pub fn load(global: &Global, host: &Host) -> Result<Settings, Error> {
    let (file, table) = read_file(global, host)?;
    let text = |key: &str| -> Result<Option<String>, Error> {
        match table.as_ref().and_then(|table| table.get(key)) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(in_file(&file, format!("'{key}' must be text"))),
        }
    };
    let (endpoint, endpoint_source) = if let Some(endpoint) = &global.endpoint {
        (endpoint.clone(), Source::Flag)
    } else if let Some(endpoint) = host.var("LOCHAN_ENDPOINT") {
        (endpoint.to_owned(), Source::Environment("LOCHAN_ENDPOINT"))
    } else if let Some(endpoint) = text("endpoint")? {
        (endpoint, Source::File)
    } else {
        (ENDPOINT_DEFAULT.to_owned(), Source::Default)
    };
    let token = if let Some(token) = host.var("LOCHAN_TOKEN") {
        Some((token.to_owned(), Source::Environment("LOCHAN_TOKEN")))
    } else if let Some(path) = host.var("LOCHAN_TOKEN_FILE") {
        Some((read_token(Path::new(path))?, Source::Environment("LOCHAN_TOKEN_FILE")))
    } else if let Some(token) = text("token")? {
        Some((token, Source::File))
    } else if let Some(path) = text("token_file")? {
        // A relative path counts from the file that names it.
        let folder = file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        Some((read_token(&folder.join(path))?, Source::File))
    } else {
        None
    };
    let timeout_s = match table.as_ref().and_then(|table| table.get("timeout_s")) {
        None => TIMEOUT_S_DEFAULT,
        Some(value) => value
            .as_integer()
            .and_then(|seconds| u64::try_from(seconds).ok())
            .filter(|seconds| (1..=TIMEOUT_S_MAX).contains(seconds))
            .ok_or_else(|| {
                in_file(&file, format!("'timeout_s' must be a number from 1 to {TIMEOUT_S_MAX}"))
            })?,
    };
    Ok(Settings {
        endpoint: root(&endpoint)?,
        endpoint_source,
        token,
        timeout_s,
        file_found: table.is_some(),
        file,
    })
}

/// Reduces an endpoint to the server's root: `http://host:1/api/v2/` and `http://host:1` are one.
pub fn root(endpoint: &str) -> Result<String, Error> {
    let bad = |reason: &str| Error::Settings(format!("the endpoint '{endpoint}' {reason}"));
    let lower = endpoint.to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Err(bad("must begin with http:// or https://"));
    }
    if endpoint.contains(['?', '#']) || endpoint.contains(char::is_whitespace) {
        return Err(bad("must be an address without query, fragment or blanks"));
    }
    let mut root = endpoint.trim_end_matches('/');
    for api in ["/api/v2", "/api/v1", "/api"] {
        if let Some(rest) = root.strip_suffix(api) {
            root = rest.trim_end_matches('/');
            break;
        }
    }
    let host = root.split_once("://").map_or("", |(_, host)| host);
    if host.is_empty() || host.starts_with('/') {
        return Err(bad("names no host"));
    }
    Ok(root.to_owned())
}

fn read_file(global: &Global, host: &Host) -> Result<(Option<PathBuf>, Option<toml::Table>), Error> {
    let named = global.config.clone().or_else(|| host.var("LOCHAN_CONFIG").map(PathBuf::from));
    let must_exist = named.is_some();
    let usual = || {
        let folder = match host.var("XDG_CONFIG_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(host.var("HOME")?).join(".config"),
        };
        Some(folder.join("lochan").join("config.toml"))
    };
    let Some(path) = named.or_else(usual) else { return Ok((None, None)) };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
            return Ok((Some(path), None));
        }
        Err(error) => {
            return Err(Error::File { path: path.display().to_string(), reason: error.to_string() });
        }
    };
    let file = Some(path);
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| in_file(&file, error.to_string().trim_end().to_owned()))?;
    if let Some(wrong) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let message = match crate::hints::nearest(wrong, KEYS, LIKENESS_MIN).first() {
            Some(near) => format!("unknown key '{wrong}', did you mean '{near}'?"),
            None => format!("unknown key '{wrong}', the keys are {}", KEYS.join(", ")),
        };
        return Err(in_file(&file, message));
    }
    Ok((file, Some(table)))
}

fn in_file(file: &Option<PathBuf>, message: String) -> Error {
    let path = file.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    Error::Settings(format!("{path}: {message}"))
}

fn read_token(path: &Path) -> Result<String, Error> {
    let failed = |reason: String| Error::File { path: path.display().to_string(), reason };
    let token = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let token = token.trim();
    if token.is_empty() { Err(failed("it holds no token".to_owned())) } else { Ok(token.to_owned()) }
}
