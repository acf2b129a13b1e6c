//! `remote show`

use lochan_api_spec::nessie::model::NessieConfigurationV2;
use lochan_api_spec::nessie::v2::config::GetConfig;
use serde_json::{Value, json};

use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::Page;

/// What to ask the server about itself.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Show its address, versions and default branch
    Show,
}

/// Asks the server.
pub async fn run(verb: Verb, session: &Session) -> Result<Done, Error> {
    match verb {
        Verb::Show => {
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
