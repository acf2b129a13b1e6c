//! Snapshots that are written while the engine is open.

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::*;
use crate::{
    engine_log::{self, SEGMENT_BYTES},
    mark, snapshots, tail,
};

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Puts, replaces and removes rows in batches, some of them many at once; the position in the log up to which it was handed over.
fn work(db: &sled::Db, numbers: &mut Numbers) -> i64 {
    for _ in 0..400 {
        let mut batch = sled::Batch::default();
        for _ in 0..1 + numbers.below(30) {
            let key = numbers.below(6_000).to_be_bytes();
            match numbers.below(4) {
                0 => batch.remove(&key),
                _ => batch.insert(&key, vec![7; numbers.below(1_500) as usize]),
            }
        }
        db.apply_batch(batch).unwrap();
        if numbers.below(50) == 0 {
            let from = numbers.below(6_000);
            for key in from..from + 500 {
                db.remove(key.to_be_bytes()).unwrap();
            }
        }
    }
    db.flush().unwrap();
    db.context.pagecache.log.stable_offset()
}

/// The snapshots in a folder, by name.
fn found(engine: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(engine).unwrap().map(|entry| entry.unwrap().path());
    let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    let files = files.filter(|file| name(file).starts_with("snap."));
    files.map(|file| (name(&file), fs::read(&file).unwrap())).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a_snapshot_made_of_the_log_is_the_one_that_the_engine_makes() {
    let mut made = 0;
    for seed in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let (ours, its) = (folder.path().join("ours"), folder.path().join("its"));
        let mut numbers = Numbers(seed);
        let mut db = session::open_engine(&ours, 1 << 20).unwrap();
        for _ in 0..5 {
            let synced = work(&db, &mut numbers);
            drop(db);
            copy(&ours, &its);
            let before = engine_log::snapshot_end(&ours).unwrap();
            if let Some(new) = snapshots::advance(&ours, synced, &|| true).unwrap() {
                assert_eq!(engine_log::snapshot_end(&ours).unwrap(), before);
                let position = new.position;
                assert_eq!(position, engine_log::base(synced + 1));
                new.name().unwrap();
                assert_eq!(engine_log::snapshot_end(&ours).unwrap(), position);
                assert_eq!(found(&ours).len(), 1);
                made += 1;
            }
            // What it makes of the rest of the log is the same, byte by byte, and so are the rows.
            db = session::open_engine(&ours, 1 << 20).unwrap();
            let other = session::open_engine(&its, 1 << 20).unwrap();
            assert!(found(&ours) == found(&its));
            assert!(db.iter().map(Result::unwrap).eq(other.iter().map(Result::unwrap)));
            drop(other);
            fs::remove_dir_all(&its).unwrap();
        }
    }
    assert!(made >= 16, "only {made} of 20");
}

#[test]
fn snapshots_made_while_the_log_goes_on_are_those_that_the_engine_makes() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, its) = (folder.path().join("ours"), folder.path().join("its"));
    let mut numbers = Numbers(7);
    let db = session::open_engine(&ours, 1 << 20).unwrap();
    work(&db, &mut numbers);
    drop(db);
    let db = session::open_engine(&ours, 1 << 20).unwrap();
    let first = found(&ours);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..8 {
                work(&db, &mut numbers);
            }
        });
        let mut written = 0;
        while !writer.is_finished() {
            let synced = db.context.pagecache.log.stable_offset();
            match snapshots::advance(&ours, synced, &|| true) {
                Ok(Some(new)) => {
                    new.name().unwrap();
                    written += 1;
                }
                // A page may not have begun yet.
                Ok(None) => {}
                // The engine writes segments in pieces, in any order.
                Err(error) => {
                    let why = error.to_string();
                    assert!(why.contains("check sum") || why.contains("to its end"), "{why}");
                }
            }
        }
        written
    });
    let end = db.context.pagecache.log.stable_offset().cast_unsigned();
    drop(db);
    assert!(fs::metadata(ours.join("db")).unwrap().len() < end / 2, "hardly a segment was used anew");
    assert!(written > 3, "only {written}");
    copy(&ours, &its);
    for name in found(&its).keys() {
        fs::remove_file(its.join(name)).unwrap();
    }
    for (name, bytes) in first {
        fs::write(its.join(name), bytes).unwrap();
    }
    let (db, other) =
        (session::open_engine(&ours, 1 << 20).unwrap(), session::open_engine(&its, 1 << 20).unwrap());
    assert!(found(&ours) == found(&its));
    assert!(db.iter().map(Result::unwrap).eq(other.iter().map(Result::unwrap)));
}

