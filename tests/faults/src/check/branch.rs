//! A branch with many writers: every acknowledged commit is in its history, whole, once, and nothing else is.

use std::collections::{BTreeMap, BTreeSet};

use super::{Violation, touched};
use crate::record::{Action, CommitHash, Event, Key, Logged, Model, Observed, Outcome, Put};

pub(super) fn check(
    model: &Model,
    branch: &str,
    events: &[Event],
    observed: &Observed,
    violations: &mut Vec<Violation>,
) {
    let events: Vec<&Event> = events.iter().filter(|e| e.action.reference() == branch).collect();
    let commits = observed.walks.get(branch).map(|w| w.commits.as_slice()).unwrap_or_default();
    chain(model, branch, commits, observed, violations);
    let in_history: BTreeSet<&CommitHash> = commits.iter().map(|c| &c.hash).collect();
    let left_behind = resets(branch, &events, &in_history, observed, violations);
    for event in &events {
        if let Some(hash) = event.acknowledged_commit()
            && !in_history.contains(hash)
            && !left_behind.contains(hash)
        {
            violations.push(Violation::Lost {
                branch: branch.to_owned(),
                id: event.id.clone(),
                hash: hash.clone(),
            });
        }
    }
    explained(branch, &events, commits, violations);
    tables(model, branch, &events, observed, violations);
}

/// The log is a chain down to where the branch was.
fn chain(
    model: &Model,
    branch: &str,
    commits: &[Logged],
    observed: &Observed,
    violations: &mut Vec<Violation>,
) {
    let before = model.head(branch);
    if !observed.walks.get(branch).is_some_and(|w| w.reached)
        && let Some(before) = before
    {
        violations.push(Violation::HistoryCut { branch: branch.to_owned(), hash: before.clone() });
    }
    let head = observed.references.get(branch).map(|p| &p.hash);
    let first = commits.first().map(|c| &c.hash).or(before);
    if let (Some(head), Some(first)) = (head, first)
        && head != first
    {
        violations.push(Violation::BrokenChain { branch: branch.to_owned(), hash: head.clone() });
    }
    let next = commits.iter().skip(1).map(|c| &c.hash).chain(before);
    for (commit, next) in commits.iter().zip(next) {
        if commit.parents.first() != Some(next) {
            violations.push(Violation::BrokenChain { branch: branch.to_owned(), hash: commit.hash.clone() });
        }
    }
}

/// Commits that resets may have left behind; what an acknowledged one left behind must stay there.
fn resets<'a>(
    branch: &str,
    events: &[&Event],
    in_history: &BTreeSet<&CommitHash>,
    observed: &'a Observed,
    violations: &mut Vec<Violation>,
) -> BTreeSet<&'a CommitHash> {
    let mut all = BTreeSet::new();
    for event in events {
        if !matches!(event.action, Action::Assign { .. }) || event.outcome == Outcome::Refused {
            continue;
        }
        let left = observed.left_behind.get(&event.id).map(Vec::as_slice).unwrap_or_default();
        all.extend(left);
        let back = left.iter().find(|hash| in_history.contains(hash));
        if let (Outcome::Acknowledged(_), Some(hash)) = (&event.outcome, back) {
            violations.push(Violation::ResetUndone {
                branch: branch.to_owned(),
                id: event.id.clone(),
                hash: hash.clone(),
            });
        }
    }
    all
}

/// Every commit of the history is one that was asked for, whole, and only once.
fn explained(branch: &str, events: &[&Event], commits: &[Logged], violations: &mut Vec<Violation>) {
    let by_id: BTreeMap<&str, &Event> =
        events.iter().filter(|e| e.action.makes_commit()).map(|e| (e.id.as_str(), *e)).collect();
    let mut seen = BTreeSet::new();
    for commit in commits {
        let name = || (branch.to_owned(), commit.message.clone(), commit.hash.clone());
        let Some(event) = by_id.get(commit.message.as_str()) else {
            let (branch, message, hash) = name();
            violations.push(Violation::Unasked { branch, hash, message });
            continue;
        };
        let (branch, id, hash) = name();
        let other_hash = event.acknowledged_commit().is_some_and(|h| *h != commit.hash);
        if event.outcome == Outcome::Refused {
            violations.push(Violation::RefusedApplied { branch, id, hash });
        } else if other_hash || !seen.insert(&event.id) {
            violations.push(Violation::Twice { branch, id, hash });
        } else if let Some(text) = difference(&event.action, commit) {
            violations.push(Violation::NotWhole { branch, id, hash, text });
        }
    }
}

/// How a commit differs from what was asked for.
pub(super) fn difference(action: &Action, commit: &Logged) -> Option<String> {
    let sorted = |puts: &[Put]| {
        let mut puts = puts.to_vec();
        puts.sort();
        puts
    };
    let (asked, found) = (sorted(action.puts()), sorted(&commit.puts));
    if asked != found {
        let show = |puts: &[Put]| {
            let shown: Vec<String> = puts.iter().map(|p| format!("{}={}", p.key, p.version)).collect();
            shown.join(" ")
        };
        return Some(format!("puts [{}] instead of [{}]", show(&found), show(&asked)));
    }
    match action {
        Action::Merge { source, .. } if commit.parents.get(1) != Some(source) => {
            Some(format!("merge parent {:?} instead of {source}", commit.parents.get(1)))
        }
        Action::Commit { .. } if commit.parents.len() != 1 => {
            Some(format!("{} parents instead of one", commit.parents.len()))
        }
        _ => None,
    }
}

/// Tables at the head as the history gives them.
pub(super) fn replay(model: &Model, branch: &str, observed: &Observed) -> BTreeMap<Key, i64> {
    let mut versions = model.versions.get(branch).cloned().unwrap_or_default();
    let commits = observed.walks.get(branch).map(|w| w.commits.as_slice()).unwrap_or_default();
    for put in commits.iter().rev().flat_map(|c| &c.puts) {
        versions.insert(put.key.clone(), put.version);
    }
    versions
}

fn tables(
    model: &Model,
    branch: &str,
    events: &[&Event],
    observed: &Observed,
    violations: &mut Vec<Violation>,
) {
    let expected = replay(model, branch, observed);
    let empty = BTreeMap::new();
    let found = observed.versions.get(branch).unwrap_or(&empty);
    let events: Vec<Event> = events.iter().map(|e| (*e).clone()).collect();
    for key in touched(branch, &events) {
        let (expected, found) = (expected.get(&key).copied(), found.get(&key).copied());
        if expected != found {
            violations.push(Violation::WrongTable { branch: branch.to_owned(), key, expected, found });
        }
    }
}
