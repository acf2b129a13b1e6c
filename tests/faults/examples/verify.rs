//! How fast `fsck` and the scrub go through a store, beside the rate at which one core hashes the same bytes.
//!
//! `cargo run --release -p lochan-tests-faults --example verify [OBJECTS] [BYTES]`

// Printing is what this program is for, and a failure ends it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing)]

use std::time::Instant;

use bytes::Bytes;
use lochan_storage::{StoreConfig, Sweep};
use lochan_storage_engine::{
    fsck::{Depth, fsck},
    pace::Pace,
    scrub,
};
use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{Batch, Change, NewObject};

/// Objects in one batch.
const BATCH: usize = 100;

fn object(number: usize, size: usize) -> NewObject {
    let mut bytes = vec![(number % 251) as u8; size];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    let bytes = Bytes::from(bytes);
    NewObject { kind: ObjectKind::Value, id: ObjectId::of(ObjectKind::Value, &bytes), bytes }
}

async fn fill(store: &dyn Sweep, objects: usize, size: usize) {
    for first in (0..objects).step_by(BATCH) {
        let objects = (first..objects.min(first + BATCH)).map(|number| object(number, size)).collect();
        store.commit(Batch { changes: vec![Change { objects, ..Change::default() }] }).await.unwrap();
    }
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let (objects, size) = (arguments.next().unwrap_or(200_000), arguments.next().unwrap_or(1_500));
    let folder = tempfile::tempdir().unwrap();
    let config = StoreConfig::new(folder.path().join("store"));
    fill(&*lochan_storage::open(&config).unwrap(), objects, size).await;
    let mib = (objects * size) as f64 / f64::from(1 << 20);

    let sample = object(1, size).bytes;
    let begun = Instant::now();
    for _ in 0..objects {
        std::hint::black_box(ObjectId::of(ObjectKind::Value, std::hint::black_box(&sample)));
    }
    let hashed = mib / begun.elapsed().as_secs_f64();
    println!("{objects} objects of {size} bytes; one core hashes {hashed:.0} MiB/s");

    for round in ["first", "second"] {
        let store = lochan_storage::open(&config).unwrap();
        let begun = Instant::now();
        let report = fsck(store, Depth::Heads, &mut |_, _| {}).await.unwrap();
        let verified = mib / begun.elapsed().as_secs_f64();
        assert_eq!((report.objects, report.findings.len()), (objects as u64, 0));
        println!("fsck,  {round}: {verified:.0} MiB/s, ratio {:.2}", verified / hashed);

        let store = lochan_storage::open(&config).unwrap();
        let begun = Instant::now();
        let progress = scrub::round(&store, &mut Pace::unbounded(), &mut |_| {}).await.unwrap();
        let verified = mib / begun.elapsed().as_secs_f64();
        assert_eq!((progress.objects, progress.found), (objects as u64, 0));
        println!("scrub, {round}: {verified:.0} MiB/s, ratio {:.2}", verified / hashed);
    }
}
