//! Faults planted in a sound record must be found.

use super::*;
use crate::record::{Action, Kind, Logged, Outcome, Position, Put, Sample, Walk};

const SHARED: [&str; 1] = ["main"];

fn hash(text: &str) -> CommitHash {
    CommitHash(text.to_owned())
}

fn put(table: &str, version: i64) -> Put {
    Put { key: Key::new("ns", table), version }
}

fn branch_at(text: &str) -> Position {
    Position { kind: Kind::Branch, hash: hash(text) }
}

fn commit(id: &str, puts: Vec<Put>, outcome: Outcome) -> Event {
    Event {
        id: id.to_owned(),
        action: Action::Commit { branch: "main".to_owned(), expected: hash("c0"), puts },
        outcome,
    }
}

fn acknowledged(text: &str) -> Outcome {
    Outcome::Acknowledged(Some(hash(text)))
}

fn logged(text: &str, parents: &[&str], message: &str, puts: Vec<Put>) -> Logged {
    let parents = parents.iter().map(|p| hash(p)).collect();
    Logged { hash: hash(text), parents, message: message.to_owned(), puts }
}

/// `main` at `c0`, then an acknowledged commit, an acknowledged merge of three tables, a commit in flight that landed,
/// one that did not, a refused one; a tag moved by one writer with a deletion in flight.
fn world() -> (Model, Vec<Event>, Observed) {
    let mut model = Model::default();
    model.references.insert("main".into(), branch_at("c0"));
    model.references.insert("t".into(), Position { kind: Kind::Tag, hash: hash("c0") });
    model.versions.insert("main".into(), [(Key::new("ns", "a"), 1), (Key::new("ns", "z"), 1)].into());
    let merged = vec![put("m1", 20), put("m2", 20), put("m3", 20)];
    let merge = Action::Merge { target: "main".into(), source: hash("s1"), puts: merged.clone() };
    let to = Position { kind: Kind::Tag, hash: hash("c1") };
    let events = vec![
        commit("w0-1", vec![put("a", 10), put("z", 10)], acknowledged("c1")),
        Event { id: "w1-1".into(), action: merge, outcome: acknowledged("c2") },
        commit("w2-1", vec![put("b", 30)], Outcome::Unknown),
        commit("w3-1", vec![put("c", 40)], Outcome::Unknown),
        commit("w4-1", vec![put("a", 50)], Outcome::Refused),
        Event {
            id: "w5-1".into(),
            action: Action::Assign { name: "t".into(), from: hash("c0"), to },
            outcome: Outcome::Acknowledged(None),
        },
        Event {
            id: "w5-2".into(),
            action: Action::Delete { name: "t".into(), from: hash("c1") },
            outcome: Outcome::Unknown,
        },
    ];
    let mut observed = Observed::default();
    observed.references.insert("main".into(), branch_at("c3"));
    observed.references.insert("t".into(), Position { kind: Kind::Tag, hash: hash("c1") });
    let commits = vec![
        logged("c3", &["c2"], "w2-1", vec![put("b", 30)]),
        logged("c2", &["c1", "s1"], "w1-1", merged),
        logged("c1", &["c0"], "w0-1", vec![put("a", 10), put("z", 10)]),
    ];
    observed.walks.insert("main".into(), Walk { commits, reached: true });
    let versions = [("a", 10), ("z", 10), ("m1", 20), ("m2", 20), ("m3", 20), ("b", 30)];
    let versions = versions.into_iter().map(|(table, v)| (Key::new("ns", table), v)).collect();
    observed.versions.insert("main".into(), versions);
    observed.samples.push(Sample { commit: hash("c1"), put: put("a", 10), found: Some(10) });
    (model, events, observed)
}

fn found_in(plant: impl FnOnce(&mut Model, &mut Vec<Event>, &mut Observed)) -> Vec<Violation> {
    let (mut model, mut events, mut observed) = world();
    plant(&mut model, &mut events, &mut observed);
    round(&model, &SHARED, &events, &observed)
}

fn main_walk(observed: &mut Observed) -> &mut Vec<Logged> {
    &mut observed.walks.get_mut("main").unwrap().commits
}

