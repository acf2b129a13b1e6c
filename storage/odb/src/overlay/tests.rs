use lochan_storage_model::CommitId;

use super::*;
use crate::{
    Change, Damage, ExpectedRecord, ExpectedReference, Identity, Load, LogMeta, Point, RecordChange, RefKind,
    RefOperation, ReferenceChange, conformance,
    memory::Memory,
    store::{Epoch, Scanned, Sweep},
};

/// An overlay on an empty store must behave like a store; sweeping is not its business.
struct OnEmpty;

struct Swept(Overlay, Memory);

#[async_trait]
impl conformance::Backend for OnEmpty {
    async fn create(&self) -> Arc<dyn Sweep> {
        Arc::new(Swept(Overlay::new(Arc::new(Memory::new())), Memory::new()))
    }

    async fn reopen(&self, _: Arc<dyn Sweep>) -> Option<Arc<dyn Sweep>> {
        None
    }
}

#[async_trait]
impl Store for Swept {
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        self.0.object(kind, id).await
    }
    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        self.0.reference(name).await
    }
    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError> {
        self.0.references(after, limit).await
    }
    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        self.0.record(space, key).await
    }
    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        self.0.records(space, after, limit).await
    }
    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        self.0.ref_log(name, before, limit).await
    }
    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError> {
        self.0.ref_log_names(after, limit).await
    }
    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        self.0.request(key).await
    }
    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.0.derived(space, key).await
    }
    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        self.0.derived_scan(space, prefix, from, reverse, limit).await
    }
    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError> {
        self.0.put_derived(rows).await
    }
    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError> {
        self.0.commit(batch).await
    }
    fn writes(&self) -> Writes {
        self.0.writes()
    }
}

