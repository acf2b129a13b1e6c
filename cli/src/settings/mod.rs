//! Which server, who we are, and where we stand: flags, then environment, then the settings file, then defaults.

mod credentials;
mod endpoint;
pub mod file;

use std::path::PathBuf;

use serde::Serialize;

use crate::args::Global;
use crate::args::point;
use crate::error::Error;
use crate::host::Host;

pub use credentials::{ClientCredentials, Credentials, Secret};
pub use endpoint::root;

use file::{Place, Values};

/// The server of someone who configured nothing: `lochan-server` on this machine.
pub const ENDPOINT_DEFAULT: &str = "http://127.0.0.1:19120/";

/// How long a call may take when nothing else is said, in seconds. Merges of many keys take their time.
pub const TIMEOUT_S_DEFAULT: u64 = 120;

/// The longest wait that can be asked for, in seconds.
pub const TIMEOUT_S_MAX: u64 = 86_400;

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A flag.
    Flag,
    /// An environment variable.
    Environment(&'static str),
    /// The settings file.
    File,
    /// A statement of the shell.
    Statement,
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
    /// How we say who we are, and where that came from.
    pub credentials: Credentials,
    /// Where the credentials came from.
    pub credentials_source: Source,
    /// What was set and cannot be used, and why.
    pub unusable: Vec<String>,
    /// The branch that is meant when none is named; without it the server's default branch.
    pub default_branch: Option<String>,
    /// How long a call may take, in seconds.
    pub timeout_s: u64,
    /// The settings file, if there is a place for one.
    pub file: Option<PathBuf>,
    /// Whether that file exists.
    pub file_found: bool,
}

/// Reads flags, environment and file.
pub fn load(global: &Global, host: &Host) -> Result<Settings, Error> {
    let (settings, unusable) = read(global, host, file::place(global, host))?;
    unusable.into_iter().next().map_or(Ok(settings), Err)
}

/// The same for whoever looks at the settings and changes them one by one: what cannot be used is as if nobody had set it, and a
/// file that was named may be made.
pub fn load_unfinished(global: &Global, host: &Host) -> Result<Settings, Error> {
    let (settings, unusable) = read(global, host, file::place(global, host).unless_absent())?;
    Ok(Settings { unusable: unusable.iter().map(Error::to_string).collect(), ..settings })
}

/// The settings, without those that cannot be used, and why.
fn read(global: &Global, host: &Host, place: Place) -> Result<(Settings, Vec<Error>), Error> {
    let values = Values::read(place)?;
    let mut unusable = Vec::new();
    let (endpoint, endpoint_source) = endpoint_of(global, host, &values).unwrap_or_else(|error| {
        unusable.push(error);
        (ENDPOINT_DEFAULT.trim_end_matches('/').to_owned(), Source::Default)
    });
    let (credentials, credentials_source) =
        credentials::load(global, host, &values).unwrap_or_else(|error| {
            unusable.push(error);
            (Credentials::None, Source::Default)
        });
    let default_branch = default_branch(host, &values).unwrap_or_else(|error| {
        unusable.push(error);
        None
    });
    let timeout_s = values.timeout_s().unwrap_or_else(|error| {
        unusable.push(error);
        None
    });
    let settings = Settings {
        endpoint,
        endpoint_source,
        credentials,
        credentials_source,
        unusable: Vec::new(),
        default_branch,
        timeout_s: timeout_s.unwrap_or(TIMEOUT_S_DEFAULT),
        file_found: values.found,
        file: values.path,
    };
    Ok((settings, unusable))
}

/// The root of the server, and who named it.
fn endpoint_of(global: &Global, host: &Host, values: &Values) -> Result<(String, Source), Error> {
    let (endpoint, source) = if let Some(endpoint) = &global.endpoint {
        (endpoint.clone(), Source::Flag)
    } else if let Some(endpoint) = host.var("LOCHAN_ENDPOINT") {
        (endpoint.to_owned(), Source::Environment("LOCHAN_ENDPOINT"))
    } else if let Some(endpoint) = values.text("endpoint")? {
        (endpoint, Source::File)
    } else {
        (ENDPOINT_DEFAULT.to_owned(), Source::Default)
    };
    Ok((root(&endpoint)?, source))
}

fn default_branch(host: &Host, values: &Values) -> Result<Option<String>, Error> {
    let name = match host.var("LOCHAN_DEFAULT_BRANCH") {
        Some(name) => Some(name.to_owned()),
        None => values.text("default_branch")?,
    };
    if let Some(name) = &name {
        is_branch(name)?;
    }
    Ok(name)
}

fn is_branch(name: &str) -> Result<(), Error> {
    let no_branch = |error| Error::Settings(format!("the default branch '{name}' is no branch: {error}"));
    point::parse_name(name).map(drop).map_err(no_branch)
}

/// Whether this can be the value of a key of the file.
pub(crate) fn check(key: &str, value: &str) -> Result<(), Error> {
    match key {
        "endpoint" => root(value).map(drop),
        "default_branch" => is_branch(value),
        "token" => credentials::is_token(value),
        _ => Ok(()),
    }
}
