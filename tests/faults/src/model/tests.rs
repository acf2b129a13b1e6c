//! The model by hand, and the comparison finds what is planted.

use std::collections::BTreeMap;

use futures::FutureExt;
use lochan_storage_engine::commit::{GivenId, Operation, Request};
use lochan_storage_engine::writer::Who;
use lochan_storage_model::{CommitId, CommitMeta, ConflictKind, Content, ContentKey, RefName};
use lochan_storage_odb::RefKind;

use super::commit::Refusal;
use super::graph::Graph;
use super::repo::Repo;
use super::state::{Changes, Held, WantedId};
use super::{merge, run};
use crate::rng::Rng;

fn key(text: &str) -> ContentKey {
    ContentKey::new(text.split('.')).unwrap()
}

fn id(byte: u8) -> CommitId {
    CommitId::new(lochan_storage_model::ObjectId::from_bytes([byte; 32]))
}

fn held(byte: u8, properties: &[(&str, &str)]) -> Held {
    let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let content = Content::Namespace { elements: vec!["n".into()], properties };
    Held { id: lochan_storage_model::ContentId::from_bytes([byte; 16]), content }
}

fn changes(of: &[(&str, Option<Held>)]) -> Changes {
    let contents = of.iter().map(|(at, held)| (key(at), held.clone())).collect();
    Changes { contents, system: BTreeMap::new() }
}

fn options() -> lochan_storage_engine::merge::Options {
    lochan_storage_engine::merge::Options::default()
}

#[test]
fn the_merge_base_is_the_nearest_common_commit_and_in_crossed_histories_that_of_the_reference() {
    let mut graph = Graph::default();
    let none = CommitId::NO_ANCESTOR;
    for (own, parents) in [
        (1, vec![none]),
        (2, vec![id(1)]),
        (3, vec![id(1)]),
        (4, vec![id(2), id(3)]),
        (5, vec![id(3), id(2)]),
        (6, vec![id(4)]),
        (7, vec![id(5)]),
    ] {
        graph.add(id(own), parents, Changes::default());
    }
    assert_eq!(graph.merge_base(id(2), id(3)), id(1));
    assert_eq!(graph.merge_base(id(6), id(2)), id(2));
    assert_eq!(graph.merge_base(id(6), none), none);
    // Recorded: each side has merged the other, and the nearest one on the source's side serves.
    assert_eq!(graph.merge_base(id(6), id(7)), id(3));
    assert_eq!(graph.merge_base(id(7), id(6)), id(2));
    assert!(graph.is_below(id(2), id(4)) && !graph.is_below(id(3), id(4)), "along first parents only");
}

/// Recorded: `b1`, `b2` on b; `a1` on a, merged into c; `b2` too; then c into a, and c's first merge into b.
#[test]
fn the_merge_base_goes_by_the_length_of_chains() {
    let mut graph = Graph::default();
    let [h, b1, b2, a1, c1, c2, a2, b3] = [1, 2, 3, 4, 5, 6, 7, 8].map(id);
    for (own, parents) in [
        (h, vec![CommitId::NO_ANCESTOR]),
        (b1, vec![h]),
        (b2, vec![b1]),
        (a1, vec![h]),
        (c1, vec![h, a1]),
        (c2, vec![c1, b2]),
        (a2, vec![a1, c2]),
        (b3, vec![b2, c1]),
    ] {
        graph.add(own, parents, Changes::default());
    }
    assert_eq!(graph.merge_base(b3, a2), b2);
}

#[test]
fn a_namespace_put_on_both_sides_becomes_one_without_a_word() {
    let mut graph = Graph::default();
    graph.add(id(1), vec![CommitId::NO_ANCESTOR], Changes::default());
    graph.add(id(2), vec![id(1)], changes(&[("n", Some(held(2, &[("a", "1"), ("own", "x")])))]));
    graph.add(id(3), vec![id(1)], changes(&[("n", Some(held(3, &[("a", "2")])))]));
    let answer = merge::merge(&graph, id(2), id(3), id(1), &options()).unwrap();
    assert!(answer.successful && answer.details.is_empty());
    let put = answer.commits[0].contents[&key("n")].clone().unwrap();
    assert_eq!(put.id, WantedId::Is(held(3, &[]).id));
    assert_eq!(put.content, held(3, &[("a", "2"), ("own", "x")]).content);
}

