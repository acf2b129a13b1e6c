//! A sound history passes, and every planted fault is found.

use super::judge::check;
use super::linear::{self, Action, Call};
use super::record::{Answer, Ask, Event, History, Values};
use crate::record::{CommitHash, Key, Logged, Put};

fn hash(text: &str) -> CommitHash {
    CommitHash(text.into())
}

fn values(of: &[(&str, i64)]) -> Values {
    of.iter().map(|(table, value)| (Key::new("n", *table), *value)).collect()
}

/// Writes down a history, one request after another unless told otherwise.
struct Scribe {
    history: History,
    time: u64,
}

impl Scribe {
    /// `main` at `h0` with two keys of value 1.
    fn new() -> Self {
        let mut history = History::default();
        history.references.insert("main".into(), hash("h0"));
        history.values.insert("main".into(), values(&[("x", 1), ("y", 1)]));
        Self { history, time: 0 }
    }

    fn at(&mut self, invoked: u64, returned: u64, ask: Ask, answer: Answer) -> &mut Self {
        self.time = self.time.max(returned);
        self.history.events.push(Event { client: 0, invoked, returned, ask, answer });
        self
    }

    fn then(&mut self, ask: Ask, answer: Answer) -> &mut Self {
        let now = self.time;
        self.at(now + 1, now + 2, ask, answer)
    }

    fn log(&mut self, id: &str, parent: &str, after: &[(&str, i64)]) -> &mut Self {
        let own = hash(&format!("h-{id}"));
        let puts = values(after).into_iter().map(|(key, version)| Put { key, version }).collect();
        let commit = Logged { hash: own.clone(), parents: vec![hash(parent)], message: id.into(), puts };
        self.history.commits.insert(own, commit);
        self
    }

    fn commit(&mut self, id: &str, parent: &str, before: &[(&str, i64)], after: &[(&str, i64)]) -> &mut Self {
        self.log(id, parent, after).then(commit(id, before, after), Answer::Made(hash(&format!("h-{id}"))))
    }

    fn read(&mut self, at: &str, found: &[(&str, i64)]) -> &mut Self {
        self.then(Ask::Keys("main".into()), Answer::Keys(hash(at), values(found)))
    }

    fn faults(&self) -> Vec<String> {
        check(&self.history)
    }

    fn found(&self, word: &str) {
        let faults = self.faults();
        assert!(faults.iter().any(|fault| fault.contains(word)), "no {word} in {faults:#?}");
    }
}

fn commit(id: &str, before: &[(&str, i64)], after: &[(&str, i64)]) -> Ask {
    let (before, after) = (values(before), values(after));
    Ask::Commit { id: id.into(), branch: "main".into(), before, after }
}

#[test]
fn a_sound_history_passes() {
    let mut scribe = Scribe::new();
    scribe.read("h0", &[("x", 1), ("y", 1)]);
    scribe.commit("a", "h0", &[("x", 1), ("y", 1)], &[("x", 2), ("y", 3)]);
    scribe.then(commit("b", &[("x", 1)], &[("x", 4)]), Answer::Conflict);
    scribe.read("h-a", &[("x", 2), ("y", 3)]);
    // Of unknown outcome, and it happened.
    scribe.log("c", "h-a", &[("x", 5)]).then(commit("c", &[("x", 2)], &[("x", 5)]), Answer::Unknown);
    scribe.read("h-a", &[("x", 2)]).read("h-c", &[("x", 5), ("y", 3)]);
    // Of unknown outcome, and it did not.
    scribe.then(commit("d", &[("y", 3)], &[("y", 6)]), Answer::Unknown);
    scribe.commit("e", "h-c", &[("y", 3)], &[("y", 7)]);
    scribe.read("h-e", &[("x", 5), ("y", 7)]);
    assert_eq!(scribe.faults(), Vec::<String>::new());
}

#[test]
fn a_stale_read_is_found_by_both_checkers() {
    let mut scribe = Scribe::new();
    scribe.commit("a", "h0", &[("x", 1)], &[("x", 2)]).read("h0", &[("x", 1)]);
    scribe.found("OutOfTime");
    scribe.found("main is not linearizable");
}

#[test]
fn a_read_beside_a_commit_may_show_either() {
    for (at, found) in [("h0", 1), ("h-a", 2)] {
        let mut scribe = Scribe::new();
        scribe.log("a", "h0", &[("x", 2)]);
        scribe.at(1, 10, commit("a", &[("x", 1)], &[("x", 2)]), Answer::Made(hash("h-a")));
        scribe.at(2, 9, Ask::Keys("main".into()), Answer::Keys(hash(at), values(&[("x", found)])));
        assert_eq!(scribe.faults(), Vec::<String>::new());
    }
}

