//! From a history to calls and transactions, and what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{self, Object, Transaction};
use super::linear::{self, Action, Call};
use super::record::{Answer, Ask, Event, History, Values};
use crate::record::{CommitHash, Logged, Put};

/// Most faults told of one history.
const FAULTS_MAX: usize = 20;

/// Everything that no order of the requests explains, for people; empty when all is well.
pub fn check(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let by_message: BTreeMap<&str, &Logged> =
        history.commits.values().map(|commit| (commit.message.as_str(), commit)).collect();
    for event in &history.events {
        faults.extend(commit_as_asked(event, history, &by_message));
    }
    let names: BTreeSet<&str> = history.events.iter().map(|event| event.ask.reference()).collect();
    for name in &names {
        let calls: Vec<Call<&CommitHash>> = history
            .events
            .iter()
            .filter(|event| event.ask.reference() == *name)
            .filter_map(|event| call(event, history, &by_message))
            .collect();
        if let Err(fault) = linear::check(history.references.get(*name), &calls) {
            faults.push(format!("{name} is not linearizable: {fault}"));
        }
    }
    // Where a branch is set back, values come back too: only its head is checked.
    let set_back: BTreeSet<&str> = history
        .events
        .iter()
        .filter(|event| matches!(event.ask, Ask::Assign { .. }))
        .map(|event| event.ask.reference())
        .collect();
    let of_graph = |event: &&Event| !set_back.contains(event.ask.reference());
    let transactions: Vec<Transaction> =
        history.events.iter().filter(of_graph).filter_map(transaction).collect();
    let refused =
        history.events.iter().filter(|event| matches!(event.answer, Answer::Conflict | Answer::Absent));
    let refused = refused.filter_map(|event| Some((event.ask.reference(), event.ask.commit()?.2)));
    let refused = refused.flat_map(|(branch, after)| objects(branch, after)).collect();
    let initial = history.values.iter().flat_map(|(branch, values)| objects(branch, values)).collect();
    let anomalies = graph::check(&transactions, &initial, &refused);
    faults.extend(anomalies.iter().map(|anomaly| format!("{:?}: {}", anomaly.kind, anomaly.text)));
    let more = faults.len().saturating_sub(FAULTS_MAX);
    faults.truncate(FAULTS_MAX);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    faults
}

fn objects(branch: &str, values: &Values) -> Vec<(Object, i64)> {
    values.iter().map(|(key, value)| ((branch.to_owned(), key.to_string()), *value)).collect()
}

/// What was acknowledged is there, whole; what was refused is not.
fn commit_as_asked(event: &Event, history: &History, by_message: &BTreeMap<&str, &Logged>) -> Option<String> {
    let (id, _, after) = event.ask.commit()?;
    let there = by_message.get(id);
    let commit = match &event.answer {
        Answer::Made(hash) => {
            let Some(commit) = history.commits.get(hash) else {
                return Some(format!("{id} was acknowledged as {hash}, which is not there"));
            };
            if commit.message != id {
                return Some(format!("{id} was acknowledged as {hash}, which is {}", commit.message));
            }
            commit
        }
        Answer::Unknown => there?,
        _ => return there.map(|commit| format!("{id} was refused and is there as {}", commit.hash)),
    };
    let mut wanted: Vec<Put> =
        after.iter().map(|(key, version)| Put { key: key.clone(), version: *version }).collect();
    wanted.sort();
    let mut found = commit.puts.clone();
    found.sort();
    (found != wanted).then(|| format!("{id} holds {found:?}, not {wanted:?}"))
}

/// What a request tells of its reference.
fn call<'a>(
    event: &'a Event,
    history: &'a History,
    by_message: &BTreeMap<&str, &'a Logged>,
) -> Option<Call<&'a CommitHash>> {
    let made = |commit: &'a Logged| Action::Move(commit.parents.first(), Some(&commit.hash));
    let unknown = event.answer == Answer::Unknown;
    let action = match (&event.ask, &event.answer) {
        (Ask::Head(_), Answer::Head(found)) => Action::Read(found.as_ref()),
        (Ask::Keys(_), Answer::Keys(found, _)) => Action::Read(Some(found)),
        (Ask::Head(_) | Ask::Keys(_), Answer::Absent) => Action::Read(None),
        (Ask::Commit { .. } | Ask::Merge { .. }, Answer::Made(hash)) => made(history.commits.get(hash)?),
        // What nobody has seen, nobody has built upon.
        (Ask::Commit { id, .. } | Ask::Merge { id, .. }, Answer::Unknown) => {
            made(by_message.get(id.as_str())?)
        }
        (Ask::Create { to, .. }, Answer::Done | Answer::Unknown) => Action::Move(None, Some(to)),
        (Ask::Create { .. }, Answer::Conflict) => Action::Not(None),
        (Ask::Assign { from, to, .. }, Answer::Done | Answer::Unknown) => Action::Move(Some(from), Some(to)),
        (Ask::Delete { from, .. }, Answer::Done | Answer::Unknown) => Action::Move(Some(from), None),
        (Ask::Assign { from, .. } | Ask::Delete { from, .. }, Answer::Conflict) => Action::Not(Some(from)),
        (Ask::Assign { .. } | Ask::Delete { .. }, Answer::Absent) => Action::Read(None),
        _ => return None,
    };
    let returned = (!unknown).then_some(event.returned);
    Some(Call { invoked: event.invoked, returned, action })
}

/// A request as a transaction over the keys of its branch.
fn transaction(event: &Event) -> Option<Transaction> {
    let branch = event.ask.reference();
    let (name, reads, writes) = match (&event.ask, &event.answer) {
        (Ask::Keys(_), Answer::Keys(hash, values)) => {
            let name = format!("read of {branch} at {hash} by {}", event.client);
            (name, objects(branch, values), Vec::new())
        }
        (Ask::Create { values, .. }, Answer::Done | Answer::Unknown) => {
            (format!("create {branch}"), Vec::new(), objects(branch, values))
        }
        (ask, Answer::Made(_) | Answer::Unknown) => {
            let (id, before, after) = ask.commit()?;
            (id.to_owned(), objects(branch, before), objects(branch, after))
        }
        _ => return None,
    };
    let returned = (event.answer != Answer::Unknown).then_some(event.returned);
    Some(Transaction { name, invoked: event.invoked, returned, reads, writes })
}
