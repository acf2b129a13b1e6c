//! How fast a store is read, hashed and counted, by `fsck` and by the scrub, beside the rate at which one core hashes the same
//! bytes.
//!
//! `cargo run --release -p lochan-tests-faults --example verify`

// Printing is what this program is for, and a failure ends it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use lochan_storage::{StoreConfig, Sweep};
use lochan_storage_engine::{
    Engine, Options,
    commit::{GivenId, Operation, Request},
    fsck::{Depth, fsck},
    merge::Rules,
    pace::Pace,
    scrub,
    writer::Who,
};
use lochan_storage_model::{
    CommitId, CommitMeta, Content, ContentKey, ObjectId, ObjectKind, RefName,
    ports::{SystemClock, SystemRng},
};
use lochan_storage_odb::{Batch, Change, NewObject, RefKind, Store};
// The allocator of the server.
use tikv_jemalloc_sys as _;

/// Longest wait for a store that was used a moment ago.
const OPEN_WAIT_MAX: Duration = Duration::from_secs(30);
const OPEN_PAUSE: Duration = Duration::from_millis(5);
/// Objects in one batch.
const BATCH: usize = 100;
/// Objects of one size.
const OBJECTS: usize = 100_000;
/// Branches that are committed to at once, and the commits on each.
const BRANCHES: u64 = 16;
const COMMITS: u64 = 1_500;
/// Sizes of the parts of metadata documents that a table written by PyIceberg has, one for every other commit.
const PARTS: [usize; 4] = [66, 750, 800, 1_400];

fn object(kind: ObjectKind, number: u64, size: usize) -> NewObject {
    let mut bytes = vec![(number % 251) as u8; size];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    let bytes = Bytes::from(bytes);
    NewObject { kind, id: ObjectId::of(kind, &bytes), bytes }
}

async fn fill(store: &dyn Sweep, size: usize) {
    for first in (0..OBJECTS).step_by(BATCH) {
        let objects =
            (first..first + BATCH).map(|number| object(ObjectKind::Value, number as u64, size)).collect();
        store.commit(Batch { changes: vec![Change { objects, ..Change::default() }] }).await.unwrap();
    }
}

/// Commits of one table each, and parts of documents beside them.
async fn commit(store: &Arc<dyn Sweep>) {
    let shared: Arc<dyn Store> = store.clone();
    let options = Options::default();
    let engine =
        Engine::start(shared, Arc::new(SystemClock), Arc::new(SystemRng), Rules::default(), options).unwrap();
    let writers: Vec<_> = (0..BRANCHES).map(|branch| tokio::spawn(write(engine.clone(), branch))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    engine.stop(OPEN_WAIT_MAX).await;
}

async fn write(engine: Engine, branch: u64) {
    let name = RefName::new(&format!("branch-{branch}")).unwrap();
    let key = ContentKey::new([format!("table-{branch}")]).unwrap();
    engine.create_reference(&name, RefKind::Branch, CommitId::NO_ANCESTOR, Who::default()).await.unwrap();
    let mut head = CommitId::NO_ANCESTOR;
    let mut id = GivenId::New;
    for number in 0..COMMITS {
        let meta = CommitMeta { message: format!("append to table {number}"), ..CommitMeta::default() };
        let mut request = Request::new(name.clone(), head, meta, Who::default());
        let content = content(number);
        request.operations.push(Operation::Put { key: key.clone(), content, id: id.clone() });
        if number % 2 == 0 {
            let size = PARTS[(number / 2) as usize % PARTS.len()];
            request.objects.push(object(ObjectKind::MetadataPart, branch * COMMITS + number, size));
        }
        let committed = engine.commit(request).await.unwrap();
        head = committed.head;
        if let Some((_, added)) = committed.added.first() {
            id = GivenId::Id(*added);
        }
    }
}

fn content(number: u64) -> Content {
    Content::IcebergTable {
        metadata_location: format!(
            "s3://lake/warehouse/table/metadata/{number:05}-3f6b17f0-4a35.metadata.json"
        ),
        snapshot_id: number as i64,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    }
}

/// Opens a store that a task of this process may still hold for a moment.
fn open(config: &StoreConfig) -> Arc<dyn Sweep> {
    let begun = Instant::now();
    loop {
        match lochan_storage::open(config) {
            Ok(store) => return store,
            Err(error) if begun.elapsed() > OPEN_WAIT_MAX => panic!("{error}"),
            Err(_) => std::thread::sleep(OPEN_PAUSE),
        }
    }
}

/// Sizes of all objects.
async fn sizes(store: &dyn Sweep) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut after = None;
    loop {
        let page = store.scan_objects(after.take(), 1_000).await.unwrap();
        let Some((last, _)) = page.last() else { return sizes };
        after = Some(last.clone());
        sizes.extend(page.into_iter().map(|(_, info)| info.unwrap().size));
    }
}

async fn measure(what: &str, config: &StoreConfig) {
    let open = || open(config);
    let sizes = sizes(&*open()).await;
    let mib = sizes.iter().sum::<usize>() as f64 / f64::from(1 << 20);
    let sample = vec![7; sizes.iter().copied().max().unwrap()];
    let begun = Instant::now();
    for size in &sizes {
        std::hint::black_box(ObjectId::of(ObjectKind::Value, std::hint::black_box(&sample[..*size])));
    }
    let hashed = mib / begun.elapsed().as_secs_f64();
    println!("{what}: {} objects of {mib:.0} MiB; one core hashes {hashed:.0} MiB/s", sizes.len());
    let told = |what: &str, begun: Instant| {
        let rate = mib / begun.elapsed().as_secs_f64();
        println!("  {what}: {rate:.0} MiB/s, ratio {:.2}", rate / hashed);
    };
    for _ in 0..2 {
        let store = open();
        let begun = Instant::now();
        assert_eq!(store.audit().await.unwrap(), []);
        told("read, hashed and counted", begun);
        drop(store);

        let store = open();
        let begun = Instant::now();
        let report = fsck(store, Depth::Heads, &mut |_, _| {}).await.unwrap();
        told("all of fsck", begun);
        assert_eq!((report.objects, report.findings), (sizes.len() as u64, vec![]));

        let store = open();
        let begun = Instant::now();
        let progress = scrub::round(&store, &mut Pace::unbounded(), &mut |_| {}).await.unwrap();
        told("scrub", begun);
        assert_eq!((progress.objects, progress.found), (sizes.len() as u64, 0));
    }
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    for size in [400, 1_500] {
        let config = StoreConfig::new(folder.path().join(format!("store-{size}")));
        fill(&*lochan_storage::open(&config).unwrap(), size).await;
        measure(&format!("{size} bytes each"), &config).await;
    }
    let config = StoreConfig::new(folder.path().join("store-commits"));
    commit(&lochan_storage::open(&config).unwrap()).await;
    measure("commits and parts of documents", &config).await;
}
