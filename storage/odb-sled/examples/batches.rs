//! Prints batches and changes per second of one writer, by changes per batch, and the memory before and after.
//!
//! `cargo run --release -p lochan-storage-odb-sled --example batches -- [folder] [seconds] [fsync|os]`; with 0 seconds it
//! only opens and closes. Each change is what
//! a one-key commit writes: a commit object of about 500 bytes and a move of its branch. In front of each line a bare file
//! takes the same bytes with one sync per batch; the last figure is the ratio of the two rates.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people at a terminal")]

use std::{
    fs::{self, File},
    future::Future,
    io::Write,
    path::{Path, PathBuf},
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{
    Batch, Change, ExpectedReference, LogMeta, NewObject, RefKind, RefOperation, ReferenceChange, Store,
};
use lochan_storage_odb_sled::{Durability, SledConfig, SledStore};

const OBJECT_BYTES: usize = 500;

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().map_or_else(|| std::env::temp_dir().join("lochan-batches"), PathBuf::from);
    let seconds = args.next().map_or(3, |text| text.parse().unwrap());
    let durability = if args.next().as_deref() == Some("os") { Durability::Os } else { Durability::Fsync };
    println!("resident before: {} KiB", resident_kib());
    let begun = Instant::now();
    let store = SledStore::open(&SledConfig { durability, ..SledConfig::new(&folder) }).unwrap();
    println!("opened in {:?}, resident {} KiB", begun.elapsed(), resident_kib());
    for size in [1, 4, 16, 64, 256].into_iter().filter(|_| seconds > 0) {
        measure(&store, &folder, size, Duration::from_secs(seconds));
    }
    let begun = Instant::now();
    drop(store);
    println!("closed in {:?}", begun.elapsed());
}

/// Batches per second of a bare file that takes as many bytes, one sync each.
fn bare(folder: &Path, size: usize, time: Duration) -> f64 {
    let path = folder.with_extension("bare");
    let mut file = File::create(&path).unwrap();
    let bytes = vec![b'x'; size * (OBJECT_BYTES + 100)];
    let (begun, mut count) = (Instant::now(), 0u32);
    while begun.elapsed() < time {
        file.write_all(&bytes).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    let rate = f64::from(count) / begun.elapsed().as_secs_f64();
    fs::remove_file(path).unwrap();
    rate
}

/// Processor time of this process so far, in seconds.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat.split(' ').map(|field| field.parse().unwrap_or(0.0)).collect();
    fields.iter().skip(13).take(2).sum::<f64>() / 100.0
}

fn measure(store: &SledStore, folder: &Path, size: usize, time: Duration) {
    let bare = bare(folder, size, time / 4);
    let name = RefName::new(&format!("bench-{size}")).unwrap();
    let mut at = now(store.reference(&name)).unwrap().map(|found| found.target);
    let mut number = now(store.reference(&name)).unwrap().map_or(0, |found| found.number);
    let mut id = CommitId::NO_ANCESTOR;
    let mut took = Vec::new();
    let (begun, cpu) = (Instant::now(), cpu_seconds());
    while begun.elapsed() < time {
        let mut changes = Vec::with_capacity(size);
        for _ in 0..size {
            number += 1;
            let change = change(&name, at, number);
            if let Some((_, target)) = change.references.first().and_then(|reference| reference.new) {
                id = target;
            }
            at = Some(id);
            changes.push(change);
        }
        let one = Instant::now();
        assert!(now(store.commit(Batch { changes })).unwrap().refused.is_empty());
        took.push(one.elapsed());
    }
    let elapsed = begun.elapsed().as_secs_f64();
    let cpu = (cpu_seconds() - cpu) * 1e6 / (took.len() * size).max(1) as f64;
    took.sort_unstable();
    let rate = took.len() as f64 / elapsed;
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).copied().unwrap_or_default();
    let read = Instant::now();
    for _ in 0..1_000 {
        assert!(now(store.object(ObjectKind::Commit, id.object())).unwrap().is_some());
        assert!(now(store.reference(&name)).unwrap().is_some());
    }
    println!(
        "{size:>4} changes: {rate:>6.0} batches/s, {:>6.0} changes/s, p50 {:?}, p99 {:?}, {cpu:.0} us cpu each; \
         object + reference {:?}; {} KiB; bare {bare:.0}/s, ratio {:.2}",
        rate * size as f64,
        at(0.5),
        at(0.99),
        read.elapsed() / 1_000,
        resident_kib(),
        rate / bare,
    );
}

fn change(name: &RefName, at: Option<CommitId>, number: u64) -> Change {
    let mut bytes = format!("{name} {number} ").into_bytes();
    bytes.resize(OBJECT_BYTES, b'x');
    let object = NewObject {
        kind: ObjectKind::Commit,
        id: ObjectId::of(ObjectKind::Commit, &bytes),
        bytes: bytes.into(),
    };
    let reference = ReferenceChange {
        name: name.clone(),
        expected: at.map_or(ExpectedReference::Absent, |at| ExpectedReference::At(RefKind::Branch, at)),
        new: Some((RefKind::Branch, CommitId::new(object.id))),
        log: LogMeta {
            operation: if at.is_some() { RefOperation::Commit } else { RefOperation::Create },
            principal: String::new(),
            request: None,
            run: None,
            time: 1_766_000_000_000_000 + i64::try_from(number).unwrap_or(0),
        },
    };
    Change { objects: vec![object], references: vec![reference], ..Change::default() }
}

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the store waits for nothing"),
    }
}

fn resident_kib() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or_else(|| "?".into(), |line| line.trim().trim_end_matches(" kB").to_owned())
}
