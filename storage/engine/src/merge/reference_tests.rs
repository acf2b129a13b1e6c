//! Where merges and transplants are told from what one would expect: as the reference server does it.

use std::collections::BTreeMap;

use lochan_storage_model::ConflictKind;

use super::{Detail, KeyBehavior, Mode, Options, Outcome};
use crate::{Error, commit::GivenId, testing::*};

fn told(outcome: &Outcome) -> Vec<(String, Option<ConflictKind>)> {
    let of =
        |detail: &Detail| (detail.key.to_string(), detail.conflict.as_ref().map(|conflict| conflict.kind));
    outcome.details.iter().map(of).collect()
}

fn with(label: &str, behavior: KeyBehavior) -> Options {
    Options { keys: BTreeMap::from([(key(label), behavior)]), ..merge_options() }
}

#[tokio::test]
async fn namespaces_are_checked_before_conflicts_and_before_what_was_named_in_vain() {
    let engine = engine().await;
    let id = commit(&engine, "main", vec![put("n", namespace("n", &[])), put("t", table(1))]).await.added;
    let id = id.iter().find(|(key, _)| key.to_string() == "t").unwrap().1;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![delete("n"), update("t", table(2), id)]).await;
    let picked = commit(&engine, "dev", vec![put("n.x", table(1)), update("t", table(3), id)]).await.head;
    let mut options = merge_options();
    options.keys.insert(key("nope"), KeyBehavior::default());
    for outcome in [
        try_merge(&engine, "dev", "main", options).await,
        try_transplant(&engine, vec![picked], "main", merge_options()).await,
    ] {
        match outcome {
            Err(Error::Conflicts(conflicts)) => {
                assert_eq!(conflicts.len(), 1, "{conflicts:?}");
                assert_eq!(conflicts[0].kind, ConflictKind::NamespaceAbsent);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A stored put knows its own id only, so the target never holds what it is compared with. A merge knows the old one.
#[tokio::test]
async fn a_transplanted_re_add_conflicts_and_a_merged_one_does_not() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("t", table(1))]).await;
    branch(&engine, "dev", "main").await;
    let picked = commit(&engine, "dev", vec![delete("t"), put("t", table(2))]).await.head;
    let outcome = transplant(&engine, vec![picked], "main").await;
    assert_eq!(told(&outcome), [("t".into(), Some(ConflictKind::ContentIdDiffers))]);
    let forced = Options { default_mode: Mode::Force, ..merge_options() };
    branch(&engine, "copy", "main").await;
    assert!(try_transplant(&engine, vec![picked], "copy", forced).await.unwrap().applied);
    assert!(merge(&engine, "dev", "main").await.applied);
    // The target holds the new content by now, with another value than was there before the commit.
    assert_eq!(
        told(&transplant(&engine, vec![picked], "main").await),
        [("t".into(), Some(ConflictKind::ValueDiffers))]
    );
}

#[tokio::test]
async fn a_conflict_of_a_sequence_is_told_once() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("first", table(0))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("t", table(9))]).await;
    let made = commit(&engine, "dev", vec![put("t", table(1))]).await;
    let updated = commit(&engine, "dev", vec![update("t", table(2), made.added[0].1)]).await.head;
    let outcome = transplant(&engine, vec![made.head, updated], "main").await;
    assert_eq!(told(&outcome), [("t".into(), Some(ConflictKind::KeyExists))]);
}

/// As the reference server has it: what a commit adds that the target holds already is no ground for the next commit.
#[tokio::test]
async fn a_commit_that_is_left_out_is_no_ground_for_the_next() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("first", table(0))]).await;
    branch(&engine, "dev", "main").await;
    let made = commit(&engine, "dev", vec![put("t", table(1))]).await;
    let updated = commit(&engine, "dev", vec![update("t", table(2), made.added[0].1)]).await.head;
    let deleted = commit(&engine, "dev", vec![delete("t")]).await.head;
    assert!(transplant(&engine, vec![made.head], "main").await.applied);
    let again = transplant(&engine, vec![made.head, updated], "main").await;
    assert_eq!(told(&again), [("t".into(), Some(ConflictKind::KeyExists))]);
    let forced = Options { default_mode: Mode::Force, ..merge_options() };
    assert!(try_transplant(&engine, vec![made.head, updated], "main", forced).await.unwrap().applied);
    // Alone each of them is fine, and so is the rest of the sequence.
    assert!(transplant(&engine, vec![deleted], "main").await.applied);
    branch(&engine, "copy", "main").await;
    transplant(&engine, vec![made.head], "copy").await;
    match try_transplant(&engine, vec![made.head, updated, deleted], "copy", merge_options()).await {
        Ok(outcome) => assert!(!outcome.successful),
        other => panic!("{other:?}"),
    }
    assert!(transplant(&engine, vec![updated, deleted], "copy").await.applied);
    // A deletion right after a commit that is left out is refused.
    branch(&engine, "more", "dev").await;
    let added = commit(&engine, "more", vec![put("u", table(1))]).await.head;
    let gone = commit(&engine, "more", vec![delete("u")]).await.head;
    transplant(&engine, vec![added], "copy").await;
    let refused = try_transplant(&engine, vec![added, gone], "copy", merge_options()).await;
    assert!(matches!(refused, Err(Error::BadRequest(_))), "{refused:?}");
    assert!(transplant(&engine, vec![gone], "copy").await.applied);
}

