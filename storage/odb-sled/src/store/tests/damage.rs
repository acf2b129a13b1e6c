//! Damaged files: every one is found or harmless, and no wrong byte is read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lochan_storage_odb::{
    DerivedSpace, DerivedWrite, ExpectedRecord, Point, RecordChange, RecordSpace, RefLogEntry,
};

use super::*;

/// Damages tried unless `LOCHAN_TEST_FLIPS` says otherwise.
const TRIALS: u64 = 60;
/// How often the store is opened while it is filled; what was written since the last time is only in the log.
const OPENINGS: u64 = 3;
const BATCHES: u64 = 60;

/// Everything that a store promises.
#[derive(Debug, PartialEq)]
pub(super) struct Whole {
    point: Point,
    log: Vec<RefLogEntry>,
    objects: Vec<(ObjectKind, ObjectId)>,
}

pub(super) async fn whole(store: &SledStore) -> Result<Whole, StoreError> {
    let (point, _) = store.point().await?;
    let mut log = Vec::new();
    for name in store.ref_log_names(None, usize::MAX).await? {
        log.extend(store.ref_log(&name, None, usize::MAX).await?);
    }
    let mut objects = Vec::new();
    for (_, found) in store.scan_objects(None, usize::MAX).await? {
        let info = found?;
        let bytes = store.object(info.kind, info.id).await?;
        assert_eq!(bytes.map(|bytes| ObjectId::of(info.kind, &bytes)), Some(info.id));
        objects.push((info.kind, info.id));
    }
    Ok(Whole { point, log, objects })
}

async fn fill(config: &SledConfig) -> Whole {
    let mut at = None;
    let mut found = None;
    for opening in 0..OPENINGS {
        let store = SledStore::open(config).unwrap();
        for batch in 0..BATCHES {
            let number = opening * BATCHES + batch;
            let made = commit(&format!("commit {number} {}", "x".repeat((number * 37 % 900) as usize)));
            let mut batch = moved(at, &made);
            let change = &mut batch.changes[0];
            let bytes = vec![number as u8; if number % 20 == 7 { 60_000 } else { 1_500 }];
            let part = ObjectId::of(ObjectKind::MetadataPart, &bytes);
            change.objects.push(NewObject { kind: ObjectKind::MetadataPart, id: part, bytes: bytes.into() });
            change.records.push(RecordChange {
                space: RecordSpace::Setting,
                key: format!("key {}", number % 9).into(),
                expected: ExpectedRecord::Any,
                value: Some(format!("value {number}").into()),
            });
            let value = Some(vec![number as u8; 3_000].into());
            let space = DerivedSpace::Node;
            change.derived.push(DerivedWrite { space, key: format!("{}", number % 40).into(), value });
            land(&store, batch).await;
            at = Some(CommitId::new(made.id));
        }
        found = Some(whole(&store).await.unwrap());
        assert_eq!(store.audit().await.unwrap(), []);
    }
    found.unwrap()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

/// A small generator whose choices repeat with the seed.
fn chance(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |bound| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound.max(1)
    }
}

/// Damages one file and says how.
fn damage(folder: &Path, seed: u64) -> String {
    let mut chance = chance(seed);
    let mut found = Vec::new();
    files(folder, &mut found);
    // The log is nearly everything, so it is hit half of the time, and every file now and then.
    let main = found.iter().position(|path| path.ends_with("sled/db")).unwrap();
    let file = found[if chance(2) == 0 { main } else { chance(found.len() as u64) as usize }].clone();
    let mut bytes = fs::read(&file).unwrap();
    let how = if chance(4) == 0 {
        bytes.truncate(chance(bytes.len() as u64) as usize);
        format!("cut to {}", bytes.len())
    } else {
        let at = chance(bytes.len() as u64) as usize;
        let bit = chance(8);
        if bytes.is_empty() {
            return format!("{} is empty", file.display());
        }
        bytes[at] ^= 1 << bit;
        format!("bit {bit} of byte {at} turned")
    };
    fs::write(&file, bytes).unwrap();
    format!("seed {seed}: {} {how}", file.strip_prefix(folder).unwrap().display())
}

