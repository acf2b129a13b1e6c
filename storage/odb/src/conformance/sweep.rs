//! Epochs, scanning, deleting, expiry of the log.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};

use super::{Backend, advance, apply, commit, create, delete, land, moving, name, object, target};
use crate::{Look, RefKind, RequestKey, Seen, Shown, Sweep};

const RACED: usize = 40;

pub(super) async fn run(backend: &dyn Backend) {
    a_scan_names_every_object_once(backend).await;
    only_what_was_not_put_again_is_deleted(backend).await;
    a_put_that_races_a_sweep_survives(backend).await;
    expiry_keeps_the_newest_entry(backend).await;
}

async fn a_scan_names_every_object_once(backend: &dyn Backend) {
    let store = backend.create().await;
    let objects: Vec<_> =
        (0..100).map(|i| object(ObjectKind::ALL[i % ObjectKind::ALL.len()], format!("object {i}"))).collect();
    const BATCH: usize = 30;
    for part in objects.chunks(BATCH) {
        land(&*store, moving(part.to_vec(), vec![])).await;
    }
    // The order inside a batch is the store's own.
    let by_batch = |found: &[(ObjectId, ObjectKind, usize, u32)]| -> Vec<BTreeSet<_>> {
        found.chunks(BATCH).map(|batch| batch.iter().copied().collect()).collect()
    };
    let expected: Vec<_> = objects.iter().map(|o| (o.id, o.kind, o.bytes.len(), 0)).collect();
    let mut order = Vec::new();
    for limit in [1, 33, 1_000] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.scan_objects(after.clone(), limit).await.unwrap();
            assert!(page.len() <= limit);
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            let infos = page.iter().map(|(_, info)| info.clone().unwrap());
            found.extend(infos.map(|info| (info.id, info.kind, info.size, info.epoch)));
        }
        assert_eq!(found.len(), expected.len());
        assert_eq!(by_batch(&found), by_batch(&expected), "in the order of their batches");
        order = found.into_iter().map(|(id, ..)| id).collect();
    }
    let by_id: HashMap<_, _> = objects.iter().map(|object| (object.id, object)).collect();
    let read = async |after, limit, bytes_max| store.read_objects(after, limit, bytes_max).await.unwrap();
    let all = read(None, usize::MAX, usize::MAX).await;
    assert_eq!(all.len(), objects.len());
    for ((_, found), id) in all.iter().zip(&order) {
        let (found, object) = (found.as_ref().unwrap(), by_id[id]);
        assert_eq!((found.id, found.kind, &found.bytes), (object.id, object.kind, &object.bytes));
    }
    assert_eq!(read(None, 7, usize::MAX).await.len(), 7);
    let few = read(Some(all[4].0.clone()), usize::MAX, 24).await;
    assert_eq!(few.len(), 3, "three of eight bytes each reach the bound");
    assert_eq!(few[0].1.as_ref().unwrap().id, order[5]);
    let bytes: usize = few.iter().map(|(_, object)| object.as_ref().unwrap().bytes.len()).sum();
    let checked = store.check_objects((Some(all[4].0.clone()), None), usize::MAX, 24).await.unwrap();
    assert_eq!((checked.objects, checked.bytes, checked.last.as_ref()), (3, bytes as u64, Some(&few[2].0)));
    assert!(checked.damaged.is_empty());
    let end = store.check_objects((Some(all.last().unwrap().0.clone()), None), 1, 1).await.unwrap();
    assert_eq!((end.objects, end.last), (0, None));
    // Between marks as well, each object is met once.
    let marks = store.object_marks(3).await.unwrap();
    assert!(marks.len() < 3, "three parts at most");
    let (mut met, mut after) = (0, None);
    for until in marks.into_iter().map(Some).chain([None]) {
        let mut from = std::mem::replace(&mut after, until.clone());
        loop {
            let checked = store.check_objects((from, until.clone()), 5, usize::MAX).await.unwrap();
            met += checked.objects;
            from = checked.last;
            if from.is_none() {
                break;
            }
        }
    }
    assert_eq!(met, objects.len() as u64);
    let shown = Mutex::new(Vec::new());
    let onlooker = || -> Look<'_> {
        Box::new(|seen| match seen.unwrap() {
            Seen::Object(Shown { kind, id, bytes }) => {
                shown.lock().unwrap().push((id, kind, bytes.to_vec()));
            }
            other => panic!("no reference was moved: {other:?}"),
        })
    };
    assert_eq!(store.verify(&onlooker).await.unwrap(), []);
    let mut shown = shown.into_inner().unwrap();
    let mut expected: Vec<_> =
        objects.iter().map(|object| (object.id, object.kind, object.bytes.to_vec())).collect();
    shown.sort();
    expected.sort();
    assert!(shown == expected, "every object is shown once");
}

