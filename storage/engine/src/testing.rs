//! What the engine's own tests share.

use std::{collections::BTreeMap, sync::Arc};

use lochan_storage_model::{
    CommitId, CommitMeta, Content, ContentId, ContentKey, RefName,
    ports::{SystemClock, SystemRng},
};
use lochan_storage_odb::{RefKind, Store, memory::Memory};

use crate::{
    Engine, Error, Options,
    commit::{Committed, GivenId, Operation, Request},
    index::Range,
    merge::{MergeRequest, Options as MergeOptions, Outcome, Rules, TransplantRequest},
    writer::Who,
};

pub(crate) fn name(text: &str) -> RefName {
    RefName::new(text).unwrap()
}

pub(crate) fn key(text: &str) -> ContentKey {
    ContentKey::new(text.split('.')).unwrap()
}

pub(crate) fn table(snapshot: i64) -> Content {
    Content::IcebergTable {
        metadata_location: format!("s3://lake/{snapshot}.json"),
        snapshot_id: snapshot,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    }
}

pub(crate) fn namespace(text: &str, properties: &[(&str, &str)]) -> Content {
    Content::Namespace {
        elements: text.split('.').map(str::to_owned).collect(),
        properties: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
    }
}

pub(crate) fn put(at: &str, content: Content) -> Operation {
    Operation::Put { key: key(at), content, id: GivenId::New }
}

pub(crate) fn update(at: &str, content: Content, id: ContentId) -> Operation {
    Operation::Put { key: key(at), content, id: GivenId::Id(id) }
}

pub(crate) fn delete(at: &str) -> Operation {
    Operation::Delete(key(at))
}

/// An engine on a store in memory with one branch, `main`.
pub(crate) async fn engine_with(rules: Rules, options: Options) -> (Engine, Arc<Memory>) {
    let store = Arc::new(Memory::new());
    let engine = open(&store, rules, options);
    engine
        .create_reference(&name("main"), RefKind::Branch, CommitId::NO_ANCESTOR, Who::default())
        .await
        .unwrap();
    (engine, store)
}

pub(crate) fn open(store: &Arc<Memory>, rules: Rules, options: Options) -> Engine {
    let store: Arc<dyn Store> = store.clone();
    Engine::start(store, Arc::new(SystemClock), Arc::new(SystemRng), rules, options).unwrap()
}

pub(crate) async fn engine() -> Engine {
    engine_with(Rules::default(), Options::default()).await.0
}

pub(crate) async fn head(engine: &Engine, branch: &str) -> CommitId {
    engine.reference(&name(branch)).await.unwrap().target
}

pub(crate) async fn try_commit(
    engine: &Engine,
    branch: &str,
    operations: Vec<Operation>,
) -> Result<Committed, Error> {
    let expected = head(engine, branch).await;
    let mut request = Request::new(name(branch), expected, CommitMeta::default(), Who::default());
    request.operations = operations;
    engine.commit(request).await
}

pub(crate) async fn commit(engine: &Engine, branch: &str, operations: Vec<Operation>) -> Committed {
    try_commit(engine, branch, operations).await.unwrap()
}

pub(crate) async fn branch(engine: &Engine, new: &str, from: &str) {
    let target = head(engine, from).await;
    engine.create_reference(&name(new), RefKind::Branch, target, Who::default()).await.unwrap();
}

pub(crate) fn merge_options() -> MergeOptions {
    MergeOptions::default()
}

pub(crate) async fn try_merge(
    engine: &Engine,
    from: &str,
    into: &str,
    options: MergeOptions,
) -> Result<Outcome, Error> {
    let request = MergeRequest {
        branch: name(into),
        expected: head(engine, into).await,
        from: head(engine, from).await,
        source: None,
        unrelated: true,
        options,
        meta: CommitMeta::default(),
        who: Who::default(),
    };
    engine.merge(request).await
}

pub(crate) async fn merge(engine: &Engine, from: &str, into: &str) -> Outcome {
    try_merge(engine, from, into, merge_options()).await.unwrap()
}

pub(crate) async fn try_transplant(
    engine: &Engine,
    commits: Vec<CommitId>,
    into: &str,
    options: MergeOptions,
) -> Result<Outcome, Error> {
    let request = TransplantRequest {
        branch: name(into),
        expected: head(engine, into).await,
        commits,
        options,
        overrides: Default::default(),
        who: Who::default(),
    };
    engine.transplant(request).await
}

pub(crate) async fn transplant(engine: &Engine, commits: Vec<CommitId>, into: &str) -> Outcome {
    try_transplant(engine, commits, into, merge_options()).await.unwrap()
}

/// All contents of a branch: key to id and content.
pub(crate) async fn contents(engine: &Engine, branch: &str) -> BTreeMap<ContentKey, (ContentId, Content)> {
    let (_, state) = engine.at_head(&name(branch)).await.unwrap();
    let mut entries = state.entries(&Range::content()).await.unwrap();
    let mut all = BTreeMap::new();
    while let Some(item) = entries.next().await.unwrap() {
        let content = state.content_of(&item.entry).await.unwrap();
        all.insert(item.key.content().unwrap(), (item.entry.content_id, content));
    }
    all
}

/// Verifies everything stored.
pub(crate) async fn assert_sound(store: &Arc<Memory>) {
    let store: Arc<dyn lochan_storage_odb::Sweep> = store.clone();
    let report = crate::fsck::fsck(store, crate::fsck::Depth::Full, &mut |_, _| {}).await.unwrap();
    assert!(report.is_sound(), "{report:?}");
}
