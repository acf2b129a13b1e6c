use std::{
    fs,
    io::{BufRead, BufReader},
};

use lochan_storage_odb::{DerivedSpace, DerivedWrite};

use super::{damage::copy, *};
use crate::{
    mark::{Mark, MarkFile},
    read_manifest,
};

fn refusal(config: &SledConfig) -> String {
    match SledStore::open(config) {
        Ok(_) => panic!("it was opened"),
        Err(StoreError::Open(text)) => text,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_store_in_use_names_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    let text = refusal(&config);
    let holder = format!("is in use by process {} (started 20", std::process::id());
    assert!(text.contains(&holder), "{text}");
    let repository = store.manifest().repository;
    drop(store);
    assert_eq!(SledStore::open(&config).unwrap().manifest().repository, repository);
}

#[test]
fn a_store_that_was_closed_is_free_although_a_child_process_is_being_started() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    drop(SledStore::open(&config).unwrap());
    let held = Folder::open(&config.path, |_| Ok(())).unwrap();
    // Until it executes its program, a child has all files of its parent open: the same as a second descriptor.
    let of_child = held.second_lock();
    drop(held);
    drop(SledStore::open(&config).unwrap());
    drop(of_child);
}

#[test]
fn a_newer_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    drop(SledStore::open(&config).unwrap());
    let file = config.path.join("MANIFEST");
    let text = fs::read_to_string(&file).unwrap();
    let (body, _) = text.split_once("check").unwrap();
    fs::write(&file, body.replace("format = 3", "format = 4")).unwrap();
    let text = refusal(&config);
    assert!(text.contains("has format 4, but this program reads up to format 3"), "{text}");
    fs::write(&file, "format = 1\nengine = other\n").unwrap();
    assert!(refusal(&config).contains("kept by the engine 'other'"));
    fs::write(&file, "engine = sled\n").unwrap();
    assert!(refusal(&config).contains("does not say format"));
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let text = refusal(&SledConfig::new(folder.path()));
    assert!(text.contains("holds files but no store of this program"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_empty_folder_becomes_a_store_and_nothing_stays_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/store");
    fs::create_dir_all(&path).unwrap();
    // What a creation left behind that was killed; no process has this number.
    let left = folder.path().join("deep/store.creating-4294967295");
    fs::create_dir_all(left.join("sled")).unwrap();
    drop(SledStore::open(&SledConfig::new(&path)).unwrap());
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["store"]);
    let manifest = read_manifest(&path).unwrap();
    assert_eq!((manifest.format, manifest.engine.as_str()), (crate::FORMAT, "sled"));
}

/// The files of a folder below `sled` by name, without blobs.
fn engine_files(path: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(path.join("sled")).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|file| file.is_file());
    files
        .map(|file| (file.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&file).unwrap()))
        .collect()
}

/// Found by `lochan-faults nth-fails --seed 5 --operations 60 --case 375`.
#[tokio::test]
async fn a_start_cut_off_between_its_zeros_and_the_name_of_its_snapshot_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let config = SledConfig::new(&path);
    let mut last = None;
    for number in 0.. {
        assert!(number < 200, "the engine never overwrites the last segment but one");
        let store = SledStore::open(&config).unwrap();
        for part in 0..8 {
            // The same rows again and again, so that segments become free.
            let row = DerivedWrite {
                space: DerivedSpace::Node,
                key: format!("{part}").into(),
                value: Some(vec![number as u8; 12_000].into()),
            };
            store.put_derived(vec![row]).await.unwrap();
        }
        let next = commit(&number.to_string());
        land(&store, moved(last, &next)).await;
        last = Some(CommitId::new(next.id));
        drop(store);
        let before = engine_files(&path);
        crate::tail::guard(&path.join("sled")).unwrap();
        let tail = std::fs::read(path.join("TAIL")).unwrap();
        let doubted = folder.path().join(format!("doubted {number}"));
        copy(&path, &doubted);
        drop(SledStore::open(&config).unwrap());
        let after = engine_files(&path);
        // What the disk holds if the names of the second start were lost, but not its zeros.
        let zeros = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
            files["db"].chunks(512 * 1024).filter(|segment| segment.iter().all(|byte| *byte == 0)).count()
        };
        if zeros(&after) <= zeros(&before) {
            continue;
        }
        for name in after.keys().filter(|name| name.starts_with("snap.")) {
            std::fs::remove_file(path.join("sled").join(name)).unwrap();
        }
        std::fs::write(path.join("TAIL"), tail).unwrap();
        let store = SledStore::open(&config).unwrap();
        assert!(!path.join("TAIL").exists());
        let found = store.reference(&main()).await.unwrap();
        assert_eq!(found.map(|found| found.target), last, "after {number} rounds");

        // Nor if the log was in doubt, so that the older snapshot comes back, and the start failed behind the zeros.
        let mark = crate::mark::read(&doubted).unwrap().unwrap();
        let write = |mark| MarkFile::open(&doubted).unwrap().write(mark).unwrap();
        write(Mark { main_bytes: mark.main_bytes + (1 << 20), batch: mark.batch + 1, ..mark });
        let config = SledConfig::new(&doubted);
        let error = SledStore::open(&config).err().unwrap().to_string();
        let kept = ["SNAPSHOTS", "TAIL"].map(|name| doubted.join(name).exists());
        assert!(error.contains("batches up to") && kept == [true; 2], "{error}, {kept:?}");
        assert!(zeros(&engine_files(&doubted)) > zeros(&before));
        write(mark);
        let store = SledStore::open(&config).unwrap();
        assert!(!doubted.join("TAIL").exists() && !doubted.join("SNAPSHOTS").exists());
        let found = store.reference(&main()).await.unwrap();
        assert_eq!(found.map(|found| found.target), last, "after {number} rounds and a start that failed");
        return;
    }
}