async fn only_what_was_not_put_again_is_deleted(backend: &dyn Backend) {
    let store = backend.create().await;
    let kept = [object(ObjectKind::Value, "renewed"), object(ObjectKind::MetadataPart, vec![1; 250_000])];
    let dropped = [object(ObjectKind::Value, "old"), object(ObjectKind::MetadataPart, vec![2; 250_000])];
    let commits = [commit("kept"), commit("dropped")];
    let all: Vec<_> = [&kept[..], &dropped, &commits].concat();
    land(&*store, moving(all.clone(), vec![])).await;
    assert_eq!(store.epoch().await.unwrap(), 0);
    let epoch = store.begin_epoch().await.unwrap();
    assert_eq!((epoch, store.epoch().await.unwrap()), (1, 1));
    land(&*store, moving([&kept[..], &commits[..1]].concat(), vec![])).await;
    let ids: Vec<_> = all.iter().map(|object| (object.kind, object.id)).collect();
    assert_eq!(store.delete_objects(&ids, 0).await.unwrap(), 0);
    assert_eq!(store.delete_objects(&[], epoch).await.unwrap(), 0);
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), 3);
    for object in kept.iter().chain(&commits[..1]) {
        assert!(store.object(object.kind, object.id).await.unwrap().as_ref() == Some(&object.bytes));
    }
    for object in dropped.iter().chain(&commits[1..]) {
        assert_eq!(store.object(object.kind, object.id).await.unwrap(), None);
    }
    let left = store.scan_objects(None, 100).await.unwrap();
    assert_eq!(left.len(), 3);
    assert!(left.iter().all(|(_, info)| info.as_ref().unwrap().epoch == epoch));
    // What was deleted can come back.
    land(&*store, moving(dropped.to_vec(), vec![])).await;
    for object in &dropped {
        assert!(store.object(object.kind, object.id).await.unwrap().as_ref() == Some(&object.bytes));
    }
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), 0);
}

async fn a_put_that_races_a_sweep_survives(backend: &dyn Backend) {
    let store = backend.create().await;
    let values: Vec<_> = (0..RACED).map(|i| object(ObjectKind::Value, format!("value {i}"))).collect();
    land(&*store, moving(values.clone(), vec![])).await;
    let epoch = store.begin_epoch().await.unwrap();
    let ids: Vec<_> = values.iter().map(|value| (value.kind, value.id)).collect();
    let sweep = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            let mut deleted = 0;
            for id in ids {
                deleted += store.delete_objects(&[id], epoch).await.unwrap();
                tokio::task::yield_now().await;
            }
            deleted
        }
    });
    let put = tokio::spawn({
        let (store, values) = (Arc::clone(&store), values.clone());
        async move {
            // From the other end, so that some are renewed before the sweep comes and some put back after it.
            for value in values.iter().rev() {
                land(&*store, moving(vec![value.clone()], vec![])).await;
                tokio::task::yield_now().await;
            }
        }
    });
    let deleted = sweep.await.unwrap();
    put.await.unwrap();
    assert!(deleted <= RACED);
    for value in &values {
        let found = store.object(value.kind, value.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&value.bytes), "an object put again stays");
    }
    assert_eq!(store.scan_objects(None, 1_000).await.unwrap().len(), RACED);
}

async fn expiry_keeps_the_newest_entry(backend: &dyn Backend) {
    let store = backend.create().await;
    let (main, gone, quiet) = (name("main"), name("gone"), name("quiet"));
    let root = CommitId::NO_ANCESTOR;
    let creates = [&main, &gone, &quiet].map(|name| create(name, RefKind::Branch, root));
    land(&*store, moving(vec![], creates.to_vec())).await;
    land(&*store, moving(vec![], vec![delete(&gone, root)])).await;
    let mut at = root;
    let mut changes = Vec::new();
    for i in 0..10u8 {
        let object = commit(&i.to_string());
        let mut change = advance(&main, at, target(&object));
        change.log.time = 2_000 + i64::from(i);
        change.log.request = Some(RequestKey { key: [i; 32], fingerprint: [0; 32] });
        changes.push(moving(vec![object.clone()], vec![change]));
        at = target(&object);
    }
    assert_eq!(apply(&*store, changes).await.refused, []);
    assert_eq!(store.expire_ref_log(1_000).await.unwrap(), 0);
    let numbers = async |name| {
        let entries = store.ref_log(name, None, 100).await.unwrap();
        entries.into_iter().map(|entry| entry.number).collect::<Vec<_>>()
    };
    // Of main the create and five moves; of gone the create; of quiet nothing.
    assert_eq!(store.expire_ref_log(2_005).await.unwrap(), 7);
    assert_eq!(numbers(&main).await, [11, 10, 9, 8, 7]);
    assert_eq!(numbers(&gone).await, [2]);
    assert_eq!(numbers(&quiet).await, [1]);
    assert_eq!(
        shown_log(&*store).await,
        [("gone", 2), ("main", 7), ("main", 8), ("main", 9), ("main", 10), ("main", 11), ("quiet", 1)]
            .map(|(of, number)| (name(of), number))
    );
    assert_eq!(store.request(&[4; 32]).await.unwrap(), None);
    assert_eq!(store.request(&[5; 32]).await.unwrap().unwrap().number, 7);
    assert_eq!(store.expire_ref_log(i64::MAX).await.unwrap(), 4);
    assert_eq!(numbers(&main).await, [11]);
    assert!(store.request(&[9; 32]).await.unwrap().is_some());
    assert_eq!(store.ref_log_names(None, 10).await.unwrap(), [gone.clone(), main.clone(), quiet]);
    land(&*store, moving(vec![], vec![create(&gone, RefKind::Branch, root)])).await;
    assert_eq!(store.reference(&gone).await.unwrap().unwrap().number, 3);
}

/// Names and numbers of the log entries that are shown to whoever looks at everything.
async fn shown_log(store: &dyn Sweep) -> Vec<(RefName, u64)> {
    let shown = Mutex::new(Vec::new());
    let onlooker = || -> Look<'_> {
        Box::new(|seen| {
            if let Seen::Log(entry) = seen.unwrap() {
                shown.lock().unwrap().push((entry.name, entry.number));
            }
        })
    };
    assert_eq!(store.verify(&onlooker).await.unwrap(), []);
    let mut shown = shown.into_inner().unwrap();
    shown.sort();
    shown
}