#[test]
fn a_sound_round_has_no_violation_and_gives_the_next_state() {
    assert_eq!(found_in(|_, _, _| {}), []);
    let (model, _, observed) = world();
    let next = next_model(&model, &SHARED, &observed);
    assert_eq!(next.head("main"), Some(&hash("c3")));
    assert_eq!(next.versions.get("main").unwrap().get(&Key::new("ns", "m3")), Some(&20));
}

#[test]
fn a_lost_commit_at_the_head_is_found() {
    // The server came back two commits short: the merge and all above it are gone.
    let violations = found_in(|_, _, observed| {
        main_walk(observed).drain(..2);
        observed.references.insert("main".into(), branch_at("c1"));
        let tables = observed.versions.get_mut("main").unwrap();
        tables.retain(|_, version| *version == 10);
    });
    let lost = Violation::Lost { branch: "main".into(), id: "w1-1".into(), hash: hash("c2") };
    assert_eq!(violations, [lost]);
}

#[test]
fn a_lost_commit_in_the_middle_is_found_by_its_absence_and_by_the_chain() {
    let violations = found_in(|_, _, observed| {
        main_walk(observed).remove(1);
    });
    assert!(violations.contains(&Violation::Lost {
        branch: "main".into(),
        id: "w1-1".into(),
        hash: hash("c2")
    }));
    assert!(violations.contains(&Violation::BrokenChain { branch: "main".into(), hash: hash("c3") }));
}

#[test]
fn half_a_merge_in_the_commit_is_found() {
    let violations = found_in(|_, _, observed| {
        main_walk(observed)[1].puts.pop();
        observed.versions.get_mut("main").unwrap().remove(&Key::new("ns", "m3"));
    });
    assert!(
        matches!(violations.as_slice(), [Violation::NotWhole { id, .. }] if id == "w1-1"),
        "{violations:?}"
    );
}

#[test]
fn half_a_merge_at_the_head_is_found() {
    let violations = found_in(|_, _, observed| {
        observed.versions.get_mut("main").unwrap().remove(&Key::new("ns", "m2"));
    });
    let wrong = Violation::WrongTable {
        branch: "main".into(),
        key: Key::new("ns", "m2"),
        expected: Some(20),
        found: None,
    };
    assert_eq!(violations, [wrong]);
}

#[test]
fn a_merge_with_another_parent_is_found() {
    let violations = found_in(|_, _, observed| main_walk(observed)[1].parents[1] = hash("s2"));
    assert!(matches!(violations.as_slice(), [Violation::NotWhole { .. }]), "{violations:?}");
}

#[test]
fn half_a_commit_in_flight_is_found() {
    let violations = found_in(|_, events, observed| {
        events[2] = commit("w2-1", vec![put("b", 30), put("b2", 30)], Outcome::Unknown);
        assert_eq!(main_walk(observed)[0].puts.len(), 1);
    });
    assert!(
        matches!(violations.as_slice(), [Violation::NotWhole { id, .. }] if id == "w2-1"),
        "{violations:?}"
    );
}

#[test]
fn a_history_cut_below_the_round_is_found() {
    let violations = found_in(|_, _, observed| observed.walks.get_mut("main").unwrap().reached = false);
    assert_eq!(violations, [Violation::HistoryCut { branch: "main".into(), hash: hash("c0") }]);
}

#[test]
fn a_commit_that_nobody_asked_for_and_a_double_one_are_found() {
    let violations = found_in(|_, _, observed| {
        main_walk(observed)[0].message = "stranger".into();
    });
    assert!(matches!(violations.as_slice(), [Violation::Unasked { .. }]), "{violations:?}");
    let violations = found_in(|_, _, observed| {
        let mut again = main_walk(observed)[0].clone();
        again.hash = hash("c4");
        again.parents = vec![hash("c3")];
        main_walk(observed).insert(0, again);
        observed.references.insert("main".into(), branch_at("c4"));
    });
    assert!(matches!(violations.as_slice(), [Violation::Twice { .. }]), "{violations:?}");
}

