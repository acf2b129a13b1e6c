//! Merges against a naive model of full copies, and the cases where data was lost elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_model::{CommitId, ConflictKind, Content, ContentId, ContentKey};
use lochan_storage_odb::RefKind;
use proptest::prelude::*;

use super::{KeyBehavior, Mode, Options};
use crate::{Engine, Error, commit::GivenId, testing::*, writer::Who};

/// What a key holds in the model: content id and a number that stands for the value.
type Model = BTreeMap<String, (ContentId, i64)>;

#[derive(Debug, Clone)]
enum Step {
    Put(u8, i64),
    Delete(u8),
    ReAdd(u8, i64),
    Rename(u8, u8),
}

fn steps(max: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0u8..10, 1i64..4).prop_map(|(k, v)| Step::Put(k, v)),
        2 => (0u8..10).prop_map(Step::Delete),
        1 => (0u8..10, 1i64..4).prop_map(|(k, v)| Step::ReAdd(k, v)),
        2 => (0u8..10, 0u8..10).prop_map(|(k, l)| Step::Rename(k, l)),
    ];
    prop::collection::vec(step, 0..max)
}

fn modes() -> impl Strategy<Value = (Mode, BTreeMap<u8, Mode>)> {
    let mode = || prop_oneof![3 => Just(Mode::Normal), 1 => Just(Mode::Force), 1 => Just(Mode::Drop)];
    (mode(), prop::collection::btree_map(0u8..10, mode(), 0..3))
}

/// Makes a step on a branch and in the model, if it is possible at all.
async fn take(engine: &Engine, branch: &str, model: &mut Model, step: &Step) {
    let label = |k: &u8| format!("k{k}");
    let operations = match step {
        Step::Put(k, v) => match model.get(&label(k)) {
            Some((id, _)) => vec![update(&label(k), table(*v), *id)],
            None => vec![put(&label(k), table(*v))],
        },
        Step::Delete(k) if model.contains_key(&label(k)) => vec![delete(&label(k))],
        Step::ReAdd(k, v) if model.contains_key(&label(k)) => {
            vec![delete(&label(k)), put(&label(k), table(*v))]
        }
        Step::Rename(k, l) if model.contains_key(&label(k)) && !model.contains_key(&label(l)) => {
            let (id, v) = model[&label(k)];
            vec![delete(&label(k)), update(&label(l), table(v), id)]
        }
        _ => return,
    };
    let committed = commit(engine, branch, operations).await;
    let added =
        |k: &u8| committed.added.iter().find(|(key, _)| *key == super::tests::key_of(k)).map(|(_, id)| *id);
    match step {
        Step::Put(k, v) | Step::ReAdd(k, v) => {
            let id = added(k).unwrap_or_else(|| model[&label(k)].0);
            model.insert(label(k), (id, *v));
        }
        Step::Delete(k) => {
            model.remove(&label(k));
        }
        Step::Rename(k, l) => {
            let held = model.remove(&label(k)).unwrap();
            model.insert(label(l), held);
        }
    }
}

fn key_of(k: &u8) -> ContentKey {
    key(&format!("k{k}"))
}

/// Groups of keys between which contents went.
fn moved_together(base: &Model, source: &Model) -> Vec<BTreeSet<String>> {
    let (was, is) =
        (|k: &String| base.get(k).map(|held| held.0), |k: &String| source.get(k).map(|held| held.0));
    let goes =
        |k: &String, l: &String| was(k).is_some() && was(k) == is(l) && is(k) != was(k) && was(l) != is(l);
    let labels: BTreeSet<&String> = base.keys().chain(source.keys()).collect();
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    for (k, l) in labels.iter().flat_map(|k| labels.iter().map(move |l| (*k, *l))).filter(|(k, l)| goes(k, l))
    {
        let mut group = BTreeSet::from([k.clone(), l.clone()]);
        groups.retain(|other| {
            let apart = other.is_disjoint(&group);
            if !apart {
                group.extend(other.iter().cloned());
            }
            apart
        });
        groups.push(group);
    }
    groups
}

