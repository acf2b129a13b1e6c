//! `config`

use serde_json::{Value, json};

use crate::commands::{Done, Session};
use crate::output::Report;
use crate::output::page::{Page, style};
use crate::settings::{Settings, Source};

/// Shows the settings in force; the token only as a fact.
pub fn run(session: &Session) -> Done {
    Config(session.settings.clone()).into()
}

struct Config(Settings);

fn source(source: &Source) -> String {
    match source {
        Source::Flag => "by option".to_owned(),
        Source::Environment(name) => format!("by {name}"),
        Source::File => "by the file".to_owned(),
        Source::Default => "by default".to_owned(),
    }
}

impl Report for Config {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({
            "endpoint": self.0.endpoint,
            "endpointSource": source(&self.0.endpoint_source),
            "tokenSource": self.0.token.as_ref().map(|(_, from)| source(from)),
            "timeoutS": self.0.timeout_s,
            "file": self.0.file.as_ref().map(|path| path.display().to_string()),
            "fileFound": self.0.file_found,
        }))
    }

    fn human(&self, page: &mut Page) {
        const WIDTH: usize = 9;
        let with = |page: &Page, value: &str, from: &str| {
            format!("{value}  {}", page.paint(style::FAINT, &format!("({from})")))
        };
        let endpoint = with(page, &self.0.endpoint, &source(&self.0.endpoint_source));
        page.field(WIDTH, "Endpoint", &endpoint);
        let token = match &self.0.token {
            Some((_, from)) => with(page, "set", &source(from)),
            None => "none".to_owned(),
        };
        page.field(WIDTH, "Token", &token);
        page.field(WIDTH, "Timeout", &format!("{} s", self.0.timeout_s));
        if let Some(path) = &self.0.file {
            let found = if self.0.file_found { "read" } else { "does not exist" };
            let file = with(page, &path.display().to_string(), found);
            page.field(WIDTH, "File", &file);
        }
    }
}