/// Both sides created the key: the contents are two, whatever the client says about values.
#[tokio::test]
async fn an_expectation_is_about_the_value_not_about_type_and_id() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("first", table(0))]).await;
    branch(&engine, "dev", "main").await;
    let id = commit(&engine, "main", vec![put("t", table(1))]).await.added[0].1;
    let picked = commit(&engine, "dev", vec![put("t", table(2))]).await.head;
    for mode in [Mode::Normal, Mode::Force] {
        let expected = Some((GivenId::Id(id), table(1)));
        let options = with("t", KeyBehavior { mode, expected, ..KeyBehavior::default() });
        let conflict = [("t".to_owned(), Some(ConflictKind::ContentIdDiffers))];
        assert_eq!(told(&try_merge(&engine, "dev", "main", options.clone()).await.unwrap()), conflict);
        assert_eq!(told(&try_transplant(&engine, vec![picked], "main", options).await.unwrap()), conflict);
    }
}

#[tokio::test]
async fn contents_given_for_a_key_are_looked_at_when_the_key_is() {
    let engine = engine().await;
    let made = commit(&engine, "main", vec![put("t", table(1))]).await;
    let id = made.added[0].1;
    branch(&engine, "dev", "main").await;
    let deleted = commit(&engine, "dev", vec![delete("t")]).await.head;
    let given = |content| Some((GivenId::Id(id), content));
    let resolved =
        KeyBehavior { expected: given(table(1)), resolved: given(table(3)), ..KeyBehavior::default() };
    match try_merge(&engine, "dev", "main", with("t", resolved.clone())).await {
        Err(Error::BadRequest(told)) => {
            assert_eq!(told, "The merge behavior for key t has an unused resolvedContent attribute.");
        }
        other => panic!("{other:?}"),
    }
    branch(&engine, "copy", "main").await;
    assert!(try_transplant(&engine, vec![deleted], "copy", with("t", resolved)).await.unwrap().applied);
    assert!(contents(&engine, "copy").await.is_empty(), "the key is deleted all the same");
    let without = |mode| {
        let expected = Some((GivenId::New, table(1)));
        with("t", KeyBehavior { mode, expected, ..KeyBehavior::default() })
    };
    assert!(try_merge(&engine, "dev", "main", without(Mode::Drop)).await.unwrap().successful);
    let refused = try_merge(&engine, "dev", "main", without(Mode::Normal)).await;
    assert!(matches!(refused, Err(Error::BadRequest(_))), "{refused:?}");
    let nothing = try_merge(&engine, "main", "main", without(Mode::Normal)).await.unwrap();
    assert!(nothing.successful && !nothing.applied, "nothing to merge, nothing looked at");
}

#[tokio::test]
async fn a_joined_namespace_can_be_updated_by_the_next_commit() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("first", table(0))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("ns", namespace("ns", &[("ours", "1")]))]).await;
    let made = commit(&engine, "dev", vec![put("ns", namespace("ns", &[("a", "1"), ("b", "1")]))]).await;
    let id = made.added[0].1;
    let updated = vec![update("ns", namespace("ns", &[("a", "2"), ("c", "3")]), id)];
    let updated = commit(&engine, "dev", updated).await.head;
    assert!(transplant(&engine, vec![made.head, updated], "main").await.applied);
    let joined = namespace("ns", &[("ours", "1"), ("a", "2"), ("c", "3")]);
    assert_eq!(contents(&engine, "main").await[&key("ns")], (id, joined));
}