#[test]
fn a_lost_update_is_found() {
    let mut scribe = Scribe::new();
    scribe.commit("a", "h0", &[("x", 1)], &[("x", 2)]).commit("b", "h-a", &[("x", 1)], &[("x", 3)]);
    scribe.found("LostUpdate");
}

#[test]
fn a_dirty_read_is_found() {
    let mut scribe = Scribe::new();
    scribe.then(commit("a", &[("x", 1)], &[("x", 2)]), Answer::Conflict).read("h0", &[("x", 2)]);
    scribe.found("DirtyRead");
}

#[test]
fn a_value_of_nobody_is_found() {
    let mut scribe = Scribe::new();
    scribe.read("h0", &[("x", 77)]);
    scribe.found("NobodysValue");
}

#[test]
fn half_a_commit_is_found_when_it_is_read_and_when_it_is_stored() {
    let mut scribe = Scribe::new();
    scribe.log("a", "h0", &[("x", 2), ("y", 2)]);
    let both = [("x", 2), ("y", 2)];
    scribe.at(1, 10, commit("a", &[("x", 1), ("y", 1)], &both), Answer::Made(hash("h-a")));
    scribe.at(2, 9, Ask::Keys("main".into()), Answer::Keys(hash("h-a"), values(&[("x", 2), ("y", 1)])));
    scribe.found("ReadSkew");
    let mut scribe = Scribe::new();
    scribe.log("a", "h0", &[("x", 2)]);
    scribe.then(commit("a", &[("x", 1), ("y", 1)], &both), Answer::Made(hash("h-a")));
    scribe.found("a holds");
}

#[test]
fn two_reads_that_see_two_commits_in_different_orders_are_found() {
    let mut scribe = Scribe::new();
    scribe.log("a", "h0", &[("x", 2)]).log("b", "h-a", &[("y", 2)]);
    scribe.at(1, 20, commit("a", &[("x", 1)], &[("x", 2)]), Answer::Made(hash("h-a")));
    scribe.at(2, 21, commit("b", &[("y", 1)], &[("y", 2)]), Answer::Made(hash("h-b")));
    let read = |found: &[(&str, i64)]| Answer::Keys(hash("h-a"), values(found));
    scribe.at(3, 22, Ask::Keys("main".into()), read(&[("x", 2), ("y", 1)]));
    scribe.at(4, 23, Ask::Keys("main".into()), read(&[("x", 1), ("y", 2)]));
    scribe.found("WriteSkew");
}

#[test]
fn writes_in_a_circle_are_found() {
    let mut scribe = Scribe::new();
    scribe.log("a", "h0", &[("x", 2), ("y", 3)]).log("b", "h-a", &[("x", 3), ("y", 2)]);
    let (one, other) = ([("x", 1), ("y", 2)], [("x", 2), ("y", 1)]);
    scribe.at(1, 20, commit("a", &one, &[("x", 2), ("y", 3)]), Answer::Made(hash("h-a")));
    scribe.at(2, 21, commit("b", &other, &[("x", 3), ("y", 2)]), Answer::Made(hash("h-b")));
    scribe.found("WriteCycle");
}

#[test]
fn acknowledged_commits_out_of_order_are_found() {
    let mut scribe = Scribe::new();
    // `b` was asked for after `a` was acknowledged, and stands below it.
    scribe.log("b", "h0", &[("x", 2)]).log("a", "h-b", &[("x", 3)]);
    scribe.then(commit("a", &[("x", 2)], &[("x", 3)]), Answer::Made(hash("h-a")));
    scribe.then(commit("b", &[("x", 1)], &[("x", 2)]), Answer::Made(hash("h-b")));
    scribe.found("OutOfTime");
    scribe.found("main is not linearizable");
}

#[test]
fn an_acknowledged_commit_that_is_not_there_and_a_refused_one_that_is_are_found() {
    let mut scribe = Scribe::new();
    scribe.then(commit("a", &[("x", 1)], &[("x", 2)]), Answer::Made(hash("h-a")));
    scribe.found("which is not there");
    let mut scribe = Scribe::new();
    scribe.log("a", "h0", &[("x", 2)]).then(commit("a", &[("x", 1)], &[("x", 2)]), Answer::Conflict);
    scribe.found("was refused and is there");
}

