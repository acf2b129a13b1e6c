//! How fast a store is verified, beside the rate at which one core hashes the same bytes.
//!
//! `cargo run --release -p lochan-storage-odb-sled --example verify [OBJECTS] [BYTES]`

// Printing is what this program is for, and a failure ends it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing)]

use std::time::Instant;

use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{Batch, Change, NewObject, Store, Sweep};
use lochan_storage_odb_sled::{SledConfig, SledStore};

/// Objects in one batch, and read in one piece.
const PAGE: usize = 1_000;

fn object(number: usize, size: usize) -> NewObject {
    let mut bytes = vec![(number % 251) as u8; size];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    let bytes = Bytes::from(bytes);
    NewObject { kind: ObjectKind::Value, id: ObjectId::of(ObjectKind::Value, &bytes), bytes }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let (objects, size) = (arguments.next().unwrap_or(200_000), arguments.next().unwrap_or(1_500));
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    for first in (0..objects).step_by(PAGE) {
        let objects = (first..objects.min(first + PAGE)).map(|number| object(number, size)).collect();
        store.commit(Batch { changes: vec![Change { objects, ..Change::default() }] }).await.unwrap();
    }
    drop(store);
    let store = SledStore::open(&config).unwrap();
    let mib = (objects * size) as f64 / f64::from(1 << 20);

    let begun = Instant::now();
    let (mut after, mut read, mut kept) = (None, 0, Vec::new());
    loop {
        let page = store.read_objects(after.take(), PAGE, 8 << 20).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        after = Some(last.clone());
        read += page.len();
        kept = page;
    }
    let verified = mib / begun.elapsed().as_secs_f64();
    assert_eq!(read, objects);

    let bytes = kept.pop().unwrap().1.unwrap().bytes;
    let begun = Instant::now();
    for _ in 0..objects {
        std::hint::black_box(ObjectId::of(ObjectKind::Value, std::hint::black_box(&bytes)));
    }
    let hashed = mib / begun.elapsed().as_secs_f64();
    println!(
        "{objects} objects of {size} bytes: verified {verified:.0} MiB/s, one core hashes {hashed:.0} MiB/s, ratio {:.2}",
        verified / hashed
    );
}
