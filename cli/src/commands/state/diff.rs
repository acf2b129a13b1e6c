//! `diff`

use lochan_api_spec::nessie::model::{Content, ContentKey, DiffResponseV2, ReferenceV2};
use lochan_api_spec::nessie::v2::trees::get_diff;
use lochan_api_spec::syntax::RefSpec;
use serde_json::Value;

use crate::args::{key, point};
use crate::commands::{Done, Session, parse_point};
use crate::error::{Error, count};
use crate::output::page::{HASH_DIGITS_SHORT, Page, columns, pad, style, widest};
use crate::output::{Report, changes, kind_word, summary};

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The state to begin with: a branch, a tag or a commit; alone it is the one to end with
    pub from: String,
    /// The state to end with
    pub to: Option<String>,
    /// Only these keys; may be repeated
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub key: Vec<ContentKey>,
    /// Only this key and keys below it
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub prefix: Option<ContentKey>,
    /// Only keys that a CEL expression is true of
    #[arg(long, value_name = "CEL")]
    pub filter: Option<String>,
    /// Only the keys, without what changed
    #[arg(long)]
    pub names: bool,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let (from, to) = match &args.to {
        Some(to) => (parse_point(&args.from)?, parse_point(to)?),
        None => (session.here.clone(), parse_point(&args.from)?),
    };
    let states = tokio::try_join!(session.client.complete(&from), session.client.complete(&to))?;
    let query = get_diff::Query {
        keys: args.key.iter().map(ContentKey::to_escaped).collect(),
        prefix_key: args.prefix.as_ref().map(ContentKey::to_escaped),
        filter: args.filter.clone(),
        ..Default::default()
    };
    let diff = session.client.diff(&states.0, &states.1, query).await?;
    Ok(Diff { diff, from, to, names: args.names }.into())
}

struct Diff {
    diff: DiffResponseV2,
    from: RefSpec,
    to: RefSpec,
    names: bool,
}

/// How a state is called: as it was asked for, since steps lead away from a reference's head.
fn called(asked: &RefSpec, found: &ReferenceV2, page: &Page) -> String {
    if asked.parts.is_empty() {
        return page.state(found);
    }
    format!("{} ({})", page.name(&point::show(asked, HASH_DIGITS_SHORT)), page.head(found.hash.as_deref()))
}

impl Report for Diff {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.diff)
    }

    fn human(&self, page: &mut Page) {
        let from = called(&self.from, &self.diff.effective_from_reference, page);
        let to = called(&self.to, &self.diff.effective_to_reference, page);
        if self.diff.diffs.is_empty() {
            return page.line(&format!("No difference from {from} to {to}"));
        }
        page.line(&format!("From {from} to {to}"));
        page.gap();
        let (mut came, mut went, mut changed) = (0, 0, 0);
        for entry in &self.diff.diffs {
            match (&entry.from, &entry.to) {
                (None, Some(content)) => {
                    came += 1;
                    self.one_side(page, style::ADDED, "+", &entry.key, content);
                }
                (Some(content), None) => {
                    went += 1;
                    self.one_side(page, style::REMOVED, "-", &entry.key, content);
                }
                (Some(from), Some(to)) => {
                    changed += 1;
                    self.both_sides(page, &entry.key, from, to);
                }
                (None, None) => {}
            }
        }
        page.gap();
        let parts: Vec<String> = [(came, "added"), (went, "removed"), (changed, "changed")]
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| format!("{n} {word}"))
            .collect();
        page.line(&format!("{}: {}", count(self.diff.diffs.len(), "key", "keys"), parts.join(", ")));
    }

    fn long(&self) -> bool {
        true
    }
}

impl Diff {
    fn one_side(
        &self,
        page: &mut Page,
        style: anstyle::Style,
        sign: &str,
        key: &ContentKey,
        content: &Content,
    ) {
        let mut line = format!("{} {}", page.paint(style, sign), page.paint(style, &key::show(key)));
        if !self.names {
            line.push_str(&format!("  {}", page.paint(style::FAINT, &summary(content))));
        }
        page.line(&line);
    }

    fn both_sides(&self, page: &mut Page, key: &ContentKey, from: &Content, to: &Content) {
        let mut line = format!("{} {}", page.paint(style::CHANGED, "~"), page.key(key));
        if self.names {
            return page.line(&line);
        }
        line.push_str(&format!("  {}", page.paint(style::FAINT, kind_word(to.kind()))));
        page.line(&line);
        let changes = changes(from, to);
        let width = widest(changes.iter().map(|(name, ..)| *name));
        for (name, old, new) in changes {
            let name = page.paint(style::FAINT, &pad(name, width));
            let shown = |text: &str| if text.is_empty() { "(none)".to_owned() } else { text.to_owned() };
            let (old, new) = (shown(&old), shown(&new));
            // Two locations do not fit side by side.
            if width + 9 + columns(&old) + columns(&new) > page.columns() {
                let indent = " ".repeat(width + 6);
                page.line(&format!("    {name}  {}", page.paint(style::REMOVED, &old)));
                page.line(&format!("{indent}{}", page.paint(style::ADDED, &new)));
            } else {
                let line = format!(
                    "    {name}  {} → {}",
                    page.paint(style::REMOVED, &old),
                    page.paint(style::ADDED, &new)
                );
                page.line(&line);
            }
        }
    }
}
