use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lochan_storage_model::ports::SystemClock;
use lochan_storage_odb::{Sweep, memory::Memory};

use super::*;
use crate::{Engine, Options, fsck, merge::Rules, pace::Pace, scrub, testing};

#[derive(Default)]
struct Files(Mutex<BTreeMap<String, Bytes>>);

#[async_trait]
impl Vault for Files {
    async fn read(&self, name: &str) -> Result<Option<Bytes>, VaultError> {
        Ok(self.0.lock().unwrap().get(name).cloned())
    }
    async fn write(&self, name: &str, bytes: Bytes) -> Result<(), VaultError> {
        self.0.lock().unwrap().insert(name.to_owned(), bytes);
        Ok(())
    }
    async fn delete(&self, name: &str) -> Result<(), VaultError> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }
}

async fn taken(store: &Arc<dyn Sweep>, files: &Files) -> Taken {
    take(store, files, &SystemClock, &mut Pace::unbounded(), &mut |_| {}).await.unwrap()
}

async fn restored(files: &Files) -> (Arc<Memory>, Restored) {
    let copy = Arc::new(Memory::new());
    let sweep: Arc<dyn Sweep> = copy.clone();
    let restored = restore(files, &sweep).await.unwrap();
    let report = fsck::fsck(sweep, fsck::Depth::Full, &mut |_, _| {}).await.unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    (copy, restored)
}

/// An engine with some commits, merges and branches.
async fn engine() -> (Engine, Arc<Memory>) {
    let (engine, store) = testing::engine_with(Rules::default(), Options::default()).await;
    for n in 0..40 {
        testing::commit(&engine, "main", vec![testing::put(&format!("t{n}"), testing::table(n))]).await;
    }
    testing::branch(&engine, "dev", "main").await;
    testing::commit(&engine, "dev", vec![testing::put("d", testing::table(1))]).await;
    (engine, store)
}

#[tokio::test]
async fn a_backup_comes_back_and_is_incremental() {
    let (engine, store) = engine().await;
    let sweep: Arc<dyn Sweep> = store.clone();
    let files = Files::default();
    let first = taken(&sweep, &files).await;
    assert_eq!((first.objects, first.references), (41, 2));
    testing::commit(&engine, "main", vec![testing::delete("t3")]).await;
    let second = taken(&sweep, &files).await;
    assert_eq!(second.objects, 1, "only what is new is copied");
    let (point, _) = store.point().await.unwrap();
    testing::commit(&engine, "main", vec![testing::delete("t4")]).await;

    let verified = verify(&files).await.unwrap();
    assert_eq!((verified.objects, verified.references, &verified.findings[..]), (42, 2, &[][..]));
    assert_eq!(verified.unfinished, None);
    let (copy, report) = restored(&files).await;
    assert_eq!((report.objects, report.log_entries), (42, verified.log_entries));
    assert_eq!(copy.point().await.unwrap().0, point);
    let again = testing::open(&copy, Rules::default(), Options::default());
    assert_eq!(testing::contents(&again, "main").await.len(), 39);
    // The restored store backs up into the same place, although its tokens are other ones.
    testing::commit(&again, "main", vec![testing::delete("t5")]).await;
    let copy: Arc<dyn Sweep> = copy;
    assert_eq!(taken(&copy, &files).await.objects, 1);
    restored(&files).await;
    // Another repository may not.
    let other: Arc<dyn Sweep> = Arc::new(Memory::new());
    let refused = take(&other, &files, &SystemClock, &mut Pace::unbounded(), &mut |_| {}).await;
    assert!(matches!(refused, Err(Error::OtherRepository { .. })));
    assert!(matches!(restore(&files, &copy).await, Err(Error::NotEmpty)));
}

#[tokio::test]
async fn a_half_made_backup_is_recognised() {
    let (_engine, store) = engine().await;
    let sweep: Arc<dyn Sweep> = store;
    let files = Files::default();
    taken(&sweep, &files).await;
    let manifest = files.0.lock().unwrap().remove(MANIFEST).unwrap();
    files.write(UNFINISHED, "begun at noon".into()).await.unwrap();
    let error = verify(&files).await.unwrap_err().to_string();
    assert!(error.contains("never finished: begun at noon"), "{error}");
    assert!(matches!(manifest_of(&Files::default()).await, Err(Error::NoBackup(_))));
    files.write(MANIFEST, manifest).await.unwrap();
    assert_eq!(verify(&files).await.unwrap().unfinished.as_deref(), Some("begun at noon"));
}

async fn manifest_of(files: &Files) -> Result<Manifest, Error> {
    super::manifest(files).await
}

