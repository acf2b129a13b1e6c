use lochan_storage_model::{CommitMeta, ConflictKind, Content};
use lochan_storage_odb::memory::Memory;

use super::*;
use crate::{
    Options as EngineOptions,
    commit::Request,
    merge::{Mode, Rules},
    testing::{
        assert_sound, branch, commit, contents, delete, engine, engine_with, head, key, merge, merge_options,
        name, namespace, put, table, transplant, update,
    },
};

async fn request(engine: &Engine, of: &str, onto: &str) -> RebaseRequest {
    RebaseRequest {
        branch: name(of),
        expected: head(engine, of).await,
        onto: name(onto),
        onto_expected: head(engine, onto).await,
        options: merge_options(),
        who: Who { principal: "ada".into(), ..Who::default() },
    }
}

async fn rebase(engine: &Engine, of: &str, onto: &str) -> Rebased {
    engine.rebase(request(engine, of, onto).await).await.unwrap()
}

fn fates(rebased: &Rebased) -> Vec<Fate> {
    rebased.commits.iter().map(|commit| commit.fate).collect()
}

/// `main` and `dev` with one commit of their own each.
async fn forked() -> Engine {
    forked_on().await.0
}

async fn forked_on() -> (Engine, Arc<Memory>) {
    let (engine, store) = engine_with(Rules::default(), EngineOptions::default()).await;
    commit(&engine, "main", vec![put("a", table(1))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("m", table(2))]).await;
    commit(&engine, "dev", vec![put("d", table(3))]).await;
    (engine, store)
}

#[tokio::test]
async fn commits_move_onto_the_other_head_in_one_change() {
    let (engine, store) = forked_on().await;
    let mut second = Request::new(
        name("dev"),
        head(&engine, "dev").await,
        CommitMeta { message: "second".into(), committer: "bob".into(), ..CommitMeta::default() },
        Who::default(),
    );
    second.operations = vec![delete("d"), put("e", table(4))];
    engine.commit(second).await.unwrap();
    let (old, main) = (head(&engine, "dev").await, head(&engine, "main").await);
    let before = contents(&engine, "dev").await;

    let rebased = rebase(&engine, "dev", "main").await;
    assert!(rebased.applied && rebased.successful);
    assert_eq!(fates(&rebased), [Fate::Picked, Fate::Picked]);
    assert_eq!((rebased.old, rebased.new), (old, Some(head(&engine, "dev").await)));
    // The two new commits stand on the head of the other branch, with their ids told in order.
    let mut log = engine.log(head(&engine, "dev").await);
    let (last, first) = (log.next().await.unwrap().unwrap(), log.next().await.unwrap().unwrap());
    assert_eq!(rebased.commits.iter().map(|c| c.new).collect::<Vec<_>>(), [Some(first.id), Some(last.id)]);
    assert_eq!(log.position(), main);
    let meta = &last.commit.meta;
    assert_eq!((meta.message.as_str(), meta.committer.as_str()), ("second", "ada"));
    assert_eq!(meta.authors, ["bob"]);
    assert!(meta.author_time.is_some());
    // Nothing is lost and nothing invented: the branch's own state, and what the other one has.
    let after = contents(&engine, "dev").await;
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|(key, held)| after.get(key) == Some(held)));
    // One entry in the log, and the reference it stands on has none.
    let entry = engine.ref_log(&name("dev"), None, 1).await.unwrap().remove(0);
    assert_eq!((entry.operation, entry.old, entry.new), (RefOperation::Rebase, Some(old), rebased.new));
    // The second time there is nothing to do.
    let again = rebase(&engine, "dev", "main").await;
    assert!(!again.applied && again.successful && again.commits.is_empty());
    assert_sound(&store).await;
}

#[tokio::test]
async fn a_branch_without_commits_of_its_own_moves_forward() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("a", table(1))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("b", table(1))]).await;
    let rebased = rebase(&engine, "dev", "main").await;
    assert!(rebased.applied && rebased.commits.is_empty());
    assert_eq!(head(&engine, "dev").await, head(&engine, "main").await);
}

#[tokio::test]
async fn what_the_target_holds_already_is_left_out() {
    let engine = forked().await;
    let picked = head(&engine, "dev").await;
    transplant(&engine, vec![picked], "main").await;
    commit(&engine, "dev", vec![put("e", table(5))]).await;
    let rebased = rebase(&engine, "dev", "main").await;
    assert_eq!(fates(&rebased), [Fate::Contained, Fate::Picked]);
    assert_eq!(rebased.commits[0].new, None);
    assert_eq!(contents(&engine, "dev").await.len(), 4);
}

