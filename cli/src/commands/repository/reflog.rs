//! `reflog`

use lochan_api_spec::ext::get_reflog::{self, PAGE_ENTRIES_MAX};
use lochan_api_spec::ext::model::{LogEntry, LogOperation, RefType};
use lochan_api_spec::ext::{GetReflog, get_reflog::Reflog};
use serde_json::Value;

use crate::args::time::{self, When};
use crate::args::{how_many, point};
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{Page, pad, style, widest};

/// How many entries are shown when nobody said how many.
const ENTRIES_DEFAULT: usize = 50;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A branch or tag, perhaps deleted (without it: all of them)
    #[arg(value_parser = point::parse_name)]
    pub name: Option<String>,
    /// At most this many entries; 0 is all of them
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = ENTRIES_DEFAULT, allow_negative_numbers = true, value_parser = how_many)]
    pub number: usize,
    /// Only changes of this kind, such as assign or delete; may be repeated
    #[arg(long, value_name = "KIND", value_parser = operation)]
    pub operation: Vec<LogOperation>,
    /// Only changes made by this principal
    #[arg(long, value_name = "NAME")]
    pub principal: Option<String>,
    /// Only changes made at or after this time: '2026-05-01 10:20' (local time, unless a zone is written: Z, +02:00),
    /// 2026-05-01, '2 hours ago', yesterday
    #[arg(long, visible_alias = "after", value_name = "TIME", value_parser = time::parse)]
    pub since: Option<When>,
    /// Only changes made at or before this time
    #[arg(long, visible_alias = "before", value_name = "TIME", value_parser = time::parse)]
    pub until: Option<When>,
}

fn operation(text: &str) -> Result<LogOperation, String> {
    LogOperation::parse(text).ok_or_else(|| {
        let words: Vec<String> = LogOperation::ALL.iter().map(|o| o.as_str().to_ascii_lowercase()).collect();
        format!("a kind is one of {}", words.join(", "))
    })
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let query = get_reflog::Query {
        reference: args.name.clone(),
        operations: args.operation.iter().map(|operation| operation.as_str().to_owned()).collect(),
        principal: args.principal.clone(),
        since: args.since.map(|when| session.time(when).to_string()),
        until: args.until.map(|when| session.time(when).to_string()),
        ..Default::default()
    };
    let most = if args.number == 0 { usize::MAX } else { args.number };
    Ok(Shown { log: read(query, most, session).await? }.into())
}

/// The newest entries.
pub async fn read(mut query: get_reflog::Query, most: usize, session: &Session) -> Result<Reflog, Error> {
    let mut all = Reflog { has_more: true, token: None, entries: Vec::new() };
    while all.has_more && all.entries.len() < most {
        let wanted = (most - all.entries.len()).min(PAGE_ENTRIES_MAX);
        query.max_records = i32::try_from(wanted).ok();
        query.page_token = all.token.take();
        let page = session.client.ask::<GetReflog>(GetReflog::path(), &query).await?;
        all.has_more = page.has_more && page.token.is_some();
        all.token = page.token;
        all.entries.extend(page.entries);
    }
    Ok(all)
}

/// `branch` or `tag`.
pub fn type_word(kind: RefType) -> &'static str {
    match kind {
        RefType::Branch => "branch",
        RefType::Tag => "tag",
    }
}

/// Where an entry leads: `a54a5ecbdd44 → 3c4956caa68d`; nothing on one side is no reference.
pub fn way(page: &Page, entry: &LogEntry) -> String {
    let side = |hash: Option<&String>| match hash {
        Some(hash) => page.head(Some(hash)),
        None => page.paint(style::FAINT, "nothing"),
    };
    format!("{} → {}", side(entry.old_hash.as_ref()), side(entry.new_hash.as_ref()))
}

struct Shown {
    log: Reflog,
}

impl Report for Shown {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.log)
    }

    fn human(&self, page: &mut Page) {
        let entries = &self.log.entries;
        if entries.is_empty() {
            let text = page.paint(style::FAINT, "No changes.");
            return page.line(&text);
        }
        let names = widest(entries.iter().map(|entry| entry.reference.as_str()));
        let numbers: Vec<String> = entries.iter().map(|entry| entry.number.to_string()).collect();
        let digits = widest(numbers.iter().map(String::as_str));
        let ways: Vec<String> = entries.iter().map(|entry| way(page, entry)).collect();
        let ways_width = widest(ways.iter().map(String::as_str));
        for ((entry, number), way) in entries.iter().zip(&numbers).zip(&ways) {
            let operation = entry.operation.as_str().to_ascii_lowercase();
            let colour = match entry.operation {
                LogOperation::Delete => style::REMOVED,
                LogOperation::Create | LogOperation::Import => style::ADDED,
                LogOperation::Commit | LogOperation::Merge | LogOperation::Transplant => style::FAINT,
                _ => style::CHANGED,
            };
            let mut line = format!(
                "{}  {}{number}  {}  {}  {}",
                page.name(&pad(&entry.reference, names)),
                " ".repeat(digits.saturating_sub(number.len())),
                page.paint(colour, &pad(&operation, 10)),
                pad(way, ways_width),
                page.paint(style::FAINT, &page.ago(entry.time)),
            );
            if !entry.principal.is_empty() {
                line.push_str(&format!("  {}", entry.principal));
            }
            page.line(&line);
        }
        if self.log.has_more {
            let text = format!("{} shown; older ones with -n", entries.len());
            let text = page.paint(style::FAINT, &text);
            page.line(&text);
        }
    }

    fn long(&self) -> bool {
        true
    }
}
