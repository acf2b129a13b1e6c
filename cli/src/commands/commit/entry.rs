//! One commit as people read it, in logs and alone.

use std::collections::HashMap;

use lochan_api_spec::nessie::model::{CommitMetaV2, LogEntryV2, Operation, ReferenceKind, ReferenceV2};
use serde_json::Value;

use crate::commands::kind_word;
use crate::output::page::{Page, columns, style};
use crate::output::{Report, summary};

/// Columns that `, … 12 more` takes.
const MORE_COLUMNS: usize = 11;

/// Names of references by the hash of their head.
pub type Names = HashMap<String, Vec<(ReferenceKind, String)>>;

/// The names at each head.
pub fn names(references: &[ReferenceV2]) -> Names {
    let mut names = Names::new();
    for reference in references {
        if let (Some(hash), Some(name)) = (&reference.hash, &reference.name) {
            names.entry(hash.clone()).or_default().push((reference.kind, name.clone()));
        }
    }
    names
}

/// The names at a commit, in brackets; of those that do not fit into `most` columns the first alone is shown.
pub fn decoration(page: &Page, names: &Names, meta: &CommitMetaV2, most: usize) -> String {
    let Some(here) = meta.hash.as_ref().and_then(|hash| names.get(hash)) else { return String::new() };
    let word = |(kind, name): &(ReferenceKind, String)| match kind {
        ReferenceKind::Tag => format!("{} {}", kind_word(*kind), page.name(name)),
        _ => page.name(name),
    };
    let mut out = String::new();
    for (shown, name) in here.iter().enumerate() {
        let longer = format!("{out}{}{}", if shown > 0 { ", " } else { "" }, word(name));
        let rest = if shown + 1 < here.len() { MORE_COLUMNS } else { 0 };
        if shown > 0 && columns(&longer) + rest + 3 > most {
            out.push_str(&format!(", … {} more", here.len() - shown));
            break;
        }
        out = longer;
    }
    format!(" ({out})")
}

/// Writes a commit: hash and names, who, when, message, and what it did when that was fetched.
pub fn write(page: &mut Page, entry: &LogEntryV2, names: &Names) {
    const WIDTH: usize = 8;
    let meta = &entry.commit_meta;
    let hash = meta.hash.as_deref().unwrap_or_default();
    let title = format!("{} {}", page.paint(style::HASH, "commit"), page.hash(hash));
    let room = page.columns().saturating_sub(columns(&title));
    let title = format!("{title}{}", decoration(page, names, meta, room));
    page.line(&title);
    if meta.parent_commit_hashes.len() > 1 {
        let parents: Vec<String> = meta.parent_commit_hashes.iter().map(|hash| page.hash(hash)).collect();
        page.field(WIDTH, "Merge", &parents.join(" "));
    }
    let authors: Vec<&str> = meta.authors.iter().map(String::as_str).filter(|a| !a.is_empty()).collect();
    if !authors.is_empty() {
        page.field(WIDTH, "Author", &authors.join(", "));
    }
    if let Some(committer) = meta.committer.as_deref().filter(|c| !c.is_empty() && authors != [*c]) {
        page.field(WIDTH, "Commit", committer);
    }
    if let Some(at) = meta.commit_time {
        let time = page.time(at);
        page.field(WIDTH, "Date", &time);
    }
    for (name, values) in &meta.all_properties {
        page.field(WIDTH, "Property", &format!("{name} = {}", values.join(", ")));
    }
    page.gap();
    let message = page.message(&meta.message);
    page.prose("    ", &message);
    if let Some(operations) = &entry.operations {
        page.gap();
        for operation in operations {
            let line = operation_line(page, &operation.0);
            page.line(&format!("    {line}"));
        }
    }
}

/// An operation in one line.
pub fn operation_line(page: &Page, operation: &Operation) -> String {
    match operation {
        Operation::Put { key, content } => format!(
            "{} {}  {}",
            page.paint(style::ADDED, "put   "),
            page.key(key),
            page.paint(style::FAINT, &summary(content))
        ),
        Operation::Delete { key } => format!("{} {}", page.paint(style::REMOVED, "delete"), page.key(key)),
        Operation::Unchanged { key } => format!("{} {}", page.paint(style::CHANGED, "keep  "), page.key(key)),
    }
}

/// A commit on its own, as `show` has it.
pub struct One {
    /// The commit with its operations.
    pub entry: LogEntryV2,
    /// Names at heads.
    pub names: Names,
}

impl Report for One {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.entry)
    }

    fn human(&self, page: &mut Page) {
        write(page, &self.entry, &self.names);
    }

    fn long(&self) -> bool {
        true
    }
}