#[tokio::test]
async fn conflicts_are_told_and_nothing_moves() {
    let engine = forked().await;
    let id = contents(&engine, "main").await[&key("a")].0;
    commit(&engine, "main", vec![update("a", table(10), id)]).await;
    commit(&engine, "dev", vec![update("a", table(20), id)]).await;
    commit(&engine, "dev", vec![put("z", table(1))]).await;
    let before = head(&engine, "dev").await;
    let rebased = rebase(&engine, "dev", "main").await;
    assert!(!rebased.applied && !rebased.successful && rebased.new.is_none());
    assert_eq!(fates(&rebased), [Fate::Picked, Fate::Conflict, Fate::Picked]);
    let conflicts: Vec<_> = rebased.details.iter().filter_map(|detail| detail.conflict.clone()).collect();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].key, Some(key("a")));
    assert_eq!(head(&engine, "dev").await, before);
    // With the source's word on every key it goes through; a dry run of that changes nothing.
    let mut forced = request(&engine, "dev", "main").await;
    forced.options.default_mode = Mode::Force;
    forced.options.dry_run = true;
    let dry = engine.rebase(forced.clone()).await.unwrap();
    assert!(dry.successful && !dry.applied && dry.new.is_none());
    assert_eq!(head(&engine, "dev").await, before);
    forced.options.dry_run = false;
    assert!(engine.rebase(forced).await.unwrap().applied);
    assert_eq!(contents(&engine, "dev").await[&key("a")], (id, table(20)));
}

#[tokio::test]
async fn either_reference_elsewhere_is_refused() {
    let engine = forked().await;
    let wanted = request(&engine, "dev", "main").await;
    commit(&engine, "main", vec![put("x", table(1))]).await;
    match engine.rebase(wanted.clone()).await {
        Err(Error::UnexpectedHash { found, .. }) => assert_eq!(found.name, name("main")),
        other => panic!("{other:?}"),
    }
    let mut wanted = RebaseRequest { onto_expected: head(&engine, "main").await, ..wanted };
    commit(&engine, "dev", vec![put("y", table(1))]).await;
    match engine.rebase(wanted.clone()).await {
        Err(Error::UnexpectedHash { found, .. }) => assert_eq!(found.name, name("dev")),
        other => panic!("{other:?}"),
    }
    wanted.onto = name("dev");
    assert!(matches!(engine.rebase(wanted).await, Err(Error::BadRequest(_))));
}

#[tokio::test]
async fn a_race_for_the_branch_has_one_winner() {
    let (engine, store) = forked_on().await;
    let wanted = request(&engine, "dev", "main").await;
    let rebases = futures::future::join_all((0..4).map(|_| engine.rebase(wanted.clone()))).await;
    let won = rebases.iter().filter(|result| result.as_ref().is_ok_and(|rebased| rebased.applied)).count();
    assert_eq!(won, 1);
    assert!(rebases.iter().filter(|r| r.is_err()).all(|r| matches!(r, Err(Error::UnexpectedHash { .. }))));
    assert_sound(&store).await;
}

#[tokio::test]
async fn having_merged_the_target_before_does_no_harm() {
    let engine = forked().await;
    let id = contents(&engine, "main").await[&key("m")].0;
    merge(&engine, "main", "dev").await;
    // The target changes again what the merge has brought: the branch never touched it, so nothing conflicts.
    commit(&engine, "main", vec![update("m", table(99), id)]).await;
    commit(&engine, "dev", vec![put("e", table(4))]).await;
    let rebased = rebase(&engine, "dev", "main").await;
    assert!(rebased.applied, "{rebased:?}");
    // Only what the target does not contain: the branch's first commit, the merge, and the last one.
    assert_eq!(fates(&rebased), [Fate::Picked, Fate::Contained, Fate::Picked]);
    assert_eq!(contents(&engine, "dev").await[&key("m")], (id, table(99)));
}

#[tokio::test]
async fn merges_of_other_branches_keep_their_second_parent() {
    let engine = forked().await;
    branch(&engine, "side", "dev").await;
    commit(&engine, "side", vec![put("s", table(7))]).await;
    commit(&engine, "dev", vec![put("e", table(4))]).await;
    let side = head(&engine, "side").await;
    merge(&engine, "side", "dev").await;
    let rebased = rebase(&engine, "dev", "main").await;
    assert_eq!(fates(&rebased), [Fate::Picked, Fate::Picked, Fate::Picked]);
    let last = engine.commits().load(rebased.new.unwrap()).await.unwrap();
    assert_eq!(last.header.parents.len(), 2);
    assert_eq!(last.header.parents[1], side);
    assert!(contents(&engine, "dev").await.contains_key(&key("s")));
    // Merging the other branch again finds it contained.
    assert!(!merge(&engine, "side", "dev").await.applied);
}

#[tokio::test]
async fn namespaces_that_are_missing_there_are_conflicts() {
    let engine = engine().await;
    commit(&engine, "main", vec![put("ns", namespace("ns", &[]))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "dev", vec![put("ns.t", table(1))]).await;
    commit(&engine, "main", vec![delete("ns")]).await;
    match engine.rebase(request(&engine, "dev", "main").await).await {
        Err(Error::Conflicts(conflicts)) => assert_eq!(conflicts[0].kind, ConflictKind::NamespaceAbsent),
        other => panic!("{other:?}"),
    }
    let Content::Namespace { .. } = contents(&engine, "dev").await[&key("ns")].1 else {
        panic!("no namespace")
    };
}
