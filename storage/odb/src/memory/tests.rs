use std::sync::Arc;

use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};

use super::*;
use crate::store::Sweep;
use crate::{
    Change, ExpectedReference, LogMeta, RefKind, RefOperation, ReferenceChange,
    conformance::{self, Backend},
};

struct InMemory;

#[async_trait]
impl Backend for InMemory {
    async fn create(&self) -> Arc<dyn Sweep> {
        Arc::new(Memory::new())
    }

    async fn reopen(&self, _: Arc<dyn Sweep>) -> Option<Arc<dyn Sweep>> {
        None
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    conformance::run(&InMemory).await;
}

fn put(kind: ObjectKind, id: ObjectId, bytes: &'static [u8]) -> Batch {
    let objects = vec![NewObject { kind, id, bytes: Bytes::from_static(bytes) }];
    Batch { changes: vec![Change { objects, ..Change::default() }] }
}

fn create_at(target: CommitId) -> Batch {
    let change = ReferenceChange {
        name: RefName::new("main").unwrap(),
        expected: ExpectedReference::Absent,
        new: Some((RefKind::Branch, target)),
        log: LogMeta {
            operation: RefOperation::Create,
            principal: String::new(),
            request: None,
            run: None,
            time: 0,
        },
    };
    Batch { changes: vec![Change { references: vec![change], ..Change::default() }] }
}

#[tokio::test]
async fn refuses_what_only_a_broken_caller_asks_for() {
    let store = Memory::new();
    let wrong = ObjectId::from_bytes([1; 32]);
    let result = store.commit(put(ObjectKind::Value, wrong, b"x")).await;
    assert!(matches!(result, Err(StoreError::Corrupt { .. })), "{result:?}");
    let result = store.commit(create_at(CommitId::new(wrong))).await;
    assert!(matches!(result, Err(StoreError::Corrupt { .. })), "{result:?}");
    assert_eq!(store.references(None, 5).await.unwrap(), []);
    let id = ObjectId::of(ObjectKind::Value, b"x");
    store.commit(put(ObjectKind::Value, id, b"x")).await.unwrap();
    let result = store.commit(create_at(CommitId::new(id))).await;
    assert!(matches!(result, Err(StoreError::Corrupt { .. })), "a value is no commit: {result:?}");
}

#[tokio::test]
async fn failures_can_be_injected() {
    let store = Memory::new();
    let batch = || create_at(CommitId::NO_ANCESTOR);
    store.fail_next_commit(Failure::Full);
    assert!(matches!(store.commit(batch()).await, Err(StoreError::Full(_))));
    assert_eq!(store.writes(), Writes::Allowed);
    store.fail_next_commit(Failure::UnknownLost);
    assert!(matches!(store.commit(batch()).await, Err(StoreError::Unknown(_))));
    assert!(matches!(store.writes(), Writes::Refused(_)));
    assert!(matches!(store.commit(batch()).await, Err(StoreError::WritesRefused(_))));
    assert!(matches!(store.put_derived(vec![]).await, Err(StoreError::WritesRefused(_))));
    store.restart();
    assert_eq!(store.references(None, 5).await.unwrap(), []);
    store.fail_next_commit(Failure::UnknownApplied);
    assert!(matches!(store.commit(batch()).await, Err(StoreError::Unknown(_))));
    assert_eq!(store.references(None, 5).await.unwrap(), []);
    store.restart();
    assert_eq!(store.references(None, 5).await.unwrap().len(), 1);
    assert_eq!(store.writes(), Writes::Allowed);
}

#[tokio::test]
async fn a_power_cut_takes_back_derived_writes_that_no_batch_has_followed() {
    let store = Memory::new();
    let row = |key: &'static str, value: &'static str| DerivedWrite {
        space: DerivedSpace::Node,
        key: key.into(),
        value: Some(value.into()),
    };
    let read = async |key: &str| store.derived(DerivedSpace::Node, key.as_bytes()).await.unwrap();
    store.put_derived(vec![row("a", "1")]).await.unwrap();
    store.commit(create_at(CommitId::NO_ANCESTOR)).await.unwrap();
    for rows in [vec![row("a", "2")], vec![row("b", "1"), row("a", "3")], vec![row("c", "1")]] {
        store.put_derived(rows).await.unwrap();
    }
    assert_eq!(store.unsynced_len(), 3);
    store.power_cut(1);
    assert_eq!((read("a").await, read("b").await, read("c").await), (Some("2".into()), None, None));
    store.put_derived(vec![row("a", "4")]).await.unwrap();
    store.power_cut(0);
    assert_eq!(read("a").await, Some("2".into()), "what a restart has found stays");
}
