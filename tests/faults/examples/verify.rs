//! How fast a store is read, hashed and counted, by `fsck` and by the scrub, beside the rate at which one core hashes the same
//! objects one after another in memory.
//!
//! `cargo run --release -p lochan-tests-faults --example verify [WAY [STORE]]`

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
use rustix::time::{ClockId, clock_gettime};
// The allocator of the server.
use tikv_jemalloc_sys as _;

/// Longest wait for a store that was used a moment ago.
const OPEN_WAIT_MAX: Duration = Duration::from_secs(30);
const OPEN_PAUSE: Duration = Duration::from_millis(5);
/// Objects in one batch.
const BATCH: usize = 100;
/// Rounds, of which the middle one is told.
const ROUNDS: usize = 7;
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

/// All objects.
async fn objects(store: &dyn Sweep) -> Vec<NewObject> {
    let mut objects = Vec::new();
    let mut after = None;
    loop {
        let page = store.read_objects(after.take(), 1_000, 8 << 20).await.unwrap();
        let Some((last, _)) = page.last() else { return objects };
        after = Some(last.clone());
        objects.extend(page.into_iter().map(|(_, object)| object.unwrap()));
    }
}

/// Time on the clock, and of all processors for this process.
#[derive(Clone, Copy)]
struct Took {
    time: f64,
    cpu: f64,
}

impl Took {
    async fn of(work: impl Future<Output = ()>) -> Self {
        let cpu = || {
            let now = clock_gettime(ClockId::ProcessCPUTime);
            now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
        };
        let (begun, cpu_begun) = (Instant::now(), cpu());
        work.await;
        Self { time: begun.elapsed().as_secs_f64(), cpu: cpu() - cpu_begun }
    }
}

/// One core hashes all objects, one after another, in memory.
async fn hash(objects: &[NewObject]) -> Took {
    let hashing = async {
        for NewObject { kind, id, bytes } in objects {
            assert_eq!(ObjectId::of(*kind, bytes), *id);
        }
    };
    Took::of(hashing).await
}

/// The ways in which a store is read as a whole.
const WAYS: [&str; 4] = ["read, hashed and counted", "fsck", "fsck --full", "scrub"];

async fn read(way: &str, store: Arc<dyn Sweep>, count: u64) -> Took {
    Took::of(async {
        let (found, seen) = match way {
            "fsck" | "fsck --full" => {
                let depth = if way == "fsck" { Depth::Heads } else { Depth::Full };
                let report = fsck(store, depth, &mut |_, _| {}).await.unwrap();
                (report.findings.len(), report.objects)
            }
            "scrub" => {
                let progress = scrub::round(&store, &mut Pace::unbounded(), &mut |_| {}).await.unwrap();
                (progress.findings.len(), progress.objects)
            }
            _ => (store.audit().await.unwrap().len(), count),
        };
        assert_eq!((found, seen), (0, count));
    })
    .await
}

async fn measure(what: &str, config: &StoreConfig, only: Option<&str>) {
    let objects = objects(&*open(config)).await;
    let count = objects.len() as u64;
    let mib = objects.iter().map(|object| object.bytes.len()).sum::<usize>() as f64 / f64::from(1 << 20);
    println!("{what}: {count} objects of {mib:.1} MiB");
    for way in WAYS.into_iter().filter(|way| only.is_none_or(|only| only == *way)) {
        let (mut hashed, mut ratios, mut cpus) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let store = open(config);
            let alone = hash(&objects).await;
            let took = read(way, store.clone(), count).await;
            hashed.push(mib / alone.cpu);
            ratios.push(alone.time / took.time);
            cpus.push(took.cpu / alone.cpu);
            drop(store);
        }
        let [hashed, ratio, cpu] = [&mut hashed, &mut ratios, &mut cpus].map(|figures| middle(figures));
        println!(
            "  {way}: {ratio:.2} of the {hashed:.0} MiB/s at which one core hashes ({:.2} to {:.2}), with {cpu:.2} of its \
             processor time",
            ratios[0],
            ratios[ROUNDS - 1]
        );
    }
}

/// Sorts figures and returns the middle one.
fn middle(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

#[tokio::main]
async fn main() {
    let [only, wanted] = [1, 2].map(|number| std::env::args().nth(number));
    let only = only.as_deref();
    let is_wanted = |store: &str| wanted.as_ref().is_none_or(|wanted| wanted == store);
    let folder = tempfile::tempdir().unwrap();
    for size in [400, 1_500].into_iter().filter(|size| is_wanted(&size.to_string())) {
        let config = StoreConfig::new(folder.path().join(format!("store-{size}")));
        fill(&*lochan_storage::open(&config).unwrap(), size).await;
        measure(&format!("{size} bytes each"), &config, only).await;
    }
    if !is_wanted("commits") {
        return;
    }
    let config = StoreConfig::new(folder.path().join("store-commits"));
    commit(&lochan_storage::open(&config).unwrap()).await;
    measure("commits and parts of documents", &config, only).await;
}