#[async_trait]
impl Sweep for Swept {
    async fn epoch(&self) -> Result<Epoch, StoreError> {
        self.1.epoch().await
    }
    async fn begin_epoch(&self) -> Result<Epoch, StoreError> {
        self.1.begin_epoch().await
    }
    async fn scan_objects(&self, after: Option<Bytes>, limit: usize) -> Result<Vec<Scanned>, StoreError> {
        self.1.scan_objects(after, limit).await
    }
    async fn read_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Scanned<NewObject>>, StoreError> {
        self.1.read_objects(after, limit, bytes_max).await
    }
    async fn delete_objects(
        &self,
        ids: &[(ObjectKind, ObjectId)],
        epoch: Epoch,
    ) -> Result<usize, StoreError> {
        self.1.delete_objects(ids, epoch).await
    }
    async fn expire_ref_log(&self, time: i64) -> Result<usize, StoreError> {
        self.1.expire_ref_log(time).await
    }
    fn identity(&self) -> Identity {
        self.1.identity()
    }
    async fn point(&self) -> Result<(Point, Bytes), StoreError> {
        self.1.point().await
    }
    async fn salvage(&self) -> Result<(Load, Vec<Damage>), StoreError> {
        self.1.salvage().await
    }
    async fn load(&self, rows: Load) -> Result<(), StoreError> {
        self.1.load(rows).await
    }
    async fn adopt(&self, repository: [u8; 16]) -> Result<(), StoreError> {
        self.1.adopt(repository).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn is_a_store() {
    conformance::run_store(&OnEmpty).await;
}

fn name(text: &str) -> RefName {
    RefName::new(text).unwrap()
}

fn commit(text: &'static str) -> NewObject {
    let bytes = Bytes::from(text);
    NewObject { kind: ObjectKind::Commit, id: ObjectId::of(ObjectKind::Commit, &bytes), bytes }
}

fn moved(name: &RefName, old: Option<CommitId>, new: Option<CommitId>) -> ReferenceChange {
    ReferenceChange {
        name: name.clone(),
        expected: old.map_or(ExpectedReference::Absent, |old| ExpectedReference::At(RefKind::Branch, old)),
        new: new.map(|new| (RefKind::Branch, new)),
        log: LogMeta {
            operation: RefOperation::Assign,
            principal: String::new(),
            request: None,
            run: None,
            time: 0,
        },
    }
}

async fn land(store: &dyn Store, change: Change) {
    assert_eq!(store.commit(Batch { changes: vec![change] }).await.unwrap().refused, []);
}

fn record(key: &'static str, value: Option<&'static str>) -> RecordChange {
    let value = value.map(Bytes::from);
    RecordChange { space: RecordSpace::Setting, key: key.into(), expected: ExpectedRecord::Any, value }
}

fn row(key: &'static str, value: Option<&'static str>) -> DerivedWrite {
    DerivedWrite { space: DerivedSpace::Document, key: key.into(), value: value.map(Bytes::from) }
}

#[tokio::test]
async fn shows_the_base_and_never_touches_it() {
    let base: Arc<dyn Store> = Arc::new(Memory::new());
    let (a, b, c) = (name("a"), name("b"), name("c"));
    let root = CommitId::NO_ANCESTOR;
    let first = commit("first");
    let at_first = CommitId::new(first.id);
    let change = Change {
        objects: vec![first.clone()],
        references: vec![moved(&a, None, Some(at_first)), moved(&b, None, Some(root))],
        records: vec![record("x", Some("1")), record("y", Some("1"))],
        derived: vec![row("p", Some("1")), row("q", Some("1")), row("r", Some("1"))],
        ..Change::default()
    };
    land(&*base, change).await;

    let overlay = Overlay::new(Arc::clone(&base));
    let second = commit("second");
    let at_second = CommitId::new(second.id);
    let change = Change {
        objects: vec![second.clone()],
        references: vec![
            moved(&a, Some(at_first), Some(at_second)),
            moved(&b, Some(root), None),
            moved(&c, None, Some(root)),
        ],
        records: vec![record("x", Some("2")), record("y", None), record("z", Some("1"))],
        derived: vec![row("p", Some("2")), row("q", None), row("s", Some("1"))],
        ..Change::default()
    };
    land(&overlay, change).await;

    let heads =
        |found: Vec<Reference>| found.into_iter().map(|r| (r.name, r.target, r.number)).collect::<Vec<_>>();
    let over = heads(overlay.references(None, 10).await.unwrap());
    assert_eq!(over, [(a.clone(), at_second, 2), (c.clone(), root, 1)]);
    assert_eq!(heads(overlay.references(None, 1).await.unwrap()), over[..1]);
    assert_eq!(heads(overlay.references(Some(&a), 1).await.unwrap()), over[1..]);
    assert_eq!(
        heads(base.references(None, 10).await.unwrap()),
        [(a.clone(), at_first, 1), (b.clone(), root, 1)]
    );
    assert_eq!(overlay.object(ObjectKind::Commit, second.id).await.unwrap(), Some(second.bytes));
    assert_eq!(overlay.object(ObjectKind::Commit, first.id).await.unwrap(), Some(first.bytes));
    assert_eq!(base.object(ObjectKind::Commit, second.id).await.unwrap(), None);
    assert_eq!(overlay.objects().len(), 1);

    let numbers = |found: Vec<RefLogEntry>| found.into_iter().map(|entry| entry.number).collect::<Vec<_>>();
    assert_eq!(numbers(overlay.ref_log(&a, None, 10).await.unwrap()), [2, 1]);
    assert_eq!(numbers(overlay.ref_log(&a, None, 1).await.unwrap()), [2]);
    assert_eq!(numbers(overlay.ref_log(&a, Some(2), 10).await.unwrap()), [1]);
    assert_eq!(numbers(base.ref_log(&a, None, 10).await.unwrap()), [1]);
    assert_eq!(overlay.ref_log_names(None, 10).await.unwrap(), [a.clone(), b.clone(), c]);
    assert_eq!(base.ref_log_names(None, 10).await.unwrap(), [a, b]);

    let versions = |found: Vec<(Bytes, Record)>| {
        found.into_iter().map(|(key, record)| (key, record.version)).collect::<Vec<_>>()
    };
    let over = versions(overlay.records(RecordSpace::Setting, None, 10).await.unwrap());
    assert_eq!(over, [(Bytes::from("x"), 2), (Bytes::from("z"), 1)]);
    let under = versions(base.records(RecordSpace::Setting, None, 10).await.unwrap());
    assert_eq!(under, [(Bytes::from("x"), 1), (Bytes::from("y"), 1)]);

    let rows = |found: Vec<(Bytes, Bytes)>| {
        let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        found.into_iter().map(|(key, value)| text(key) + &text(value)).collect::<Vec<_>>()
    };
    let space = DerivedSpace::Document;
    assert_eq!(rows(overlay.derived_scan(space, b"", None, false, 10).await.unwrap()), ["p2", "r1", "s1"]);
    assert_eq!(rows(overlay.derived_scan(space, b"", None, true, 2).await.unwrap()), ["s1", "r1"]);
    assert_eq!(rows(overlay.derived_scan(space, b"", Some(b"r"), true, 9).await.unwrap()), ["r1", "p2"]);
    assert_eq!(rows(base.derived_scan(space, b"", None, false, 10).await.unwrap()), ["p1", "q1", "r1"]);
}
