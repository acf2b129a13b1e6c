//! `branch list`, `tag list`

use lochan_api_spec::nessie::model::{CommitMetaV2, Fetch, ReferenceKind, ReferenceV2, ReferencesResponse};
use lochan_api_spec::nessie::v2::config::GetConfig;
use lochan_api_spec::nessie::v2::trees::get_all_references;
use serde_json::Value;

use crate::commands::{Done, Session, cel, kind_word};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{AGE_COLUMNS, Page, SUBJECT_COLUMNS_MIN, columns, first_line, pad, style, widest};

/// Columns to which names are filled at most.
const NAME_COLUMNS_FILLED_MAX: usize = 32;

/// In front of a message that has a line of its own.
const INDENT: &str = "          ";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only names that begin with this
    pub prefix: Option<String>,
    /// Branches and tags together
    #[arg(short, long)]
    pub all: bool,
    /// Also show how far each is from the default branch, and its newest commit
    #[arg(short = 'x', long)]
    pub extended: bool,
    /// Only those a CEL expression is true of, such as "commit.author == 'ann'"
    #[arg(long, value_name = "CEL")]
    pub filter: Option<String>,
}

pub async fn run(kind: ReferenceKind, args: &Args, session: &Session) -> Result<Done, Error> {
    let prefix = args.prefix.as_deref().map(|prefix| format!("ref.name.startsWith({})", cel::text(prefix)));
    let own = args.filter.as_ref().map(|filter| format!("({filter})"));
    let query = get_all_references::Query {
        // A filter over commits sees them only when they are fetched.
        fetch: if args.extended || own.is_some() { Fetch::All } else { Fetch::Minimal },
        filter: cel::all_of([(!args.all).then(|| format!("refType == '{kind}'")), prefix, own]),
        ..Default::default()
    };
    let (found, config) = tokio::join!(
        session.client.references(query),
        session.client.ask::<GetConfig>(GetConfig::path(), &())
    );
    let mut found = found?;
    found.references.retain(|reference| args.all || reference.kind == kind);
    if !args.extended {
        for reference in &mut found.references {
            reference.metadata = None;
        }
    }
    Ok(References { kind, found, default_branch: config?.default_branch }.into())
}

struct References {
    kind: ReferenceKind,
    found: ReferencesResponse<CommitMetaV2>,
    default_branch: String,
}

impl Report for References {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.found)
    }

    fn human(&self, page: &mut Page) {
        let references = &self.found.references;
        if references.is_empty() {
            let plural = if self.kind == ReferenceKind::Tag { "tags" } else { "branches" };
            let text = page.paint(style::FAINT, &format!("No {plural}."));
            return page.line(&text);
        }
        let mixed = references.iter().any(|reference| reference.kind != self.kind);
        let names = references.iter().filter_map(|reference| reference.name.as_deref());
        // A name that is much longer than the others stands out rather than to move them all.
        let width = widest(names.filter(|name| columns(name) <= NAME_COLUMNS_FILLED_MAX));
        let mut lines = Vec::with_capacity(references.len());
        for reference in references {
            let name = reference.name.as_deref().unwrap_or_default();
            let star = if reference.kind == ReferenceKind::Branch && name == self.default_branch {
                "* "
            } else {
                "  "
            };
            let head = page.head(reference.hash.as_deref());
            let kind = if mixed {
                page.paint(style::FAINT, &pad(kind_word(reference.kind), 8))
            } else {
                String::new()
            };
            let front = format!("{star}{kind}{}  {head}", page.name(&pad(name, width)));
            lines.push((front, extended(page, reference)));
        }
        write(page, lines);
    }

    fn long(&self) -> bool {
        true
    }
}

/// What stands behind a reference and its head: distance, newest message, age.
struct Extended {
    distance: String,
    message: String,
    age: String,
}

fn extended(page: &Page, reference: &ReferenceV2) -> Option<Extended> {
    let metadata = reference.metadata.as_ref()?;
    let distance = match (metadata.num_commits_ahead, metadata.num_commits_behind) {
        (Some(ahead), Some(behind)) => format!("+{ahead} -{behind}"),
        _ => String::new(),
    };
    let head = metadata.commit_meta_of_head.as_ref();
    let message = head.map(|meta| page.message(&meta.message)).unwrap_or_default();
    let age = head.and_then(|meta| meta.commit_time).map(|at| page.ago(at)).unwrap_or_default();
    Some(Extended { distance, message, age })
}

/// Writes lines whose parts stand below each other. Where names leave no room for messages, these get lines of their own.
fn write(page: &mut Page, lines: Vec<(String, Option<Extended>)>) {
    let all = || lines.iter().filter_map(|(_, extended)| extended.as_ref());
    let distance = widest(all().map(|extended| extended.distance.as_str()));
    let front = widest(lines.iter().map(|(front, _)| front.as_str())) + 2 + distance;
    let room = |taken: usize| page.columns().saturating_sub(taken + 4 + AGE_COLUMNS);
    let beside = room(front) >= SUBJECT_COLUMNS_MIN;
    let room = if beside { room(front) } else { room(INDENT.len()) };
    let messages: Vec<String> = all().map(|extended| first_line(&extended.message, room)).collect();
    let width = widest(messages.iter().map(String::as_str));
    let mut messages = messages.into_iter();
    for (front, extended) in lines {
        let Some(Extended { distance: steps, age, .. }) = extended else {
            page.line(&front);
            continue;
        };
        let front = format!("{front}  {}", page.paint(style::CHANGED, &pad(&steps, distance)));
        let age = page.paint(style::FAINT, &age);
        let behind = format!("{}  {age}", pad(&messages.next().unwrap_or_default(), width));
        if beside {
            page.line(&format!("{front}  {behind}"));
        } else {
            page.line(&front);
            page.line(&format!("{INDENT}{behind}"));
        }
    }
}

/// A branch or tag on its own, as `show` has it.
pub struct One {
    /// The reference, with metadata.
    pub reference: ReferenceV2,
    /// The default branch's name.
    pub default_branch: String,
}

impl Report for One {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(serde_json::json!({ "reference": serde_json::to_value(&self.reference)? }))
    }

    fn human(&self, page: &mut Page) {
        const WIDTH: usize = 10;
        let name = self.reference.name.as_deref().unwrap_or_default();
        let default = if name == self.default_branch { " (default)" } else { "" };
        let title = format!("{} {}{default}", kind_word(self.reference.kind), page.name(name));
        page.line(&title);
        // There is room here, and this is where people come for the whole hash.
        let hash = page.paint(style::HASH, self.reference.hash.as_deref().unwrap_or_default());
        page.field(WIDTH, "Hash", &hash);
        let Some(metadata) = &self.reference.metadata else {
            return page.field(WIDTH, "Commits", "none");
        };
        if let Some(total) = metadata.num_total_commits {
            page.field(WIDTH, "Commits", &total.to_string());
        }
        if let (Some(ahead), Some(behind)) = (metadata.num_commits_ahead, metadata.num_commits_behind) {
            page.field(
                WIDTH,
                "Distance",
                &format!("{ahead} ahead of {0}, {behind} behind", self.default_branch),
            );
        }
        if let Some(hash) = &metadata.common_ancestor_hash {
            let hash = page.head(Some(hash));
            page.field(WIDTH, "Begins at", &hash);
        }
        if let Some(meta) = &metadata.commit_meta_of_head {
            let head = page.commit_text(WIDTH + 1, meta, false);
            page.field(WIDTH, "Head", &head);
        }
    }
}