/// The rules of Nessie API 9.3 over full copies, with both halves of a move decided alike. Returns the merged copy and the
/// keys in conflict.
fn naive(
    base: &Model,
    source: &Model,
    target: &Model,
    by_key: &BTreeMap<String, Mode>,
    default_mode: Mode,
) -> (Model, BTreeSet<String>) {
    let mut modes = by_key.clone();
    let mut torn = BTreeSet::new();
    for group in moved_together(base, source) {
        let own = |label: &String| by_key.get(label).copied();
        let left = group.iter().any(|label| own(label) == Some(Mode::Drop));
        let applied: Vec<_> =
            group.iter().filter(|label| own(label).is_some_and(|mode| mode != Mode::Drop)).cloned().collect();
        let mode = match (left, applied.is_empty()) {
            (true, false) => {
                torn.extend(applied);
                continue;
            }
            (true, true) => Mode::Drop,
            (false, false) if default_mode == Mode::Drop => Mode::Normal,
            _ => continue,
        };
        for label in group {
            modes.entry(label).or_insert(mode);
        }
    }
    let mode_of = |label: &String| modes.get(label).copied().unwrap_or(default_mode);
    let mut merged = target.clone();
    let mut conflicts = BTreeSet::new();
    let mut put: BTreeSet<&String> = BTreeSet::new();
    for label in base.keys().chain(source.keys()).collect::<BTreeSet<_>>() {
        let (b, s, t) = (base.get(label), source.get(label), target.get(label));
        let already_there = b.is_none() && s == t;
        if b == s || already_there || mode_of(label) == Mode::Drop {
            continue;
        }
        if torn.contains(label) || (mode_of(label) == Mode::Normal && b != t) {
            conflicts.insert(label.clone());
        }
        match s {
            Some(held) => {
                merged.insert(label.clone(), *held);
                put.insert(label);
            }
            None => {
                merged.remove(label);
            }
        }
    }
    // What force would put back beside where the target has moved it.
    for label in put {
        let id = merged[label].0;
        let twice = merged.iter().any(|(other, held)| other != label && held.0 == id);
        let forced = base.iter().any(|(from, held)| {
            let away = target.get(from).is_none_or(|there| there.0 != id);
            held.0 == id && away && base.get(from) != source.get(from) && mode_of(from) == Mode::Force
        });
        if twice && forced {
            conflicts.insert(label.clone());
        }
    }
    (merged, conflicts)
}

