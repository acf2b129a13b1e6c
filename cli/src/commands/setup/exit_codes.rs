//! `exit-codes`, also reached by `help exit-codes`

use serde_json::{Value, json};

use crate::error::Error;
use crate::exit::{self, Kind};
use crate::host::Host;
use crate::output::page::Page;
use crate::output::{Format, Report};

/// Prints the table.
pub fn run(host: &mut Host, format: &dyn Format) -> Result<u8, Error> {
    host.show(format.report(&ExitCodes)?, false)?;
    Ok(0)
}

struct ExitCodes;

impl Report for ExitCodes {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let code =
            |kind: Kind| json!({ "exitCode": kind.code(), "kind": kind.word(), "meaning": kind.meaning() });
        Ok(json!({ "exitCodes": Kind::ALL.map(code) }))
    }

    fn human(&self, page: &mut Page) {
        exit::table().lines().for_each(|line| page.line(line));
    }
}
