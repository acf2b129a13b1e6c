//! Contents moved from key to key, and modes that would tear such a move apart.

use std::collections::BTreeMap;

use lochan_storage_model::{CommitId, ConflictKind, ContentId};

use super::{KeyBehavior, Mode, Options, Outcome};
use crate::{Engine, Error, testing::*};

/// Modes by key over a default.
fn modes(default_mode: Mode, keys: &[(&str, Mode)]) -> Options {
    let behavior = |mode| KeyBehavior { mode, ..KeyBehavior::default() };
    let keys = keys.iter().map(|(label, mode)| (key(label), behavior(*mode))).collect();
    Options { default_mode, keys, ..merge_options() }
}

/// `old` is a table of `main`; `dev` renames it to `new` in the commit returned.
async fn renamed() -> (Engine, ContentId, CommitId) {
    let engine = engine().await;
    let id = commit(&engine, "main", vec![put("old", table(1))]).await.added[0].1;
    branch(&engine, "dev", "main").await;
    branch(&engine, "copy", "main").await;
    let renamed = commit(&engine, "dev", vec![delete("old"), update("new", table(1), id)]).await.head;
    (engine, id, renamed)
}

async fn names(engine: &Engine, branch: &str) -> BTreeMap<String, ContentId> {
    contents(engine, branch).await.into_iter().map(|(key, (id, _))| (key.to_string(), id)).collect()
}

fn told(outcome: &Outcome) -> Vec<(String, Mode, Option<ConflictKind>)> {
    let of = |detail: &super::Detail| {
        (detail.key.to_string(), detail.mode, detail.conflict.as_ref().map(|conflict| conflict.kind))
    };
    outcome.details.iter().map(of).collect()
}

/// The same by merge into `main`, and by transplant onto `copy`.
async fn both(engine: &Engine, picked: CommitId, options: &Options) -> [(Outcome, &'static str); 2] {
    [
        (try_merge(engine, "dev", "main", options.clone()).await.unwrap(), "main"),
        (try_transplant(engine, vec![picked], "copy", options.clone()).await.unwrap(), "copy"),
    ]
}

#[tokio::test]
async fn a_rename_of_which_one_half_is_left_is_left_whole() {
    for half in ["old", "new"] {
        for default in [Mode::Normal, Mode::Force] {
            let (engine, id, picked) = renamed().await;
            for (outcome, target) in both(&engine, picked, &modes(default, &[(half, Mode::Drop)])).await {
                assert_eq!(
                    names(&engine, target).await,
                    BTreeMap::from([("old".into(), id)]),
                    "{half} {target}"
                );
                let all = [("new".into(), Mode::Drop, None), ("old".into(), Mode::Drop, None)];
                assert_eq!(told(&outcome), all);
            }
        }
    }
}

#[tokio::test]
async fn a_rename_of_which_one_half_is_applied_is_applied_whole() {
    for half in ["old", "new"] {
        for mode in [Mode::Normal, Mode::Force] {
            let (engine, id, picked) = renamed().await;
            for (outcome, target) in both(&engine, picked, &modes(Mode::Drop, &[(half, mode)])).await {
                assert!(outcome.applied);
                assert_eq!(
                    names(&engine, target).await,
                    BTreeMap::from([("new".into(), id)]),
                    "{half} {target}"
                );
            }
        }
    }
    // The half that was not named is not forced.
    let (engine, id, picked) = renamed().await;
    for target in ["main", "copy"] {
        commit(&engine, target, vec![update("old", table(2), id)]).await;
    }
    for (outcome, _) in both(&engine, picked, &modes(Mode::Drop, &[("new", Mode::Force)])).await {
        let conflict = ("old".into(), Mode::Normal, Some(ConflictKind::ValueDiffers));
        assert_eq!(told(&outcome), [("new".into(), Mode::Force, None), conflict]);
    }
}

#[tokio::test]
async fn halves_with_modes_of_their_own_that_contradict_are_a_conflict() {
    for (left, applied) in [("old", "new"), ("new", "old")] {
        for mode in [Mode::Normal, Mode::Force] {
            let (engine, id, picked) = renamed().await;
            for (outcome, target) in
                both(&engine, picked, &modes(mode, &[(left, Mode::Drop), (applied, mode)])).await
            {
                assert!(!outcome.successful && !outcome.applied);
                let conflict = outcome.details.iter().find_map(|detail| detail.conflict.clone()).unwrap();
                assert_eq!((conflict.kind, conflict.key), (ConflictKind::KeyConflict, Some(key(applied))));
                assert!(conflict.message.contains("'old'") && conflict.message.contains("'new'"));
                assert_eq!(names(&engine, target).await, BTreeMap::from([("old".into(), id)]));
            }
        }
    }
}

#[tokio::test]
async fn contents_that_change_places_stay_together_too() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("a", table(1)), put("b", table(2)), put("t", table(3))]).await;
    let before = names(&engine, "main").await;
    branch(&engine, "dev", "main").await;
    // a → c, b → a: three keys, two contents; and something else.
    commit(&engine, "dev", vec![delete("a"), update("c", table(1), before["a"])]).await;
    commit(&engine, "dev", vec![delete("b"), update("a", table(2), before["b"])]).await;
    commit(&engine, "dev", vec![update("t", table(4), before["t"])]).await;
    let outcome = try_merge(&engine, "dev", "main", modes(Mode::Normal, &[("c", Mode::Drop)])).await.unwrap();
    assert!(outcome.applied, "the rest is merged");
    assert_eq!(names(&engine, "main").await, before);
}

