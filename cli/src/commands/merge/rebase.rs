//! `rebase dev onto main`

use std::collections::HashMap;

use lochan_api_spec::ext::RebaseBranch;
use lochan_api_spec::ext::rebase_branch::{RebaseOutcome, RebaseRequest, RebaseResponse};
use lochan_api_spec::nessie::model::{CommitMetaV2, Conflict, ContentKey};
use lochan_api_spec::syntax::RefSpec;
use serde_json::Value;

use super::Modes;
use super::conflicts::{self, TwoSided};
use crate::args::target;
use crate::commands::{Done, Session};
use crate::error::{Error, MergeConflict, count};
use crate::output::Report;
use crate::output::page::{Page, first_line, pad, style};

/// How many commits and conflicts are listed for people.
const SHOWN_MAX: usize = 50;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
#[command(override_usage = "lochan rebase [OPTIONS] <BRANCH> [onto <REFERENCE>]")]
pub struct Args {
    /// The branch whose commits are made again
    pub branch: String,
    /// The word `onto` and a branch or tag (without them: the default branch)
    #[arg(value_name = "onto REFERENCE", num_args = 0..=2)]
    pub words: Vec<String>,
    /// The same as an option
    #[arg(long, value_name = "REFERENCE", conflicts_with = "words")]
    pub onto: Option<String>,
    /// Only when the branch's head is this commit (without it: the head read just before)
    #[arg(long, short = 'c', value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
    /// Only say what would happen
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// What happens to conflicts.
    #[command(flatten)]
    pub modes: Modes,
}

impl Args {
    /// The reference to rebase on, if one was named.
    pub fn onto(&self) -> Result<Option<String>, Error> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let text = match (words.as_slice(), self.onto.as_deref()) {
            ([], None) => return Ok(None),
            ([], Some(text)) => text,
            (["onto", text], None) => *text,
            _ => {
                let words = words.join(" ");
                let message = format!("'{words}' does not follow; say `lochan rebase BRANCH onto REFERENCE`");
                return Err(Error::Usage(message));
            }
        };
        target::branch_name(text).map(Some)
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let branch = RefSpec::named(session.branch(Some(&args.branch))?);
    let onto = RefSpec::named(session.branch(args.onto()?.as_deref())?);
    let (mut head, base) = tokio::try_join!(session.client.resolve(&branch), session.client.resolve(&onto))?;
    head.hash = session.expected(args.expected.as_deref(), &head).await?;
    let (source, target) = (head.state(), base.state());
    let (name, onto) = (head.name.unwrap_or_default(), base.name.unwrap_or_default());
    let body = RebaseRequest {
        expected_hash: head.hash.clone(),
        onto: onto.clone(),
        onto_hash: base.hash.clone(),
        key_merge_modes: args.modes.keys(),
        default_key_merge_mode: args.modes.mode,
        dry_run: args.dry_run,
        return_conflict_as_result: true,
    };
    let path = RebaseBranch::path(&name);
    let response = session.client.send_or_try::<RebaseBranch>(args.dry_run, path, &(), &body).await?;
    let found: Vec<(ContentKey, Conflict)> = response
        .details
        .iter()
        .filter_map(|detail| Some((detail.key.clone(), detail.conflict.clone()?)))
        .collect();
    let verdict = (!response.was_successful).then(|| {
        Error::Merge(Box::new(MergeConflict {
            done: "rebased",
            command: super::typed(
                &["lochan", "rebase", &name, "onto", &onto],
                [("--expected", args.expected.as_deref())],
            ),
            modes: args.modes.clone(),
            source_name: name.clone(),
            target: onto.clone(),
            source_is_branch: false,
            keys: found.iter().map(|(key, _)| key.clone()).collect(),
            conflicts: found.iter().map(|(_, conflict)| conflict.clone()).collect(),
        }))
    });
    let ancestor = Some(response.common_ancestor.as_str());
    let (conflicts, commits) = tokio::join!(
        conflicts::look_into(&session.client, found, &source, &target, ancestor),
        session.client.log(&source, Default::default(), response.commits.len().clamp(1, SHOWN_MAX))
    );
    // Messages are an ornament.
    let commits = commits.map(|log| log.log_entries).unwrap_or_default().into_iter();
    let commits =
        commits.filter_map(|entry| Some((entry.commit_meta.hash.clone()?, entry.commit_meta))).collect();
    Ok(Done {
        report: Box::new(Rebased { response, conflicts, commits, onto, dry_run: args.dry_run }),
        verdict,
    })
}

struct Rebased {
    response: RebaseResponse,
    conflicts: Vec<TwoSided>,
    commits: HashMap<String, CommitMetaV2>,
    onto: String,
    dry_run: bool,
}

impl Report for Rebased {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let mut document = serde_json::to_value(&self.response)?;
        if let Some(object) = document.as_object_mut() {
            object.insert("dryRun".to_owned(), self.dry_run.into());
            object.insert("onto".to_owned(), self.onto.clone().into());
            object.insert("conflicts".to_owned(), serde_json::to_value(&self.conflicts)?);
        }
        Ok(document)
    }

    fn human(&self, page: &mut Page) {
        let response = &self.response;
        let (branch, onto) = (page.name(&response.branch), page.name(&self.onto));
        let old = page.head(Some(&response.old_hash));
        let commits = count(response.commits.len(), "commit", "commits");
        // A branch without commits of its own is moved forward.
        let forward = response.commits.is_empty();
        match (&response.new_hash, response.was_successful) {
            (_, false) => {
                page.line(&format!("Not rebased: {branch} onto {onto}, still at {old}"));
                page.gap();
                for conflict in self.conflicts.iter().take(SHOWN_MAX) {
                    conflict.human(page, &response.branch, &self.onto);
                }
                return page.gap();
            }
            (None, true) if forward => page.line(&format!("Would move {branch} forward to {onto}")),
            (None, true) => {
                page.line(&format!("Would rebase {branch} onto {onto} without conflict: {commits}"));
            }
            (Some(new), true) if response.was_applied && forward => {
                let new = page.head(Some(new));
                page.line(&format!("Moved {branch} forward to {onto}: {old} → {new}"));
            }
            (Some(new), true) if response.was_applied => {
                let new = page.head(Some(new));
                page.line(&format!("Rebased {branch} onto {onto}: {old} → {new}, {commits}"));
            }
            _ => page.line(&format!("Nothing to rebase: {branch} stays at {old}")),
        }
        for commit in response.commits.iter().rev().take(SHOWN_MAX) {
            let message =
                self.commits.get(&commit.old_hash).map(|meta| meta.message.as_str()).unwrap_or_default();
            let outcome = match (&commit.outcome, &commit.new_hash) {
                (RebaseOutcome::Picked, Some(new)) => page.hash(new),
                (RebaseOutcome::Picked, None) => page.paint(style::FAINT, &pad("made again", 12)),
                (RebaseOutcome::Contained, _) => page.paint(style::FAINT, &pad("left out", 12)),
                (RebaseOutcome::Conflict, _) => page.paint(style::ERROR, &pad("conflict", 12)),
            };
            let message = first_line(&page.message(message), page.message_columns(34));
            page.line(&format!("  {} → {outcome}  {message}", page.hash(&commit.old_hash)));
        }
        if response.commits.len() > SHOWN_MAX {
            page.line(&format!("  … and {} more (--json lists them)", response.commits.len() - SHOWN_MAX));
        }
    }
}