#[test]
fn both_sides_deleting_one_key_is_a_conflict() {
    let mut graph = Graph::default();
    graph.add(id(1), vec![CommitId::NO_ANCESTOR], changes(&[("n", Some(held(1, &[])))]));
    graph.add(id(2), vec![id(1)], changes(&[("n", None)]));
    graph.add(id(3), vec![id(1)], changes(&[("n", None)]));
    let answer = merge::merge(&graph, id(2), id(3), id(1), &options()).unwrap();
    assert!(!answer.successful && answer.commits.is_empty());
    assert_eq!(answer.details[&key("n")].1, Some(ConflictKind::KeyDoesNotExist));
}

#[test]
fn a_child_without_its_namespace_is_refused_and_every_missing_one_is_told() {
    let repo = Repo::default();
    let branch = RefName::new("main").unwrap();
    let none = CommitId::NO_ANCESTOR;
    let mut request = Request::new(branch, none, CommitMeta::default(), Who::default());
    let content = held(1, &[]).content;
    request.operations = vec![Operation::Put { key: key("a.b.c"), content, id: GivenId::New }];
    let at = Some((RefKind::Branch, none));
    let missing = ["a", "a.b"].map(|at| (ConflictKind::NamespaceAbsent, at.to_owned()));
    assert_eq!(repo.commit_on(at, &request), Err(Refusal::Conflicts(missing.into())));
    assert_eq!(repo.commit_on(None, &request), Err(Refusal::NoReference));
    assert_eq!(repo.commit_on(Some((RefKind::Tag, none)), &request), Err(Refusal::NotABranch));
}

/// A commit that the store holds is taken in only if it is exactly the planned one.
#[test]
fn a_commit_that_holds_something_else_is_found() {
    use lochan_storage_odb::{Batch, Change, NewObject, Store, memory::Memory};
    let commit = lochan_storage_model::Commit {
        header: lochan_storage_model::commit::Header {
            parents: vec![CommitId::NO_ANCESTOR],
            depth: 1,
            generation: 1,
            skip: CommitId::NO_ANCESTOR,
            time: 1,
            root: lochan_storage_engine::index::Tree::empty_id(),
        },
        meta: CommitMeta::default(),
        attachments: Vec::new(),
        operations: Vec::new(),
    };
    let bytes = bytes::Bytes::from(commit.encode());
    let made = lochan_storage_model::Commit::id_of(&bytes);
    let store = Memory::new();
    let objects =
        vec![NewObject { kind: lochan_storage_model::ObjectKind::Commit, id: made.object(), bytes }];
    let batch = Batch { changes: vec![Change { objects, ..Change::default() }] };
    store.commit(batch).now_or_never().unwrap().unwrap();
    let none = CommitId::NO_ANCESTOR;
    let nothing = super::state::Planned::default();
    let mut half = nothing.clone();
    half.contents.insert(key("n"), Some(held(1, &[]).into()));
    assert!(Repo::default().land(&store, made, &[none], &half).unwrap_err().contains("is None, not Some"));
    assert!(Repo::default().land(&store, made, &[none, id(2)], &nothing).unwrap_err().contains("parents"));
    Repo::default().land(&store, made, &[none], &nothing).unwrap();
}

#[test]
fn some_cases_agree_and_are_repeated_by_their_seed() {
    let first = Rng::new(7).draw();
    for seed in first..first + 60 {
        let counts = run::case(seed).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        assert_eq!(format!("{counts:?}"), format!("{:?}", run::case(seed).unwrap()));
    }
}

/// A seed that found something; what it found stands in the README.
#[test]
fn a_seed_that_found_something_stays_sound() {
    run::case(1_581_000).unwrap();
}
