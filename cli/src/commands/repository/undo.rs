//! `undo NAME`

use lochan_api_spec::ext::model::LogEntry;
use lochan_api_spec::ext::restore_reference::{RestoreRequest, RestoreResponse, Side};
use lochan_api_spec::ext::{RestoreReference, get_reflog};
use serde_json::{Value, json};

use super::reflog;
use crate::args::point;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{Page, style};

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The branch or tag, perhaps deleted
    #[arg(value_parser = point::parse_name)]
    pub name: String,
    /// Undo this entry of its log, and all after it (without it: the newest)
    #[arg(short, long, value_name = "NUMBER")]
    pub entry: Option<u64>,
    /// Go back to where this entry of its log left it: undo all after it
    #[arg(long, value_name = "NUMBER", conflicts_with = "entry")]
    pub to: Option<u64>,
    /// Only when this is the newest entry (without it: the newest that was read just before)
    #[arg(short = 'c', long, value_name = "NUMBER")]
    pub expected: Option<u64>,
    /// Only say what would happen
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let query = get_reflog::Query { reference: Some(args.name.clone()), ..Default::default() };
    let newest = reflog::read(query, 1, session).await?.entries.into_iter().next();
    let newest =
        newest.ok_or_else(|| Error::NoLogEntry(args.name.clone(), args.entry.or(args.to).unwrap_or(1)))?;
    let (entry, side) = match (args.entry, args.to) {
        (_, Some(number)) => (number, Side::New),
        (entry, None) => (entry.unwrap_or(newest.number), Side::Old),
    };
    let expected_number = args.expected.unwrap_or(newest.number);
    let body = RestoreRequest { entry, side, expected_number, dry_run: args.dry_run };
    let path = RestoreReference::path(&args.name);
    let response = session.client.send_or_try::<RestoreReference>(args.dry_run, path, &(), &body).await?;
    Ok(Undone { response, before: newest, name: args.name.clone(), dry_run: args.dry_run }.into())
}

struct Undone {
    response: RestoreResponse,
    before: LogEntry,
    name: String,
    dry_run: bool,
}

impl Report for Undone {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let mut document = serde_json::to_value(&self.response)?;
        if let Some(object) = document.as_object_mut() {
            object.insert("dryRun".to_owned(), json!(self.dry_run));
            object.insert("previousHash".to_owned(), json!(self.before.new_hash));
        }
        Ok(document)
    }

    fn human(&self, page: &mut Page) {
        let name = page.name(&self.name);
        let kind =
            reflog::type_word(self.response.reference.as_ref().map_or(self.before.kind, |found| found.kind));
        let (old, new) =
            (self.before.new_hash.as_deref(), self.response.reference.as_ref().map(|r| r.hash.as_str()));
        if old == new {
            let at = old.map_or_else(
                || "does not exist".to_owned(),
                |hash| format!("is at {}", page.head(Some(hash))),
            );
            return page.line(&format!("Nothing to undo: {kind} {name} {at} already"));
        }
        let would = if self.dry_run { "Would have " } else { "" };
        let capital = |word: &str| if self.dry_run { word.to_lowercase() } else { word.to_owned() };
        page.line(&match (old, new) {
            (None, Some(new)) => {
                format!("{would}{} {kind} {name} at {}", capital("Restored"), page.head(Some(new)))
            }
            (Some(old), None) => {
                format!("{would}{} {kind} {name}, which was at {}", capital("Deleted"), page.head(Some(old)))
            }
            _ => format!(
                "{would}{} {name} back from {} to {}",
                capital("Moved"),
                page.head(old),
                page.head(new)
            ),
        });
        if self.response.changed {
            let text = page.paint(style::FAINT, "To undo that:");
            page.line(&text);
            page.line(&format!("  lochan undo {}", self.name));
        }
    }
}
