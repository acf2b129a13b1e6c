//! One JSON document per command.

use serde_json::{Value, json};

use super::{Format, Report};
use crate::client;
use crate::error::Error;

/// The format of `--json`.
pub struct Json;

impl Format for Json {
    fn report(&self, report: &dyn Report) -> Result<String, Error> {
        Ok(line(&report.json()?))
    }

    fn failure(&self, error: &Error, hints: &[String]) -> String {
        line(&failure(error, hints))
    }
}

/// The error object: every field is always there, null when nothing is known.
fn failure(error: &Error, hints: &[String]) -> Value {
    let kind = error.kind();
    let refusal = error.refusal();
    let request = error.call().and_then(client::Error::request);
    json!({
        "kind": kind.word(),
        "exitCode": kind.code(),
        "message": error.to_string(),
        "status": refusal.map(|refusal| refusal.status),
        "errorCode": error.error_code(),
        "conflicts": error.conflicts(),
        "request": request,
        "hints": hints,
    })
}

/// The same object for a command line that is none.
pub fn usage(message: &str, hints: &[String]) -> String {
    line(&failure(&Error::Usage(message.to_owned()), hints))
}

fn line(document: &Value) -> String {
    // Values without maps keyed by anything but text always have a JSON form.
    let mut text = format!("{document:#}");
    text.push('\n');
    text
}
