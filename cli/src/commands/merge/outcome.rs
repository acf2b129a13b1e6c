//! What a merge or cherry-pick came to.

use lochan_api_spec::nessie::model::{Conflict, ContentKey, MergeBehavior, MergeDetailV2, MergeResponseV2};
use lochan_api_spec::syntax::RefSpec;
use serde_json::Value;

use super::Modes;
use super::conflicts::{self, TwoSided};
use crate::commands::{Done, Session};
use crate::error::{Error, MergeConflict, count};
use crate::output::Report;
use crate::output::page::{Page, pad, style, widest};

/// How many keys are listed for people.
const KEYS_SHOWN_MAX: usize = 50;

/// Merge or cherry-pick: the same answer, other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// One commit with everything.
    Merge,
    /// A commit for each.
    CherryPick,
}

impl Way {
    fn done(self) -> &'static str {
        match self {
            Self::Merge => "merged",
            Self::CherryPick => "cherry-picked",
        }
    }
}

/// An answer with what is needed to tell it.
pub struct Outcome {
    /// What was asked for.
    pub way: Way,
    /// The answer.
    pub response: MergeResponseV2,
    /// The command as typed, but for its modes.
    pub command: String,
    /// Those.
    pub modes: Modes,
    /// The source as the user calls it.
    pub source_name: String,
    /// Whether the source is a branch.
    pub source_is_branch: bool,
    /// The source's commit.
    pub source: RefSpec,
    /// The branch to be changed.
    pub target_name: String,
    /// Its head before.
    pub target: RefSpec,
    /// Whether it was only asked what would happen.
    pub dry_run: bool,
}

impl Outcome {
    /// How the source is called beside its target.
    fn side(&self) -> &str {
        match self.way {
            Way::Merge => &self.source_name,
            Way::CherryPick => "the source",
        }
    }
}

/// Looks into conflicts and gives the verdict: conflicts fail the command, in a dry run too.
pub async fn finish(mut outcome: Outcome, session: &Session) -> Result<Done, Error> {
    let in_conflict = |detail: &MergeDetailV2| -> Option<(ContentKey, Conflict)> {
        Some((detail.key.clone(), detail.conflict.clone()?))
    };
    outcome.response.details.sort_by(|a, b| a.key.cmp(&b.key));
    let found: Vec<_> = outcome.response.details.iter().filter_map(in_conflict).collect();
    let keys: Vec<ContentKey> = found.iter().map(|(key, _)| key.clone()).collect();
    let verdict = (!outcome.response.was_successful).then(|| {
        Error::Merge(Box::new(MergeConflict {
            done: outcome.way.done(),
            command: outcome.command.clone(),
            modes: outcome.modes.clone(),
            source_name: outcome.side().to_owned(),
            target: outcome.target_name.clone(),
            source_is_branch: outcome.source_is_branch,
            keys,
            conflicts: found.iter().map(|(_, conflict)| conflict.clone()).collect(),
        }))
    });
    let conflicts = if found.is_empty() {
        Vec::new()
    } else {
        let ancestor = outcome.response.common_ancestor.as_deref();
        conflicts::look_into(&session.client, found, &outcome.source, &outcome.target, ancestor).await
    };
    Ok(Done { report: Box::new(Told { outcome, conflicts }), verdict })
}

struct Told {
    outcome: Outcome,
    conflicts: Vec<TwoSided>,
}

impl Report for Told {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let mut document = serde_json::to_value(&self.outcome.response)?;
        if let Some(object) = document.as_object_mut() {
            object.insert("fromHash".to_owned(), serde_json::to_value(&self.outcome.source.hash)?);
            object.insert("dryRun".to_owned(), self.outcome.dry_run.into());
            object.insert("conflicts".to_owned(), serde_json::to_value(&self.conflicts)?);
        }
        Ok(document)
    }

    fn human(&self, page: &mut Page) {
        let Outcome { way, response, source_name, target_name, .. } = &self.outcome;
        let (source, target) = (page.name(source_name), page.name(target_name));
        // What is expected of the branch may be older than its head.
        let old = response.effective_target_hash.as_ref().or(self.outcome.target.hash.as_ref());
        let old = page.head(old.map(String::as_str));
        let merge = *way == Way::Merge;
        if !response.was_successful {
            let verb = if merge { "merge" } else { "cherry-pick" };
            page.line(&match self.outcome.dry_run {
                true => format!("Would not {verb} {source} into {target}, which stays at {old}"),
                false => format!("Nothing {} from {source} into {target}, still at {old}", way.done()),
            });
            page.gap();
            for conflict in self.conflicts.iter().take(KEYS_SHOWN_MAX) {
                conflict.human(page, self.outcome.side(), target_name);
            }
            self.and_more(page, self.conflicts.len());
            return page.gap();
        }
        let details = &response.details;
        let keys = count(details.len(), "key", "keys");
        if self.outcome.dry_run && !details.is_empty() {
            let would = if merge { "Would merge" } else { "Would cherry-pick" };
            page.line(&format!("{would} {source} into {target} without conflict: {keys}"));
        } else if response.was_applied {
            let new = page.head(response.resultant_target_hash.as_deref());
            let done = if merge { "Merged" } else { "Cherry-picked" };
            page.line(&format!("{done} {source} into {target}: {old} → {new}, {keys}"));
        } else {
            page.line(&format!("Nothing to be {} from {source}: {target} stays at {old}", way.done()));
        }
        let shown: Vec<(String, &MergeDetailV2)> =
            details.iter().take(KEYS_SHOWN_MAX).map(|detail| (page.key(&detail.key), detail)).collect();
        let width = widest(shown.iter().map(|(key, _)| key.as_str()));
        for (key, detail) in shown {
            let how = match detail.merge_behavior {
                MergeBehavior::Normal => String::new(),
                MergeBehavior::Force => page.paint(style::CHANGED, "the source's state, by FORCE"),
                MergeBehavior::Drop => page.paint(style::CHANGED, "left as it was, by DROP"),
            };
            page.line(&format!("  {}  {how}", pad(&key, width)));
        }
        self.and_more(page, details.len());
    }
}

impl Told {
    fn and_more(&self, page: &mut Page, all: usize) {
        if all > KEYS_SHOWN_MAX {
            page.line(&format!("  … and {} more (--json lists them)", all - KEYS_SHOWN_MAX));
        }
    }
}
