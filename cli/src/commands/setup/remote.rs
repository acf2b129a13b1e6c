//! `remote show`, `remote add`, `remote set-head`

use lochan_api_spec::nessie::model::NessieConfigurationV2;
use lochan_api_spec::nessie::v2::config::GetConfig;
use serde_json::{Value, json};

use super::written;
use crate::args::point;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::Page;
use crate::settings;

/// What to ask the server about itself.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Show its address, versions and default branch
    Show,
    /// Write its address into the settings file
    #[command(visible_alias = "set-url")]
    Add {
        /// The server's root, such as http://127.0.0.1:19120/
        // Not called `endpoint`: that is an option of every command, and would be set by it.
        #[arg(value_name = "ENDPOINT")]
        root: String,
    },
    /// Say which branch is meant when none is named
    SetHead {
        /// The branch
        #[arg(value_parser = point::parse_name, required_unless_present = "delete")]
        branch: Option<String>,
        /// Take it out of the file: the server's default branch is meant again
        #[arg(short, long)]
        delete: bool,
    },
}

/// Asks the server, or writes down which one it is.
pub async fn run(verb: Verb, session: &Session) -> Result<Done, Error> {
    match verb {
        Verb::Add { root } => {
            let root = settings::root(&root)?;
            written::change("endpoint", Some(&format!("{root}/")), session)
        }
        Verb::SetHead { branch, delete } => {
            written::change("default_branch", branch.as_deref().filter(|_| !delete), session)
        }
        Verb::Show => {
            if let Some(why) = session.settings.unusable.first() {
                return Err(Error::Settings(why.clone()));
            }
            let config = session.client.ask::<GetConfig>(GetConfig::path(), &()).await?;
            Ok(Remote { endpoint: session.settings.endpoint.clone(), config }.into())
        }
    }
}

struct Remote {
    endpoint: String,
    config: NessieConfigurationV2,
}

impl Report for Remote {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({ "endpoint": self.endpoint, "config": serde_json::to_value(&self.config)? }))
    }

    fn human(&self, page: &mut Page) {
        const WIDTH: usize = 15;
        page.field(WIDTH, "Endpoint", &self.endpoint);
        let branch = page.name(&self.config.default_branch);
        page.field(WIDTH, "Default branch", &branch);
        let api =
            format!("{} to {}", self.config.min_supported_api_version, self.config.max_supported_api_version);
        page.field(WIDTH, "API versions", &api);
        if let Some(spec) = &self.config.spec_version {
            page.field(WIDTH, "Spec", spec);
        }
        if let Some(at) = self.config.repository_creation_timestamp {
            let time = page.time(at);
            page.field(WIDTH, "Created", &time);
        }
    }
}