#[test]
fn half_a_merge_is_found() {
    let merge = |answer: &[(&str, i64)]| {
        let mut scribe = Scribe::new();
        let to = Ask::Create { name: "dev".into(), to: hash("h0"), values: values(&[("x", 1), ("y", 1)]) };
        scribe.then(to, Answer::Done);
        scribe.log("m", "h0", &[("x", 2), ("y", 2)]);
        let (before, after) = (values(&[("x", 1), ("y", 1)]), values(&[("x", 2), ("y", 2)]));
        let ask = Ask::Merge { id: "m".into(), branch: "main".into(), from: hash("d"), before, after };
        scribe.at(5, 20, ask, Answer::Made(hash("h-m")));
        scribe.at(6, 19, Ask::Keys("main".into()), Answer::Keys(hash("h-m"), values(answer)));
        scribe
    };
    assert_eq!(merge(&[("x", 2), ("y", 2)]).faults(), Vec::<String>::new());
    merge(&[("x", 1), ("y", 2)]).found("ReadSkew");
}

#[test]
fn references_are_created_moved_and_deleted_once() {
    let create = || Ask::Create { name: "r".into(), to: hash("h0"), values: Values::new() };
    let assign = || Ask::Assign { name: "r".into(), from: hash("h0"), to: hash("h1") };
    let delete = |from: &str| Ask::Delete { name: "r".into(), from: hash(from) };
    let head = |at: Option<&str>| (Ask::Head("r".into()), Answer::Head(at.map(hash)));
    let sound = |rows: Vec<(Ask, Answer)>| {
        let mut scribe = Scribe::new();
        for (ask, answer) in rows {
            scribe.then(ask, answer);
        }
        scribe.faults().is_empty()
    };
    assert!(sound(vec![
        (create(), Answer::Done),
        (create(), Answer::Conflict),
        (assign(), Answer::Unknown),
        head(Some("h0")),
        head(Some("h1")),
        (delete("h0"), Answer::Conflict),
        (delete("h1"), Answer::Done),
        head(None),
        (delete("h1"), Answer::Absent),
    ]));
    assert!(!sound(vec![(create(), Answer::Done), (create(), Answer::Done)]), "created twice");
    assert!(
        !sound(vec![(create(), Answer::Done), (delete("h0"), Answer::Done), head(Some("h0"))]),
        "it came back"
    );
    assert!(!sound(vec![(create(), Answer::Done), (delete("h0"), Answer::Absent)]), "it was there");
    assert!(!sound(vec![(create(), Answer::Done), (delete("h0"), Answer::Conflict)]), "it was right there");
    assert!(!sound(vec![
        (create(), Answer::Done),
        (assign(), Answer::Unknown),
        head(Some("h1")),
        head(Some("h0"))
    ]));
}

/// Every small history, against trying all orders.
#[test]
fn the_search_agrees_with_trying_every_order() {
    let mut rng = crate::rng::Rng::new(11);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..3_000 {
        let mut value = || Some(rng.below(3)).filter(|value| *value > 0);
        let mut calls = Vec::new();
        for number in 0..5u64 {
            let action = match value().unwrap_or(0) + 2 * u64::from(value().is_some()) {
                0 | 1 => Action::Read(value()),
                2 => Action::Not(value()),
                _ => Action::Move(value(), value()),
            };
            calls.push((number, action));
        }
        let calls: Vec<Call<u64>> = calls
            .into_iter()
            .map(|(number, action)| {
                let invoked = number * 3 + rng.below(6);
                let returned = (rng.below(5) > 0).then(|| invoked + 1 + rng.below(12));
                Call { invoked, returned, action }
            })
            .collect();
        let found = linear::check(None, &calls).is_ok();
        assert_eq!(found, any_order(None, &calls, &mut vec![false; calls.len()]), "{calls:?}");
        if found { good += 1 } else { bad += 1 }
    }
    assert!(good > 300 && bad > 300, "{good} good, {bad} bad");
}

fn any_order(value: Option<u64>, calls: &[Call<u64>], taken: &mut Vec<bool>) -> bool {
    let open = || calls.iter().zip(taken.iter()).filter(|(_, taken)| !**taken).map(|(call, _)| call);
    if open().all(|call| call.returned.is_none()) {
        return true;
    }
    let first_end = open().filter_map(|call| call.returned).min().unwrap_or(u64::MAX);
    for place in 0..calls.len() {
        let call = &calls[place];
        if taken[place] || call.invoked > first_end {
            continue;
        }
        let (fits, after) = match &call.action {
            Action::Read(found) => (*found == value, value),
            Action::Not(other) => (*other != value, value),
            Action::Move(from, to) => (*from == value, *to),
        };
        if fits {
            taken[place] = true;
            if any_order(after, calls, taken) {
                return true;
            }
            taken[place] = false;
        }
    }
    false
}
