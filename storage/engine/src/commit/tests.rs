//! Rules of commits where the client's state and the head differ, as the reference server has them.

use lochan_storage_model::{CommitId, CommitMeta, ConflictKind, Content};

use super::{Committed, Operation, Request};
use crate::{Engine, Error, testing::*, writer::Who};

async fn commit_at(engine: &Engine, at: CommitId, operations: Vec<Operation>) -> Result<Committed, Error> {
    let mut request = Request::new(name("main"), at, CommitMeta::default(), Who::default());
    request.operations = operations;
    engine.commit(request).await
}

fn view() -> Content {
    Content::IcebergView {
        metadata_location: "s3://lake/v.json".into(),
        version_id: 1,
        schema_id: 0,
        sql_text: None,
        dialect: None,
    }
}

fn kinds<T: std::fmt::Debug>(result: Result<T, Error>) -> Vec<(ConflictKind, String)> {
    match result {
        Err(Error::Conflicts(conflicts)) => {
            let of = |c: &lochan_storage_model::Conflict| (c.kind, c.key.as_ref().unwrap().to_string());
            conflicts.iter().map(of).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_re_add_is_checked_through_its_delete_only() {
    let engine = engine().await;
    let old = commit(&engine, "main", vec![put("other", table(0))]).await.head;
    commit(&engine, "main", vec![put("t", table(1))]).await;
    let re_add = || vec![delete("t"), put("t", table(2))];
    let told = kinds(commit_at(&engine, old, re_add()).await);
    assert_eq!(told, [(ConflictKind::PayloadDiffers, "t".into())]);
    commit(&engine, "main", vec![delete("t")]).await;
    let told = kinds(commit_at(&engine, old, re_add()).await);
    assert_eq!(told, [(ConflictKind::KeyDoesNotExist, "t".into())]);
}

#[tokio::test]
async fn what_a_rename_has_taken_cannot_be_added_anew() {
    let engine = engine().await;
    let id = commit(&engine, "main", vec![put("t", table(1))]).await.added[0].1;
    let renamed = update("new", table(1), id);
    let late = vec![delete("t"), renamed.clone(), put("t", table(2))];
    match try_commit(&engine, "main", late).await {
        Err(Error::BadRequest(told)) => {
            assert_eq!(told, "New value to update existing key 't' has no content ID");
        }
        other => panic!("{other:?}"),
    }
    commit(&engine, "main", vec![delete("t"), put("t", table(2)), renamed]).await;
    assert_eq!(contents(&engine, "main").await.len(), 2);
}

#[tokio::test]
async fn deleting_what_the_client_never_saw_does_not_empty_a_namespace() {
    let engine = engine().await;
    let old = commit(&engine, "main", vec![put("n", namespace("n", &[]))]).await.head;
    commit(&engine, "main", vec![put("n.v", table(1))]).await;
    let told = kinds(commit_at(&engine, old, vec![delete("n"), delete("n.v")]).await);
    assert_eq!(told, [(ConflictKind::NamespaceNotEmpty, "n".into())]);
}

#[tokio::test]
async fn another_type_is_refused_after_all_conflicts() {
    let engine = engine().await;
    let made = commit(&engine, "main", vec![put("t", table(1))]).await;
    let (old, id) = (made.head, made.added[0].1);
    let retyped =
        || [vec![update("t", view(), id)], vec![delete("t"), update("new", view(), id)]].into_iter();
    for operations in retyped() {
        assert!(matches!(commit_at(&engine, old, operations).await, Err(Error::BadRequest(_))));
    }
    let other = vec![update("t", table(2), id)];
    commit(&engine, "main", other).await;
    for operations in retyped() {
        let told = kinds(commit_at(&engine, old, operations).await);
        assert_eq!(told, [(ConflictKind::ValueDiffers, "t".into())]);
    }
    // What takes its place may be of any type.
    commit(&engine, "main", vec![delete("t"), put("t", view())]).await;
}
