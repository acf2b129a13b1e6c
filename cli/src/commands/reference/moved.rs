//! Moving a branch or tag, for `reset`, `assign` and `create --force`.

use lochan_api_spec::nessie::model::{Fetch, ReferenceKind, ReferenceV2};
use lochan_api_spec::nessie::v2::trees::{AssignReference, assign_reference, get_reference_by_name};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::DEFAULT_BRANCH_ALIAS;
use serde_json::{Value, json};

use super::create::input;
use super::left_behind::{self, LeftBehind};
use crate::client::Resolved;
use crate::commands::{Done, Session, kind_word};
use crate::error::{Error, count};
use crate::output::Report;
use crate::output::page::{Page, style};

/// How many of the commits left behind are listed for people.
const COMMITS_SHOWN_MAX: usize = 10;

/// A move that was asked for.
pub struct Move<'a> {
    /// `reset` or `assign`, as the command that undoes it is called.
    pub verb: &'static str,
    /// What the reference must be.
    pub kind: Option<ReferenceKind>,
    /// Its name.
    pub name: &'a str,
    /// The head that the user expects.
    pub expected: Option<&'a str>,
    /// Where to.
    pub to: Resolved,
}

/// Moves a reference from the head that was read. What is left behind is found out before.
pub async fn run(asked: Move<'_>, session: &Session) -> Result<Done, Error> {
    let query = get_reference_by_name::Query { fetch: Fetch::All };
    let head = session.client.reference(asked.name, &query).await?;
    if let Some(wanted) = asked.kind.filter(|kind| *kind != head.kind) {
        let (is, wanted) = (kind_word(head.kind), kind_word(wanted));
        let instead = format!("lochan {is} assign {} to POINT", asked.name);
        return Err(Error::WrongKind { name: asked.name.to_owned(), is, wanted, instead });
    }
    let name = head.name.clone().unwrap_or_else(|| asked.name.to_owned());
    let base = head.metadata.and_then(|metadata| metadata.common_ancestor_hash);
    let read = Resolved { name: head.name, kind: Some(head.kind), hash: head.hash.unwrap_or_default() };
    let old = session.expected(asked.expected, &read).await?;
    let from = RefSpec::at(name.clone(), old.clone());
    // Told beside the move; who may move a reference need not be able to read all of it.
    let left = left_behind::between(&session.client, &from, &asked.to.state(), base.as_deref()).await;
    let left = left.unwrap_or_default();
    // Sent even when nothing moves: the server checks the expected hash and the type.
    let query = assign_reference::Query { kind: asked.kind.map(|kind| kind.as_str().to_owned()) };
    let path = AssignReference::path(&from);
    let response = session.client.send::<AssignReference>(path, &query, &input(&asked.to)).await?;
    Ok(Moved { verb: asked.verb, reference: response.reference, name, old, left }.into())
}

struct Moved {
    verb: &'static str,
    reference: ReferenceV2,
    name: String,
    old: String,
    left: LeftBehind,
}

impl Moved {
    /// The command that moves it back.
    fn undo(&self) -> String {
        match (self.verb, self.reference.kind) {
            ("reset", _) => format!("lochan reset {} to {}", self.name, self.old),
            (_, kind) => format!("lochan {} assign {} {}", kind_word(kind), self.name, self.old),
        }
    }
}

impl Report for Moved {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({
            "reference": serde_json::to_value(&self.reference)?,
            "previousHash": self.old,
            "leftBehind": {
                "count": self.left.commits.len(),
                "complete": self.left.complete,
                "commits": serde_json::to_value(&self.left.commits)?,
                "stillOn": self.left.still_on.as_ref().map(|(name, count)| json!({ "name": name, "count": count })),
            },
            "undo": self.undo(),
        }))
    }

    fn human(&self, page: &mut Page) {
        let name = page.name(&self.name);
        let (old, new) = (page.head(Some(&self.old)), page.head(self.reference.hash.as_deref()));
        if self.reference.hash.as_deref() == Some(self.old.as_str()) {
            return page.line(&format!("{name} is at {new} already"));
        }
        page.line(&format!("Moved {name} from {old} to {new}"));
        let commits = &self.left.commits;
        if commits.is_empty() && self.left.complete {
            return page.line("Nothing is left behind.");
        }
        let at_least = if self.left.complete { "" } else { "At least " };
        let still_on = self.left.still_on.as_ref().map(|(name, count)| {
            let name = if name == DEFAULT_BRANCH_ALIAS { "the default branch" } else { name };
            let those =
                if *count == commits.len() { "all".to_owned() } else { format!("the oldest {count}") };
            format!(", {those} still on {}", page.name(name))
        });
        let still_on = still_on.unwrap_or_default();
        match commits.len() {
            0 => page.line("What is left behind could not be read."),
            n => {
                page.line(&format!(
                    "{at_least}{} left behind{still_on}:",
                    count(n, "commit is", "commits are")
                ));
            }
        }
        for meta in commits.iter().take(COMMITS_SHOWN_MAX) {
            page.commit_line("  ", meta);
        }
        if commits.len() > COMMITS_SHOWN_MAX {
            page.line(&format!("  … and {} more", commits.len() - COMMITS_SHOWN_MAX));
        }
        let back = if commits.len() == 1 { "To get it back:" } else { "To get them back:" };
        let text = page.paint(style::FAINT, if commits.is_empty() { "To move it back:" } else { back });
        page.line(&text);
        page.line(&format!("  {}", self.undo()));
    }
}