async fn model_of(engine: &Engine, branch: &str) -> Model {
    contents(engine, branch)
        .await
        .into_iter()
        .map(|(key, (id, content))| match content {
            Content::IcebergTable { snapshot_id, .. } => (key.to_string(), (id, snapshot_id)),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("LOCHAN_MERGE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
    ))]

    /// The merged state and the conflicts equal the model's, for random histories and modes; a dry run foretells them.
    #[test]
    fn equals_the_model(
        common in steps(12), ours in steps(10), theirs in steps(10), (default_mode, by_key) in modes(),
    ) {
        run(async {
            let engine = engine().await;
            let mut base = Model::new();
            commit(&engine, "main", vec![put("first", table(0))]).await;
            for step in &common { take(&engine, "main", &mut base, step).await; }
            branch(&engine, "dev", "main").await;
            let (mut target, mut source) = (base.clone(), base.clone());
            for step in &ours { take(&engine, "main", &mut target, step).await; }
            for step in &theirs { take(&engine, "dev", &mut source, step).await; }
            let changed: BTreeSet<&String> = base.keys().chain(source.keys())
                .filter(|label| base.get(*label) != source.get(*label)).collect();
            let by_key: BTreeMap<String, Mode> = by_key.into_iter()
                .map(|(k, mode)| (format!("k{k}"), mode)).filter(|(label, _)| changed.contains(label)).collect();
            let (mut merged, conflicts) = naive(&base, &source, &target, &by_key, default_mode);

            let mut options = merge_options();
            options.default_mode = default_mode;
            for (label, mode) in &by_key {
                options.keys.insert(key(label), KeyBehavior { mode: *mode, ..KeyBehavior::default() });
            }
            let before = head(&engine, "main").await;
            let mut dry = options.clone();
            dry.dry_run = true;
            let foretold = try_merge(&engine, "dev", "main", dry).await.unwrap();
            prop_assert_eq!(head(&engine, "main").await, before);
            let outcome = try_merge(&engine, "dev", "main", options).await.unwrap();
            prop_assert_eq!(&foretold.details, &outcome.details);
            prop_assert_eq!(foretold.successful, outcome.successful);

            let found: BTreeSet<String> = outcome.details.iter()
                .filter(|detail| detail.conflict.is_some()).map(|detail| detail.key.to_string()).collect();
            prop_assert_eq!(&found, &conflicts);
            prop_assert_eq!(outcome.successful, conflicts.is_empty());
            if !conflicts.is_empty() {
                prop_assert_eq!(head(&engine, "main").await, before);
                merged = target;
            }
            merged.insert("first".into(), model_of(&engine, "main").await["first"]);
            let found = model_of(&engine, "main").await;
            let ids: BTreeSet<ContentId> = found.values().map(|held| held.0).collect();
            prop_assert_eq!(ids.len(), found.len(), "no content has two names: {:?}", found);
            prop_assert_eq!(found, merged);
            Ok(())
        })?;
    }

    /// Transplanting every commit of a branch, one call, equals committing the same on the target. Only what was added anew
    /// needs force: a stored put knows its own id only.
    #[test]
    fn a_transplant_replays(common in steps(8), theirs in steps(8)) {
        run(async {
            let engine = engine().await;
            let mut model = Model::new();
            commit(&engine, "main", vec![put("first", table(0))]).await;
            for step in &common { take(&engine, "main", &mut model, step).await; }
            branch(&engine, "dev", "main").await;
            let fork = head(&engine, "main").await;
            for step in &theirs { take(&engine, "dev", &mut model, step).await; }
            commit(&engine, "main", vec![put("other", table(0))]).await;
            let mut log = engine.log(head(&engine, "dev").await);
            let mut commits = Vec::new();
            while log.position() != fork { commits.push(log.next().await.unwrap().unwrap().id); }
            commits.reverse();
            if commits.is_empty() { return Ok(()); }
            let count = commits.len() as u64;
            let before = engine.commits().depth(head(&engine, "main").await).await.unwrap();
            let forced = Options { default_mode: Mode::Force, ..merge_options() };
            let dry = Options { dry_run: true, ..merge_options() };
            let foretold = try_transplant(&engine, commits.clone(), "main", dry).await.unwrap();
            for detail in foretold.details.iter().filter(|detail| detail.conflict.is_some()) {
                prop_assert!(theirs.iter().any(|step| {
                    matches!(step, Step::ReAdd(k, _) if key_of(k) == detail.key)
                }), "{:?}", detail);
            }
            let outcome = try_transplant(&engine, commits, "main", forced).await.unwrap();
            prop_assert!(outcome.applied && outcome.successful);
            let state = model_of(&engine, "main").await;
            model.insert("first".into(), state["first"]);
            model.insert("other".into(), state["other"]);
            prop_assert_eq!(state, model);
            let after = engine.commits().depth(head(&engine, "main").await).await.unwrap();
            prop_assert_eq!(after, before + count);
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_rename_is_carried_whole() {
    let engine = engine().await;
    let id = commit(&engine, "main", vec![put("old", table(1))]).await.added[0].1;
    branch(&engine, "dev", "main").await;
    let renamed = commit(&engine, "dev", vec![delete("old"), update("new", table(1), id)]).await.head;
    branch(&engine, "copy", "main").await;
    assert!(merge(&engine, "dev", "main").await.applied);
    assert!(transplant(&engine, vec![renamed], "copy").await.applied);
    for target in ["main", "copy"] {
        let state = contents(&engine, target).await;
        assert_eq!(state.keys().map(ToString::to_string).collect::<Vec<_>>(), ["new"], "{target}");
        assert_eq!(state[&key("new")].0, id, "{target}: the content keeps its id");
    }
}

#[tokio::test]
async fn an_empty_branch_brings_nothing() {
    let engine = engine().await;
    branch(&engine, "empty", "main").await;
    commit(&engine, "main", vec![put("t", table(1))]).await;
    let before = head(&engine, "main").await;
    let outcome = merge(&engine, "empty", "main").await;
    assert!(outcome.successful && !outcome.applied);
    assert_eq!(outcome.result, Some(before));
    assert_eq!(contents(&engine, "main").await.len(), 1);
}

#[tokio::test]
async fn branches_cut_from_the_empty_state_merge() {
    let engine = engine().await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("a", table(1))]).await;
    commit(&engine, "dev", vec![put("b", table(2))]).await;
    let outcome = merge(&engine, "dev", "main").await;
    assert!(outcome.applied);
    assert_eq!(outcome.base, Some(CommitId::NO_ANCESTOR));
    assert_eq!(contents(&engine, "main").await.len(), 2);
}

/// `main` and `dev` each hold a namespace of their own at `ns`; gives the ids of both.
async fn namespaces_on_both_sides(
    ours: &[(&str, &str)],
    theirs: &[(&str, &str)],
) -> (Engine, ContentId, ContentId) {
    let engine = engine().await;
    commit(&engine, "main", vec![put("first", table(0))]).await;
    branch(&engine, "dev", "main").await;
    let ours = commit(&engine, "main", vec![put("ns", namespace("ns", ours))]).await.added[0].1;
    let theirs = commit(&engine, "dev", vec![put("ns", namespace("ns", theirs))]).await.added[0].1;
    (engine, ours, theirs)
}

#[tokio::test]
async fn a_namespace_put_on_both_sides_keeps_all_properties() {
    let (engine, ours, theirs) =
        namespaces_on_both_sides(&[("a", "1"), ("same", "x")], &[("b", "2"), ("same", "x")]).await;
    commit(&engine, "main", vec![put("ns.ours", table(1))]).await;
    commit(&engine, "dev", vec![put("ns.theirs", table(2))]).await;
    let outcome = merge(&engine, "dev", "main").await;
    assert!(outcome.applied);
    assert_eq!(outcome.details.len(), 1, "only the table is told: {:?}", outcome.details);
    let state = contents(&engine, "main").await;
    assert_ne!(ours, theirs);
    assert_eq!(state[&key("ns")], (theirs, namespace("ns", &[("a", "1"), ("b", "2"), ("same", "x")])));
    assert!(state.contains_key(&key("ns.ours")) && state.contains_key(&key("ns.theirs")));
}

#[tokio::test]
async fn of_a_property_named_on_both_sides_the_sources_value_counts() {
    for mode in [Mode::Normal, Mode::Force] {
        let (engine, _, theirs) = namespaces_on_both_sides(&[("a", "1"), ("own", "x")], &[("a", "2")]).await;
        let options = Options { default_mode: mode, ..merge_options() };
        assert!(try_merge(&engine, "dev", "main", options).await.unwrap().applied);
        let joined = namespace("ns", &[("a", "2"), ("own", "x")]);
        assert_eq!(contents(&engine, "main").await[&key("ns")], (theirs, joined), "{mode:?}");
    }
}

#[tokio::test]
async fn a_transplanted_namespace_joins_the_one_that_stands_there() {
    let (engine, _, theirs) = namespaces_on_both_sides(&[("a", "1")], &[("b", "2")]).await;
    let picked = head(&engine, "dev").await;
    transplant(&engine, vec![picked], "main").await;
    let joined = namespace("ns", &[("a", "1"), ("b", "2")]);
    assert_eq!(contents(&engine, "main").await[&key("ns")], (theirs, joined));
}

#[tokio::test]
async fn a_forced_delete_of_what_is_gone_is_kept_and_told() {
    let engine = engine().await;
    let id = commit(&engine, "main", vec![put("t", table(1))]).await.added[0].1;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![delete("t")]).await;
    commit(&engine, "dev", vec![delete("t")]).await;
    let options = Options { default_mode: Mode::Force, ..merge_options() };
    let outcome = try_merge(&engine, "dev", "main", options).await.unwrap();
    assert!(outcome.applied);
    assert_eq!(outcome.details.iter().map(|detail| &detail.key).collect::<Vec<_>>(), [&key("t")]);
    assert!(contents(&engine, "main").await.is_empty());
    // The key is free for another content.
    assert_ne!(commit(&engine, "main", vec![put("t", table(2))]).await.added[0].1, id);
}

#[tokio::test]
async fn of_a_branch_and_a_tag_of_one_name_made_at_once_one_stays() {
    let engine = engine().await;
    let at = commit(&engine, "main", vec![put("t", table(1))]).await.head;
    for round in 0..8 {
        let wanted = name(&format!("n{round}"));
        let make = |kind| engine.create_reference(&wanted, kind, at, Who::default());
        let (branch, tag) = tokio::join!(make(RefKind::Branch), make(RefKind::Tag));
        assert_ne!(branch.is_ok(), tag.is_ok(), "{branch:?} {tag:?}");
        let made = branch.or(tag).unwrap();
        assert_eq!(engine.find_reference(&wanted).await.unwrap(), Some(made));
    }
}

#[tokio::test]
async fn a_second_merge_of_the_same_branch_starts_at_the_first() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("first", table(0))]).await;
    branch(&engine, "dev", "main").await;
    let id = commit(&engine, "dev", vec![put("t", table(1))]).await.added[0].1;
    merge(&engine, "dev", "main").await;
    let merged = head(&engine, "dev").await;
    commit(&engine, "dev", vec![update("t", table(2), id)]).await;
    let outcome = merge(&engine, "dev", "main").await;
    assert!(outcome.applied);
    assert_eq!(outcome.base, Some(merged));
    assert_eq!(contents(&engine, "main").await[&key("t")].1, table(2));
}

