//! Changes of the settings file.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{Page, style};
use crate::settings::Source;
use crate::settings::file::Values;

/// The file that is in force, read again.
pub fn values(session: &Session) -> Result<Values, Error> {
    Values::reread(session.settings.file.clone(), session.settings.file_found)
}

/// Sets or removes a key.
pub fn change(key: &str, value: Option<&str>, session: &Session) -> Result<Done, Error> {
    let mut values = values(session)?;
    let file = values.change(key, value)?;
    let overridden = match &session.settings.endpoint_source {
        Source::Environment(name) if key == "endpoint" => Some((*name).to_owned()),
        _ => None,
    };
    Ok(Written { file, key: key.to_owned(), value: values.shown(key), overridden }.into())
}

struct Written {
    file: PathBuf,
    key: String,
    value: Option<String>,
    /// The variable that wins over it.
    overridden: Option<String>,
}

impl Report for Written {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({ "file": self.file.display().to_string(), "key": self.key, "value": self.value }))
    }

    fn human(&self, page: &mut Page) {
        let file = page.paint(style::FAINT, &format!("(in {})", self.file.display()));
        match &self.value {
            Some(value) => page.line(&format!("{} is now {value}  {file}", self.key)),
            None => page.line(&format!("{} is not set any more  {file}", self.key)),
        }
        if let Some(name) = &self.overridden {
            page.line(&format!("As long as {name} is set, it wins over the file."));
        }
    }
}