#[test]
fn a_snapshot_with_nothing_behind_it_holds_everything() {
    let mut made = 0;
    for seed in 1..=6 {
        let folder = tempfile::tempdir().unwrap();
        let (ours, its) = (folder.path().join("ours"), folder.path().join("its"));
        let db = session::open_engine(&ours, 1 << 20).unwrap();
        let begin = work(&db, &mut Numbers(seed));
        let end = || {
            db.flush().unwrap();
            db.context.pagecache.log.stable_offset()
        };
        // Single rows, so that no batch reaches over the end of the last whole segment.
        let mut row = 0_u64;
        while end() < begin + 3 * SEGMENT_BYTES as i64 {
            for _ in 0..100 {
                db.insert(row.to_be_bytes(), vec![9; 500]).unwrap();
                row += 1;
            }
        }
        let position = engine_log::base(end() + 1);
        drop(db);
        // What follows the last whole segment is lost.
        let file = fs::File::options().read(true).write(true).open(ours.join("db")).unwrap();
        let mut lost = tail::segments(&file).unwrap();
        lost.retain(|segment| segment.position >= position.cast_unsigned());
        tail::take_out(&file, &lost).unwrap();
        copy(&ours, &its);
        // Not where a page begins behind it.
        let Some(new) = snapshots::advance(&ours, position - 1, &|| true).unwrap() else { continue };
        assert_eq!(new.position, position);
        new.name().unwrap();
        let db = session::open_engine(&ours, 1 << 20).unwrap();
        let other = session::open_engine(&its, 1 << 20).unwrap();
        assert!(db.iter().map(Result::unwrap).eq(other.iter().map(Result::unwrap)));
        db.insert("later", "row").unwrap();
        db.flush().unwrap();
        drop(db);
        let db = session::open_engine(&ours, 1 << 20).unwrap();
        assert!(db.remove("later").unwrap().is_some());
        assert!(db.iter().map(Result::unwrap).eq(other.iter().map(Result::unwrap)));
        made += 1;
    }
    assert!(made > 3, "only {made} of 6");
}

#[tokio::test]
async fn a_start_after_much_of_the_log_reads_little_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig { replay_bytes: 1 << 20, ..SledConfig::new(folder.path().join("store")) };
    let engine = config.path.join("sled");
    let store = SledStore::open(&config).unwrap();
    let begin = engine_log::snapshot_end(&engine).unwrap();
    let mut head = None;
    let mut number = 0;
    // Three of them.
    let mut ends = vec![begin];
    while ends.len() < 4 {
        let next = commit(&format!("{number:->1000}"));
        land(&store, moved(head, &next)).await;
        head = Some(CommitId::new(next.id));
        number += 1;
        assert!(number < 100_000, "after {ends:?} there is no further snapshot");
        let end = engine_log::snapshot_end(&engine).unwrap();
        if end > ends[ends.len() - 1] {
            ends.push(end);
        }
    }
    assert!(mark::read(&config.path).unwrap().unwrap().log - ends[3] < 3 << 20);
    drop(store);
    assert_eq!(found(&engine).len(), 1);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.reference(&main()).await.unwrap().map(|found| found.target), head);
    assert_eq!(store.verify(&|| Box::new(|_| {})).await.unwrap(), []);
}