/// Not a test by itself: what the next test runs in a process that it kills.
#[tokio::test]
async fn child_that_is_killed() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    let store = SledStore::open(&SledConfig::new(folder)).unwrap();
    let mut at = store.reference(&main()).await.unwrap().map(|found| found.target);
    let mut number = store.reference(&main()).await.unwrap().map_or(0, |found| found.number);
    loop {
        number += 1;
        let object = commit(&format!("commit {number}"));
        land(&store, moved(at, &object)).await;
        at = Some(CommitId::new(object.id));
        eprintln!("ack {number}");
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut acknowledged = 0u64;
    for wanted in [1, 40, 7, 150] {
        let mut child = child("opening::child_that_is_killed", &path);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = 0;
        while seen < wanted {
            let line = lines.next().expect("the child lives until it is killed").unwrap();
            if let Some(number) = line.strip_prefix("ack ") {
                acknowledged = number.parse().unwrap();
                seen += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("ack ").and_then(|number| number.parse().ok()) {
                acknowledged = number;
            }
        }
        let store = SledStore::open(&SledConfig::new(&path)).unwrap();
        let found = store.reference(&main()).await.unwrap().unwrap();
        assert!(found.number == acknowledged || found.number == acknowledged + 1);
        let entries = store.ref_log(&main(), None, 10_000).await.unwrap();
        assert_eq!(entries.len() as u64, found.number);
        assert_eq!(entries[0].new, Some(found.target));
        for number in 1..=found.number {
            let object = commit(&format!("commit {number}"));
            assert_eq!(store.object(object.kind, object.id).await.unwrap(), Some(object.bytes));
        }
        acknowledged = found.number;
    }
}

#[tokio::test]
async fn a_start_that_fails_leaves_the_mark_to_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    land(&store, moved(None, &commit("first"))).await;
    settle(&store);
    session(&store).positions.close();
    session(&store).sink.engine.tree.insert(crate::keys::watermark(), b"no number").unwrap();
    drop(store);
    let marked = || fs::read(config.path.join(crate::mark::NAME)).unwrap();
    let before = marked();
    assert!(matches!(SledStore::open(&config), Err(StoreError::Corrupt { .. })));
    assert!(marked() == before);
}

/// Closes the last segment of the log, as the engine does where the next message does not fit; the position of its last byte.
fn close_last_segment(engine: &std::path::Path) -> i64 {
    use crate::engine_log::{SEGMENT_BYTES, end_at};
    let file = fs::File::options().read(true).write(true).open(engine.join("db")).unwrap();
    let all = crate::tail::segments(&file).unwrap();
    let last = all.into_iter().max_by_key(|segment| segment.position).unwrap();
    let end = end_at(&file, last.offset, last.position).unwrap();
    assert!(!end.is_filled);
    let number = u8::try_from(last.position / SEGMENT_BYTES as u64).unwrap();
    let rest = SEGMENT_BYTES - end.at;
    // Check sum · kind · length of the body, four bytes · number of the segment · page · body.
    let body = vec![0; rest - 11];
    let [low, middle, high, _] = u32::try_from(body.len()).unwrap().to_le_bytes();
    let head = [2, 250, low, middle, high, number, 0];
    let sum = crc32fast::hash(&[&body[..], &head].concat()) ^ u32::MAX;
    let message = [&sum.to_le_bytes()[..], &head, &body].concat();
    std::os::unix::fs::FileExt::write_all_at(&file, &message, last.offset + end.at as u64).unwrap();
    assert!(end_at(&file, last.offset, last.position).unwrap().is_filled);
    (last.position + SEGMENT_BYTES as u64).cast_signed() - 1
}

/// Found by `lochan-faults kill --kills 50 --seed 1796077552`.
#[tokio::test]
async fn a_start_cut_off_behind_a_full_last_segment_is_followed_by_one_that_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    let first = commit("first");
    land(&store, moved(None, &first)).await;
    drop(store);
    let mark = || crate::mark::read(&config.path).unwrap().unwrap();
    let set = |mark| crate::mark::set(&config.path, mark).unwrap();
    let log = close_last_segment(&config.path.join("sled"));
    // The start fails behind the opening of the engine, and nothing of it is undone.
    set(Mark { log, batch: mark().batch + 1, ..mark() });
    let error = SledStore::open(&config).err().unwrap().to_string();
    assert!(error.contains("batches up to"), "{error}");
    fs::remove_file(config.path.join("TAIL")).unwrap();
    assert!(mark().log < log);
    set(Mark { batch: mark().batch - 1, ..mark() });
    let store = SledStore::open(&config).unwrap();
    let found = store.reference(&main()).await.unwrap();
    assert_eq!(found.map(|found| found.target), Some(CommitId::new(first.id)));
}