#[test]
fn a_refused_commit_that_landed_is_found() {
    let violations = found_in(|_, events, _| events[2].outcome = Outcome::Refused);
    assert!(matches!(violations.as_slice(), [Violation::RefusedApplied { .. }]), "{violations:?}");
}

#[test]
fn commits_left_behind_by_a_reset_are_not_lost_and_may_not_come_back() {
    let reset = |outcome| Event {
        id: "w6-1".into(),
        action: Action::Assign { name: "main".into(), from: hash("c9"), to: branch_at("c0") },
        outcome,
    };
    let gone = commit("w7-1", vec![put("r", 90)], acknowledged("c9"));
    for outcome in [Outcome::Acknowledged(None), Outcome::Unknown] {
        let violations = found_in(|_, events, observed| {
            events.extend([gone.clone(), reset(outcome)]);
            observed.left_behind.insert("w6-1".into(), vec![hash("c9")]);
        });
        assert_eq!(violations, []);
    }
    let violations = found_in(|_, events, observed| {
        events.extend([gone.clone(), reset(Outcome::Refused)]);
        observed.left_behind.insert("w6-1".into(), vec![hash("c9")]);
    });
    assert!(matches!(violations.as_slice(), [Violation::Lost { .. }]), "a refused reset moves nothing");
    let violations = found_in(|_, events, observed| {
        events.push(reset(Outcome::Acknowledged(None)));
        observed.left_behind.insert("w6-1".into(), vec![hash("c2")]);
    });
    assert!(matches!(violations.as_slice(), [Violation::ResetUndone { .. }]), "{violations:?}");
}

#[test]
fn references_may_be_at_the_acknowledged_state_or_the_one_in_flight() {
    assert_eq!(found_in(|_, _, observed| drop(observed.references.remove("t"))), []);
    let wrong = |violations: Vec<Violation>| {
        assert!(
            matches!(violations.as_slice(), [Violation::WrongReference { name, .. }] if name == "t"),
            "{violations:?}"
        );
    };
    // The acknowledged move is lost.
    wrong(found_in(|_, _, observed| {
        observed.references.insert("t".into(), Position { kind: Kind::Tag, hash: hash("c0") });
    }));
    // It became a branch.
    wrong(found_in(|_, _, observed| drop(observed.references.insert("t".into(), branch_at("c1")))));
    // An acknowledged deletion is undone.
    wrong(found_in(|_, events, _| events[6].outcome = Outcome::Acknowledged(None)));
}

#[test]
fn a_stray_reference_and_a_missing_shared_branch_are_found() {
    let violations = found_in(|_, _, observed| drop(observed.references.insert("x".into(), branch_at("c1"))));
    assert!(matches!(violations.as_slice(), [Violation::WrongReference { name, .. }] if name == "x"));
    let violations = found_in(|_, _, observed| drop(observed.references.remove("main")));
    assert!(violations.iter().any(|v| matches!(v, Violation::WrongReference { name, .. } if name == "main")));
}

#[test]
fn a_commit_in_flight_on_a_branch_of_its_own_is_recognised() {
    let plant = |parent: &'static str| {
        move |model: &mut Model, events: &mut Vec<Event>, observed: &mut Observed| {
            model.references.insert("work".into(), branch_at("c0"));
            let puts = vec![put("k", 70)];
            let action = Action::Commit { branch: "work".into(), expected: hash("c0"), puts: puts.clone() };
            events.push(Event { id: "w8-1".into(), action, outcome: Outcome::Unknown });
            observed.references.insert("work".into(), branch_at("k1"));
            observed.heads.insert("work".into(), logged("k1", &[parent], "w8-1", puts));
        }
    };
    assert_eq!(found_in(plant("c0")), []);
    assert!(matches!(found_in(plant("c2")).as_slice(), [Violation::WrongReference { .. }]));
}

#[test]
fn an_unreadable_table_at_an_old_commit_is_found() {
    let violations = found_in(|_, _, observed| observed.samples[0].found = None);
    assert!(matches!(violations.as_slice(), [Violation::WrongSample { .. }]), "{violations:?}");
}
