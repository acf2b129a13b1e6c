//! What commands have to say, and the formats that write it.
//!
//! A command returns a [`Report`]. It can say itself as JSON and as text for people; which one is asked of it is the
//! business of a [`Format`]. Colours are written always and taken out where nobody sees them.

mod contents;
mod human;
mod json;
pub mod page;
mod time;
pub mod usage;

use serde_json::Value;

use crate::args::Global;
use crate::error::Error;
use crate::host::{Host, Zone};

pub use contents::{changes, detail, fields, kind_word, summary};
pub use page::Page;
#[cfg(test)]
pub use time::absolute;

use lochan_api_spec::syntax::Instant;

/// The result of a command.
pub trait Report {
    /// The document of `--json`: camelCase, as on the wire.
    fn json(&self) -> Result<Value, serde_json::Error>;

    /// Writes the text for people.
    fn human(&self, page: &mut Page);

    /// Whether nothing is to be said: standard output holds something else.
    fn silent(&self) -> bool {
        false
    }

    /// Whether the text may be longer than a screen, so that a pager helps.
    fn long(&self) -> bool {
        false
    }
}

/// A way to write reports and errors.
pub trait Format {
    /// The text for standard output.
    fn report(&self, report: &dyn Report) -> Result<String, Error>;

    /// The text for standard error.
    fn failure(&self, error: &Error, hints: &[String]) -> String;
}

/// How values are shown to people.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The time of the run.
    pub now: Instant,
    /// The zone of absolute times.
    pub zone: Zone,
    /// Whether hashes have all their digits.
    pub full: bool,
    /// Columns of a line.
    pub columns: usize,
}

/// The format that the options ask for.
pub fn format(global: &Global, host: &Host) -> Box<dyn Format> {
    if global.json {
        Box::new(json::Json)
    } else {
        Box::new(human::Human {
            look: Look { now: host.now, zone: host.zone, full: global.full, columns: host.columns() },
        })
    }
}
