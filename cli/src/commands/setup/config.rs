//! `config`

use serde_json::{Value, json};

use crate::commands::setup::written;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{Page, style};
use crate::settings::file::{self, KEYS};
use crate::settings::{Credentials, Settings, Source};

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
#[command(after_help = keys())]
pub struct Args {
    /// Show what the file says about this key
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
    /// The same as an option
    #[arg(long, value_name = "KEY", conflicts_with = "key")]
    pub get: Option<String>,
    /// Write a key into the file
    #[arg(long, visible_alias = "add", num_args = 2, value_names = ["KEY", "VALUE"], conflicts_with_all = ["key", "get"])]
    pub set: Vec<String>,
    /// Take a key out of the file
    #[arg(long, value_name = "KEY", conflicts_with_all = ["key", "get", "set"])]
    pub unset: Option<String>,
    /// Show the settings in force; the same as no option
    #[arg(short, long, conflicts_with_all = ["key", "get", "set", "unset"])]
    pub list: bool,
    /// Taken for the sake of pynessie's users; each key has a type of its own
    #[arg(long = "type", value_name = "TYPE", hide = true)]
    pub value_type: Option<String>,
}

fn keys() -> String {
    let mut out = String::from("Keys of the file:");
    for (key, meaning) in KEYS {
        out.push_str(&format!("\n  {key:26} {meaning}"));
    }
    out
}

/// Shows the settings in force, or shows or changes a key of the file. Secrets are told only as a fact.
pub fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    if let [key, value] = args.set.as_slice() {
        return written::change(key, Some(value), session);
    }
    if let Some(key) = &args.unset {
        return written::change(key, None, session);
    }
    let Some(key) = args.key.as_ref().or(args.get.as_ref()) else {
        return Ok(Config(session.settings.clone()).into());
    };
    file::known(key).map_err(Error::Usage)?;
    let value = written::values(session)?.shown(key);
    match value {
        Some(value) => Ok(One { key: key.clone(), value }.into()),
        None => Err(Error::NotSet(key.clone())),
    }
}

struct One {
    key: String,
    value: String,
}

impl Report for One {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({ "key": self.key, "value": self.value }))
    }

    fn human(&self, page: &mut Page) {
        page.line(&self.value);
    }
}

struct Config(Settings);

fn source(source: &Source) -> String {
    match source {
        Source::Flag => "by option".to_owned(),
        Source::Environment(name) => format!("by {name}"),
        Source::File => "by the file".to_owned(),
        Source::Statement => "by CONNECT".to_owned(),
        Source::Default => "by default".to_owned(),
    }
}

impl Report for Config {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let from = source(&self.0.credentials_source);
        let client = match &self.0.credentials {
            Credentials::Client(client) => json!({
                "tokenEndpoint": client.token_endpoint, "clientId": client.client_id, "scope": client.scope,
            }),
            _ => Value::Null,
        };
        Ok(json!({
            "endpoint": self.0.endpoint,
            "endpointSource": source(&self.0.endpoint_source),
            "tokenSource": (self.0.credentials != Credentials::None).then_some(from),
            "oauth2": client,
            "unusable": self.0.unusable,
            "defaultBranch": self.0.default_branch,
            "timeoutS": self.0.timeout_s,
            "file": self.0.file.as_ref().map(|path| path.display().to_string()),
            "fileFound": self.0.file_found,
        }))
    }

    fn human(&self, page: &mut Page) {
        const WIDTH: usize = 15;
        let with = |page: &Page, value: &str, from: &str| {
            format!("{value}  {}", page.paint(style::FAINT, &format!("({from})")))
        };
        let endpoint = with(page, &self.0.endpoint, &source(&self.0.endpoint_source));
        page.field(WIDTH, "Endpoint", &endpoint);
        let from = source(&self.0.credentials_source);
        let token = match &self.0.credentials {
            Credentials::Token(_) => with(page, "set", &from),
            Credentials::Client(client) => {
                with(page, &format!("for {} of {}", client.client_id, client.token_endpoint), &from)
            }
            Credentials::None => "none".to_owned(),
        };
        page.field(WIDTH, "Token", &token);
        let branch =
            self.0.default_branch.as_deref().map_or_else(|| "the server's".to_owned(), |n| page.name(n));
        page.field(WIDTH, "Default branch", &branch);
        page.field(WIDTH, "Timeout", &format!("{} s", self.0.timeout_s));
        for why in &self.0.unusable {
            page.field(WIDTH, "Not usable", why);
        }
        if let Some(path) = &self.0.file {
            let found = if self.0.file_found { "read" } else { "does not exist" };
            let file = with(page, &path.display().to_string(), found);
            page.field(WIDTH, "File", &file);
        }
    }
}