#[tokio::test]
async fn force_puts_nothing_back_beside_where_the_target_has_moved_it() {
    let forced = Options { default_mode: Mode::Force, ..merge_options() };
    for moves_too in [false, true] {
        let engine = engine().await;
        let id = commit(&engine, "main", vec![put("old", table(1))]).await.added[0].1;
        branch(&engine, "dev", "main").await;
        branch(&engine, "copy", "main").await;
        let operations = match moves_too {
            false => vec![update("old", table(2), id)],
            true => vec![delete("old"), update("new", table(2), id)],
        };
        let picked = commit(&engine, "dev", operations).await.head;
        for target in ["main", "copy"] {
            commit(&engine, target, vec![delete("old"), update("moved", table(1), id)]).await;
        }
        let twice = if moves_too { "new" } else { "old" };
        for (outcome, target) in both(&engine, picked, &forced).await {
            assert!(!outcome.successful && !outcome.applied, "{target}");
            let conflicts: Vec<_> =
                outcome.details.iter().filter_map(|detail| detail.conflict.clone()).collect();
            assert_eq!(conflicts.len(), 1);
            assert_eq!(
                (conflicts[0].kind, &conflicts[0].key),
                (ConflictKind::KeyConflict, &Some(key(twice)))
            );
            assert!(conflicts[0].message.contains("'moved'"), "{}", conflicts[0].message);
        }
        // Left out it is merged, and once the target has moved it back, too.
        let left = modes(Mode::Force, &[("old", Mode::Drop)]);
        assert!(try_merge(&engine, "dev", "main", left).await.unwrap().successful);
        commit(&engine, "copy", vec![delete("moved"), update("old", table(1), id)]).await;
        assert!(try_merge(&engine, "dev", "copy", forced.clone()).await.unwrap().applied);
        assert_eq!(names(&engine, "copy").await, BTreeMap::from([(twice.into(), id)]));
    }
}

#[tokio::test]
async fn every_key_that_force_would_put_a_moved_content_at_is_told() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("other", table(0))]).await;
    branch(&engine, "copy", "main").await;
    let made = commit(&engine, "main", vec![put("old", table(1))]).await;
    let id = made.added[0].1;
    branch(&engine, "dev", "main").await;
    // On another way the content comes to `second`, and by a merge to `dev`, which holds it at `old`.
    branch(&engine, "renamed", "main").await;
    let renamed = commit(&engine, "renamed", vec![delete("old"), update("second", table(1), id)]).await.head;
    let picked = vec![made.head, renamed];
    assert!(try_transplant(&engine, picked, "copy", merge_options()).await.unwrap().applied);
    assert!(try_merge(&engine, "copy", "dev", merge_options()).await.unwrap().applied);
    commit(&engine, "dev", vec![update("old", table(2), id)]).await;
    commit(&engine, "main", vec![delete("old"), update("moved", table(1), id)]).await;
    let forced = Options { default_mode: Mode::Force, ..merge_options() };
    let outcome = try_merge(&engine, "dev", "main", forced).await.unwrap();
    let conflict = |label: &str| (label.to_owned(), Mode::Force, Some(ConflictKind::KeyConflict));
    assert_eq!(told(&outcome), [conflict("old"), conflict("second")]);
}

#[tokio::test]
async fn a_chain_of_renames_is_left_commit_by_commit() {
    let (engine, id, first) = renamed().await;
    let second = commit(&engine, "dev", vec![delete("new"), update("last", table(1), id)]).await.head;
    let all = modes(Mode::Normal, &[("new", Mode::Drop)]);
    let outcome = try_transplant(&engine, vec![first, second], "copy", all).await.unwrap();
    assert!(outcome.successful && !outcome.applied);
    assert_eq!(names(&engine, "copy").await, BTreeMap::from([("old".into(), id)]));
    // The first left and the second not: there is nothing for it to move.
    let half = modes(Mode::Normal, &[("old", Mode::Drop)]);
    match try_transplant(&engine, vec![first, second], "copy", half).await {
        Ok(outcome) => assert!(!outcome.successful),
        Err(error) => assert!(matches!(error, Error::BadRequest(_)), "{error:?}"),
    }
    assert_eq!(names(&engine, "copy").await, BTreeMap::from([("old".into(), id)]));
}
