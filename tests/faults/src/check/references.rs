//! References with one writer: each is at its last acknowledged state or at the one in flight.

use std::collections::BTreeSet;

use super::Violation;
use super::branch::difference;
use crate::record::{Action, CommitHash, Event, Kind, Model, Observed, Outcome, Position};

/// A state that a reference may be in.
#[derive(Clone, Debug)]
enum State<'a> {
    Absent,
    At(Position),
    /// At a commit whose hash was never told: this action on top of that parent.
    On(&'a Event, CommitHash),
}

pub(super) fn check(
    model: &Model,
    shared: &[&str],
    events: &[Event],
    observed: &Observed,
    violations: &mut Vec<Violation>,
) {
    let mut names: BTreeSet<&str> = model.references.keys().map(String::as_str).collect();
    names.extend(observed.references.keys().map(String::as_str));
    names.extend(events.iter().map(|e| e.action.reference()));
    for name in names {
        let found = observed.references.get(name);
        let allowed = if shared.contains(&name) {
            // Where it is follows from its history; that it is there at all is checked here.
            match found {
                Some(_) => continue,
                None => model.references.get(name).cloned().map(State::At).into_iter().collect(),
            }
        } else {
            states(model, name, events)
        };
        if !allowed.iter().any(|state| fits(state, name, found, observed)) {
            let expected: Vec<String> = allowed.iter().map(show).collect();
            violations.push(Violation::WrongReference {
                name: name.to_owned(),
                expected: expected.join(" or "),
                found: found.map_or_else(|| "absent".to_owned(), |p| show(&State::At(p.clone()))),
            });
        }
    }
}

/// States that a reference may be in: the last acknowledged one first, then one for each open request after it.
fn states<'a>(model: &Model, name: &str, events: &'a [Event]) -> Vec<State<'a>> {
    let start = model.references.get(name).cloned().map_or(State::Absent, State::At);
    let mut allowed = vec![start];
    for event in events.iter().filter(|e| e.action.reference() == name) {
        match &event.outcome {
            Outcome::Refused => {}
            Outcome::Acknowledged(hash) => {
                allowed = vec![match (&event.action, hash) {
                    (Action::Create { to, .. } | Action::Assign { to, .. }, _) => State::At(to.clone()),
                    (Action::Delete { .. }, _) => State::Absent,
                    (_, Some(hash)) => State::At(Position { kind: Kind::Branch, hash: hash.clone() }),
                    (Action::Commit { expected, .. }, None) => State::On(event, expected.clone()),
                    (Action::Merge { source, .. }, None) => State::On(event, source.clone()),
                }];
            }
            Outcome::Unknown => allowed.push(match &event.action {
                Action::Create { to, .. } | Action::Assign { to, .. } => State::At(to.clone()),
                Action::Delete { .. } => State::Absent,
                Action::Commit { expected, .. } => State::On(event, expected.clone()),
                Action::Merge { source, .. } => State::On(event, source.clone()),
            }),
        }
    }
    allowed
}

fn fits(state: &State<'_>, name: &str, found: Option<&Position>, observed: &Observed) -> bool {
    match (state, found) {
        (State::Absent, None) => true,
        (State::At(position), Some(found)) => position == found,
        (State::On(event, parent), Some(found)) => observed.heads.get(name).is_some_and(|head| {
            found.kind == Kind::Branch
                && head.hash == found.hash
                && head.message == event.id
                && head.parents.contains(parent)
                && difference(&event.action, head).is_none()
        }),
        _ => false,
    }
}

fn show(state: &State<'_>) -> String {
    match state {
        State::Absent => "absent".to_owned(),
        State::At(position) => format!("{} at {}", position.kind.wire(), position.hash),
        State::On(event, parent) => format!("{} on top of {parent}", event.id),
    }
}