#[tokio::test]
async fn every_flipped_byte_of_a_backup_is_found() {
    let (_engine, store) = engine().await;
    let sweep: Arc<dyn Sweep> = store;
    let files = Files::default();
    taken(&sweep, &files).await;
    let all = files.0.lock().unwrap().clone();
    for (name, bytes) in all {
        for at in (0..bytes.len()).step_by(bytes.len() / 60 + 1).chain([bytes.len() - 1]) {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << (at % 8);
            files.write(&name, damaged.into()).await.unwrap();
            let found = verify(&files).await;
            assert!(found.is_err() || !found.unwrap().findings.is_empty(), "{name} {at}");
        }
        files.write(&name, bytes).await.unwrap();
    }
    let lost = files.0.lock().unwrap().keys().find(|name| name.starts_with("packs/")).cloned().unwrap();
    files.delete(&lost).await.unwrap();
    let found = verify(&files).await.unwrap().findings;
    assert!(found.iter().any(|line| line.contains(&lost) && line.contains("is missing")), "{found:?}");
    assert!(found.iter().any(|line| line.contains("reference dev needs the Commit")), "{found:?}");
}

#[tokio::test]
async fn a_backup_taken_under_writes_lies_between_two_of_them() {
    let (engine, store) = engine().await;
    let sweep: Arc<dyn Sweep> = store;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move {
            let mut n = 0;
            while !stop.load(Ordering::Relaxed) {
                n += 1;
                testing::commit(&engine, "dev", vec![testing::put(&format!("w{n}"), testing::table(n))])
                    .await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
    let files = Files::default();
    for _ in 0..5 {
        taken(&sweep, &files).await;
        assert_eq!(verify(&files).await.unwrap().findings, Vec::<String>::new());
        restored(&files).await;
    }
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

#[tokio::test]
async fn what_is_lost_comes_back_from_a_backup_or_a_replica() {
    let (engine, store) = engine().await;
    let sweep: Arc<dyn Sweep> = store.clone();
    let files = Files::default();
    taken(&sweep, &files).await;
    let (point, _) = store.point().await.unwrap();
    let (replica, _) = restored(&files).await;
    // A commit in the middle is lost.
    let head = testing::head(&engine, "main").await;
    let lost = engine.commits().load(head).await.unwrap().header.parent();
    sweep.begin_epoch().await.unwrap();
    assert_eq!(
        sweep.delete_objects(&[(lochan_storage_model::ObjectKind::Commit, lost.object())], 1).await.unwrap(),
        1
    );
    let report = fsck::fsck(sweep.clone(), fsck::Depth::Heads, &mut |_, _| {}).await.unwrap();
    let named = report.findings.iter().find(|finding| finding.what == format!("Commit {lost}")).unwrap();
    assert_eq!(named.detail, format!("it is missing; needed by commit {head} and references dev, main"));

    let manifest = manifest_of(&files).await.unwrap();
    for source in [Source::Backup(&files, Box::new(manifest)), Source::Replica(replica)] {
        let fresh: Arc<dyn Sweep> = Arc::new(Memory::new());
        let repaired = repair(&sweep, &source, &fresh).await.unwrap();
        assert_eq!((repaired.kept, repaired.put_back), (40, 1));
        let report = fsck::fsck(fresh.clone(), fsck::Depth::Full, &mut |_, _| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        assert_eq!(fresh.point().await.unwrap().0.references, point.references);
        assert_eq!(fresh.identity().repository, sweep.identity().repository);
    }
}

#[tokio::test]
async fn a_scrub_counts_everything_and_finds_nothing_in_a_sound_store() {
    let (engine, store) = engine().await;
    engine.stop(Duration::from_secs(10)).await;
    let sweep: Arc<dyn Sweep> = store;
    let mut calls = 0;
    let found = scrub::round(&sweep, &mut Pace::unbounded(), &mut |_| calls += 1).await.unwrap();
    assert_eq!((found.objects, found.references, found.found), (41, 2, 0));
    assert!(found.nodes > 0 && found.log_entries >= 43 && calls > 0, "{found:?}");
    // A node that is not what its id says is thrown away, and the index is made anew.
    let space = lochan_storage_odb::DerivedSpace::Node;
    let nodes = sweep.derived_scan(space, &[], None, false, 1).await.unwrap();
    let damaged =
        lochan_storage_odb::DerivedWrite { space, key: nodes[0].0.clone(), value: Some("x".into()) };
    sweep.put_derived(vec![damaged]).await.unwrap();
    let found = scrub::round(&sweep, &mut Pace::unbounded(), &mut |_| {}).await.unwrap();
    assert_eq!((found.found, found.findings[0].severity), (1, fsck::Severity::Derived));
    assert_eq!(sweep.derived(space, &nodes[0].0).await.unwrap(), None);
    let found = scrub::round(&sweep, &mut Pace::unbounded(), &mut |_| {}).await.unwrap();
    assert_eq!(found.found, 0);
}