async fn verdict(config: &SledConfig, expected: &Whole) -> &'static str {
    let store = match SledStore::open(config) {
        Ok(store) => store,
        Err(StoreError::Open(_) | StoreError::Corrupt { .. }) => return "refused",
        Err(other) => panic!("{other:?}"),
    };
    match whole(&store).await {
        Ok(found) if found == *expected => "harmless",
        Ok(_) => {
            assert_ne!(store.audit().await.unwrap(), [], "something was lost without a trace");
            "counted"
        }
        Err(StoreError::Corrupt { .. } | StoreError::Read(_)) => "read",
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_damage_is_found_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound");
    let expected = fill(&SledConfig::new(&sound)).await;
    let trials = std::env::var("LOCHAN_TEST_FLIPS").ok().map_or(TRIALS, |text| text.parse().unwrap());
    let first: u64 = std::env::var("LOCHAN_TEST_SEED").ok().map_or(1, |text| text.parse().unwrap());
    let mut seen = std::collections::BTreeMap::new();
    for seed in first..first + trials {
        let path = folder.path().join(format!("trial-{seed}"));
        copy(&sound, &path);
        let what = damage(&path, seed);
        eprintln!("{what}");
        let verdict = verdict(&SledConfig::new(&path), &expected).await;
        eprintln!("  {verdict}");
        *seen.entry(verdict).or_insert(0) += 1;
        fs::remove_dir_all(&path).unwrap();
    }
    eprintln!("{seen:?}");
}

/// A store as a killed process leaves it: the last batches stand in the journal alone. Returns the ends of them.
async fn killed(config: &SledConfig, path: &Path) -> Vec<NewObject> {
    let store = SledStore::open(config).unwrap();
    let mut at = None;
    let mut made = Vec::new();
    for number in 0..6 {
        if number == 3 {
            settle(&store);
        }
        let waits = session(&store).table.pending.clone();
        // Nothing enters the tree any more, so that the files stand still.
        let still = (number >= 3).then(|| waits.still());
        let next = commit(&format!("commit {number}"));
        land(&store, moved(at, &next)).await;
        at = Some(CommitId::new(next.id));
        made.push(next);
        if number == 5 {
            copy(&config.path, path);
        }
        drop(still);
    }
    made
}

#[tokio::test]
async fn what_stands_in_the_journal_alone_is_found_and_damage_of_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (sound, left) = (folder.path().join("sound"), folder.path().join("left"));
    let made = killed(&SledConfig::new(&sound), &left).await;
    let check = |path: &Path| {
        let config = SledConfig::new(path);
        let made = made.clone();
        async move {
            let store = SledStore::open(&config)?;
            for commit in &made {
                assert_eq!(store.object(commit.kind, commit.id).await?.as_ref(), Some(&commit.bytes));
            }
            assert_eq!(store.ref_log(&main(), None, 10).await?.len(), made.len());
            assert_eq!(store.audit().await?, []);
            Ok::<_, StoreError>(store)
        }
    };
    let journal = fs::read(left.join("JOURNAL-0")).unwrap();
    let end = journal.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    for (at, is_harmless) in [(end, true), (end - 1, false), (end / 2, false), (5, false)] {
        let path = folder.path().join(format!("flipped-{at}"));
        copy(&left, &path);
        let mut bytes = journal.clone();
        bytes[at] ^= 1;
        fs::write(path.join("JOURNAL-0"), bytes).unwrap();
        match check(&path).await {
            Ok(_) => assert!(is_harmless, "a turned bit at {at} is passed over"),
            Err(StoreError::Corrupt { what, detail }) => {
                assert!(!is_harmless && what.starts_with("JOURNAL-0 at offset"), "{what}: {detail}");
                assert!(detail.contains("were written"), "{detail}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    fs::write(left.join("JOURNAL-0"), &journal).unwrap();
    let store = check(&left).await.unwrap();
    land(&store, moved(Some(CommitId::new(made[5].id)), &commit("later"))).await;
}
