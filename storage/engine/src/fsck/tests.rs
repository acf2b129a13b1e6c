use bytes::Bytes;
use lochan_storage_model::{Commit, CommitId, CommitMeta, ObjectId, ObjectKind, commit::Header};
use lochan_storage_odb::{Batch, Change, NewObject, RefKind, Store, memory::Memory};

use super::*;
use crate::{Engine, graph::Step, index::Tree, testing, writer::Who};

/// A commit without operations that says `root`, made past the engine.
async fn forged(engine: &Engine, store: &Memory, parent: CommitId, root: ObjectId) -> CommitId {
    let header = engine.commits().load(parent).await.unwrap().header.clone();
    let skip = engine.commits().skip_for(parent, Step::of(&header)).await.unwrap();
    let Header { depth, generation, time, .. } = header;
    let (depth, generation, time) = (depth + 1, generation + 1, time + 1);
    let header = Header { parents: vec![parent], depth, generation, skip, time, root };
    let (meta, attachments, operations) = (CommitMeta::default(), vec![], vec![]);
    let bytes = Bytes::from(Commit { header, meta, attachments, operations }.encode());
    let id = Commit::id_of(&bytes);
    let object = NewObject { kind: ObjectKind::Commit, id: id.object(), bytes };
    let change = Change { objects: vec![object], ..Change::default() };
    store.commit(Batch { changes: vec![change] }).await.unwrap();
    id
}

#[tokio::test]
async fn a_wrong_root_is_named_at_heads_and_with_all_others_when_all_are_computed() {
    let (engine, store) = testing::engine_with(Rules::default(), Options::default()).await;
    for n in 0..30 {
        testing::commit(&engine, "main", vec![testing::put(&format!("t{n}"), testing::table(n))]).await;
    }
    let fork = testing::head(&engine, "main").await;
    testing::branch(&engine, "dev", "main").await;
    for n in 0..5 {
        testing::commit(&engine, "dev", vec![testing::delete(&format!("t{n}"))]).await;
        testing::commit(&engine, "main", vec![testing::put(&format!("n{n}"), testing::table(n))]).await;
    }
    let root = engine.commits().load(fork).await.unwrap().header.root;
    let wrong = forged(&engine, &store, fork, Tree::empty_id()).await;
    let right = forged(&engine, &store, wrong, root).await;
    engine.create_reference(&testing::name("on-it"), RefKind::Branch, right, Who::default()).await.unwrap();
    let sweep: Arc<dyn Sweep> = store.clone();
    let found = async |depth| fsck(sweep.clone(), depth, &mut |_, _| {}).await.unwrap();
    let heads = found(Depth::Heads).await;
    assert_eq!((&heads.findings[..], heads.roots), (&[][..], 3));
    let full = found(Depth::Full).await;
    assert_eq!((full.roots, full.commits), (42, 42));
    let [finding] = &full.findings[..] else { panic!("{:?}", full.findings) };
    assert_eq!(finding.what, format!("commit {wrong}"));
    let detail = format!("its operations give the index root {root} instead of {}", Tree::empty_id());
    assert_eq!(finding.detail, detail);

    engine.create_reference(&testing::name("at-it"), RefKind::Tag, wrong, Who::default()).await.unwrap();
    assert_eq!(found(Depth::Heads).await.findings, full.findings);
}
