//! A log that was never summed up in a snapshot, and one bit of it turned: what is refused says where, and a salvage keeps
//! everything else.

use std::{os::unix::fs::FileExt, sync::Mutex};

use lochan_storage_odb::{DerivedSpace, DerivedWrite, Look, Seen};

use super::{damage::copy, *};
use crate::engine_log::{SEGMENT_BYTES, header};

const COMMITS: u64 = 120;
const OBJECTS_A_COMMIT: u64 = 20;
/// Bits turned, one at a time.
const TRIALS: u64 = 24;
/// Rows on the page that a damaged message belongs to, and those that wait for it, at most.
const LOST_MAX: usize = 60;

async fn fill(config: &SledConfig) -> Vec<(ObjectKind, ObjectId)> {
    let store = SledStore::open(config).unwrap();
    let mut at = None;
    let mut made = Vec::new();
    for number in 0..COMMITS {
        let head = commit(&format!("commit {number}"));
        let mut batch = moved(at, &head);
        for part in 0..OBJECTS_A_COMMIT {
            let hash = blake3::hash(&(number * OBJECTS_A_COMMIT + part).to_be_bytes());
            let bytes: Vec<u8> = hash.as_bytes().iter().copied().cycle().take(1_500).collect();
            let id = ObjectId::of(ObjectKind::MetadataPart, &bytes);
            batch.changes[0].objects.push(NewObject {
                kind: ObjectKind::MetadataPart,
                id,
                bytes: bytes.into(),
            });
            made.push((ObjectKind::MetadataPart, id));
        }
        land(&store, batch).await;
        made.push((head.kind, head.id));
        at = Some(CommitId::new(head.id));
        settle(&store);
    }
    made
}

/// Numbers of the log entries that are shown to whoever looks at everything, in order.
async fn shown_log(store: &SledStore) -> Vec<u64> {
    let shown = Mutex::new(Vec::new());
    let onlooker = || -> Look<'_> {
        Box::new(|seen| {
            if let Ok(Seen::Log(entry)) = seen {
                shown.lock().unwrap().push(entry.number);
            }
        })
    };
    store.verify(&onlooker).await.unwrap();
    let mut shown = shown.into_inner().unwrap();
    shown.sort_unstable();
    shown
}

/// Which segment of the file holds the end of the log.
fn end_of_the_log(config: &SledConfig) -> u64 {
    let bytes = std::fs::read(config.path.join("sled/db")).unwrap();
    let position = |segment: &[u8]| header(segment.first_chunk().unwrap()).map(|(position, _)| position);
    let segments = bytes.chunks(SEGMENT_BYTES).map(position).zip(0..);
    segments.max_by_key(|(position, _)| *position).unwrap().1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bit_of_a_log_without_a_snapshot_costs_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let sound = SledConfig::new(folder.path().join("sound"));
    let made = fill(&sound).await;
    let length = std::fs::metadata(sound.path.join("sled/db")).unwrap().len();
    assert!(length > 4 << 20, "{length}");
    let end = end_of_the_log(&sound);
    let mut refused = 0;
    for trial in 0..TRIALS {
        let at = length * trial / TRIALS + 4_321;
        // The engine reads that segment again, whatever a snapshot says.
        if at / SEGMENT_BYTES as u64 == end {
            continue;
        }
        let hurt = SledConfig::new(folder.path().join(format!("hurt {trial}")));
        copy(&sound.path, &hurt.path);
        let main = std::fs::File::options().read(true).write(true).open(hurt.path.join("sled/db")).unwrap();
        let mut byte = [0];
        main.read_exact_at(&mut byte, at).unwrap();
        main.write_all_at(&[byte[0] ^ 4], at).unwrap();
        let Err(error) = SledStore::open(&hurt) else { continue };
        refused += 1;
        let again = SledStore::open(&hurt).err().map(|error| error.to_string());
        assert_eq!(again, Some(error.to_string()), "trial {trial}: the next start finds it as this one did");
        let StoreError::Corrupt { what, .. } = &error else { panic!("trial {trial}: {error}") };
        assert!(what.contains("sled/db at offset "), "trial {trial}: {error}");
        let saved = SledStore::salvage(&hurt).unwrap_or_else(|error| panic!("trial {trial}: {error}"));
        let mut lost = 0;
        for (kind, id) in &made {
            match saved.object(*kind, *id).await {
                Ok(Some(bytes)) => assert_eq!(ObjectId::of(*kind, &bytes), *id),
                _ => lost += 1,
            }
        }
        // None where the page has been written anew since.
        assert!(lost <= LOST_MAX, "trial {trial}: {lost} of {} objects are lost", made.len());
    }
    assert!(refused > 0);
}

/// The journal repeats the last batch in a salvage, whatever its row says in the tree.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_leaf_under_what_the_journal_repeats_costs_that_leaf() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let made = fill(&config).await;
    let store = SledStore::open(&config).unwrap();
    let at = store.reference(&main()).await.unwrap().map(|found| found.target);
    let last = commit("the last batch stands alone in the journal");
    land(&store, moved(at, &last)).await;
    settle(&store);
    drop(store);

    let path = config.path.join("sled/db");
    // Its page must not lie in the last segment, which a salvage cannot pass over: so something is written behind it.
    let places = loop {
        let store = SledStore::open(&config).unwrap();
        let node = |number: u64| DerivedWrite {
            space: DerivedSpace::Node,
            key: number.to_be_bytes().to_vec().into(),
            value: Some(vec![number as u8; 60_000].into()),
        };
        store.put_derived((0..60).map(node).collect()).await.unwrap();
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(last.bytes.len()).enumerate().filter(|(_, seen)| *seen == last.bytes);
        let places: Vec<_> = found.map(|(at, _)| (at as u64, bytes[at])).collect();
        assert!(!places.is_empty());
        let end = end_of_the_log(&config);
        if places.iter().all(|(at, _)| at / SEGMENT_BYTES as u64 != end) {
            break places;
        }
    };
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for (at, byte) in places {
        file.write_all_at(&[byte ^ 4], at).unwrap();
    }
    for _ in 0..2 {
        assert!(matches!(SledStore::open(&config), Err(StoreError::Corrupt { .. })));
    }
    let saved = SledStore::salvage(&config).unwrap();
    assert_eq!(saved.object(last.kind, last.id).await.unwrap(), Some(last.bytes), "it is in the journal");
    // So is its log entry, which stands over what the tree has.
    let logged = shown_log(&saved).await;
    assert_eq!(logged, (1..=COMMITS + 1).collect::<Vec<_>>());
    let mut lost = 0;
    for (kind, id) in &made {
        lost += usize::from(!matches!(saved.object(*kind, *id).await, Ok(Some(_))));
    }
    assert!(lost <= LOST_MAX, "{lost} of {} objects are lost", made.len());
}