#[tokio::test]
async fn deleting_a_namespace_that_the_target_has_filled_is_refused() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("ns", namespace("ns", &[]))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "dev", vec![delete("ns")]).await;
    commit(&engine, "main", vec![put("ns.t", table(1))]).await;
    match try_merge(&engine, "dev", "main", merge_options()).await {
        Err(Error::Conflicts(conflicts)) => assert_eq!(conflicts[0].kind, ConflictKind::NamespaceNotEmpty),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_expected_content_holds_under_force_and_a_resolved_one_is_stored() {
    let engine = engine().await;
    let id = commit(&engine, "main", vec![put("t", table(1))]).await.added[0].1;
    branch(&engine, "dev", "main").await;
    commit(&engine, "dev", vec![update("t", table(2), id)]).await;
    commit(&engine, "main", vec![update("t", table(3), id)]).await;
    let with = |mode, expected: i64, resolved: Option<i64>| {
        let mut options = merge_options();
        let behavior = KeyBehavior {
            mode,
            expected: Some((GivenId::Id(id), table(expected))),
            resolved: resolved.map(|snapshot| (GivenId::Id(id), table(snapshot))),
            ..KeyBehavior::default()
        };
        options.keys.insert(key("t"), behavior);
        options
    };
    let forced = try_merge(&engine, "dev", "main", with(Mode::Force, 1, None)).await.unwrap();
    assert!(!forced.successful, "the target does not hold what was expected");
    let resolved = try_merge(&engine, "dev", "main", with(Mode::Normal, 3, Some(4))).await.unwrap();
    assert!(resolved.applied);
    assert_eq!(contents(&engine, "main").await[&key("t")].1, table(4));
    let unused = with(Mode::Normal, 3, Some(4));
    branch(&engine, "other", "main").await;
    commit(&engine, "other", vec![put("x", table(1))]).await;
    assert!(matches!(
        try_merge(&engine, "other", "main", unused).await,
        Err(Error::KeysNotUsed { named: 1, .. })
    ));
}

/// Both sides changed `t`, and `u` lives on beside it; the source has moved what `m` held to `n`, and put something new at
/// `m`. Returns the ids of `t`, `u` and `m`, and the commit on `t`.
async fn to_be_resolved(engine: &Engine) -> (Vec<ContentId>, CommitId) {
    let made = commit(engine, "main", ["m", "t", "u"].map(|at| put(at, table(1))).to_vec()).await;
    let id = |at: &str| made.added.iter().find(|(added, _)| *added == key(at)).unwrap().1;
    let ids: Vec<_> = ["t", "u", "m"].map(id).to_vec();
    branch(engine, "dev", "main").await;
    let picked = commit(engine, "dev", vec![update("t", table(2), ids[0])]).await.head;
    commit(engine, "dev", vec![delete("m"), update("n", table(1), ids[2])]).await;
    commit(engine, "dev", vec![put("m", table(5))]).await;
    commit(engine, "main", vec![update("t", table(3), ids[0])]).await;
    (ids, picked)
}

/// As for a commit: else one content would stand under two keys, or change its type.
#[tokio::test]
async fn a_resolved_content_is_another_state_of_what_stands_there() {
    let (engine, store) = crate::testing::engine_with(Default::default(), Default::default()).await;
    let (ids, picked) = to_be_resolved(&engine).await;
    let [t, u, m] = ids[..] else { panic!("three ids") };
    let with = |at: &str, id, expected, resolved| {
        let expected = Some((GivenId::Id(id), expected));
        let behavior = KeyBehavior { expected, resolved: Some(resolved), ..KeyBehavior::default() };
        let mut options = merge_options();
        options.keys.insert(key(at), behavior);
        options
    };
    let view = Content::IcebergView {
        metadata_location: "s3://v".into(),
        version_id: 1,
        schema_id: 0,
        sql_text: None,
        dialect: None,
    };
    let unknown = ContentId::from_bytes([7; 16]);
    let before = head(&engine, "main").await;
    // A dry run of a merge stores nothing, and answers as the reference server does.
    let dry = with("t", t, table(3), (GivenId::Id(u), table(4)));
    let dry = try_merge(&engine, "dev", "main", Options { dry_run: true, ..dry }).await.unwrap();
    assert!(dry.successful && !dry.applied);
    for (resolved, why) in [
        ((GivenId::Id(u), table(4)), "must have the content ID"),
        ((GivenId::Id(u), table(1)), "must have the content ID"),
        ((GivenId::Id(unknown), table(4)), "must have the content ID"),
        ((GivenId::Id(t), view), "must be of the type"),
        ((GivenId::New, table(4)), "must have a non-null content ID"),
    ] {
        let options = with("t", t, table(3), resolved);
        let dry = Options { dry_run: true, ..options.clone() };
        for outcome in [
            try_merge(&engine, "dev", "main", options.clone()).await,
            try_transplant(&engine, vec![picked], "main", options).await,
            try_transplant(&engine, vec![picked], "main", dry).await,
        ] {
            match outcome {
                Err(Error::BadRequest(told)) => assert!(told.contains(why), "{told}"),
                other => panic!("{why}: {other:?}"),
            }
        }
    }
    // What `m` holds on the target goes to `n` with the merge.
    let mut both = with("m", m, table(1), (GivenId::Id(m), table(6)));
    both.default_mode = Mode::Force;
    match try_merge(&engine, "dev", "main", both.clone()).await {
        Err(Error::BadRequest(told)) => assert!(told.contains("to key n"), "{told}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(head(&engine, "main").await, before);
    // A content of the source's own is fine, and so is another state of the target's.
    let new = contents(&engine, "dev").await[&key("m")].0;
    both.keys.get_mut(&key("m")).unwrap().resolved = Some((GivenId::Id(new), table(6)));
    both.keys.extend(with("t", t, table(3), (GivenId::Id(t), table(4))).keys);
    assert!(try_merge(&engine, "dev", "main", both).await.unwrap().applied);
    let merged = contents(&engine, "main").await;
    assert_eq!(merged[&key("m")], (new, table(6)));
    assert_eq!(merged[&key("t")], (t, table(4)));
    assert_eq!(merged[&key("n")].0, m);
    crate::testing::assert_sound(&store).await;
}

#[tokio::test]
async fn a_forced_overwrite_of_a_filled_namespace_by_a_table_is_refused() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("other", table(1))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("a", namespace("a", &[]))]).await;
    commit(&engine, "main", vec![put("a.t", table(1))]).await;
    commit(&engine, "dev", vec![put("a", table(2))]).await;
    let mut options = merge_options();
    options.default_mode = Mode::Force;
    let outcome = try_merge(&engine, "dev", "main", options).await;
    assert!(matches!(outcome, Err(Error::Conflicts(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_forced_delete_of_what_is_now_a_filled_namespace_is_refused() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("a", table(1))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "dev", vec![delete("a")]).await;
    commit(&engine, "main", vec![delete("a")]).await;
    commit(&engine, "main", vec![put("a", namespace("a", &[]))]).await;
    commit(&engine, "main", vec![put("a.t", table(1))]).await;
    let mut options = merge_options();
    options.default_mode = Mode::Force;
    let outcome = try_merge(&engine, "dev", "main", options).await;
    assert!(matches!(outcome, Err(Error::Conflicts(_))), "{outcome:?}");
}

#[tokio::test]
async fn no_more_commits_are_rebased_than_the_bound() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("base", table(0))]).await;
    let onto = head(&engine, "main").await;
    branch(&engine, "dev", "main").await;
    let made = commit(&engine, "dev", vec![put("t", table(0))]).await;
    let (_, id) = made.added[0];
    for n in 1..super::REBASE_COMMITS_MAX {
        commit(&engine, "dev", vec![update("t", table(n as i64), id)]).await;
    }
    let most = engine.commits_to_rebase(head(&engine, "dev").await, onto).await.unwrap();
    assert_eq!((most.len(), most[0]), (super::REBASE_COMMITS_MAX, made.head));
    commit(&engine, "dev", vec![update("t", table(-1), id)]).await;
    let error = engine.commits_to_rebase(head(&engine, "dev").await, onto).await.unwrap_err();
    assert!(matches!(&error, Error::BadRequest(message) if message.contains("10001")), "{error}");
}
