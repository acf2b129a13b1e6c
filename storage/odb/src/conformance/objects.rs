//! Objects.

use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind};

use super::{Backend, land, moving, object};
use crate::Change;

pub(super) async fn run(backend: &dyn Backend) {
    objects_of_every_kind_come_back(backend).await;
    large_objects_come_back(backend).await;
    a_repeated_put_stores_one_object(backend).await;
}

fn put(objects: Vec<crate::NewObject>) -> Change {
    moving(objects, vec![])
}

async fn objects_of_every_kind_come_back(backend: &dyn Backend) {
    let store = backend.create().await;
    let objects: Vec<_> = ObjectKind::ALL
        .into_iter()
        .flat_map(|kind| [object(kind, ""), object(kind, "same bytes"), object(kind, vec![9; 5_000])])
        .collect();
    land(&*store, put(objects.clone())).await;
    for object in &objects {
        assert_eq!(store.object(object.kind, object.id).await.unwrap().as_ref(), Some(&object.bytes));
        let another = ObjectKind::ALL[usize::from(object.kind == ObjectKind::Commit)];
        assert_eq!(store.object(another, object.id).await.unwrap(), None, "the kind is part of the address");
    }
    let unknown = ObjectId::from_bytes([3; 32]);
    assert_eq!(store.object(ObjectKind::Value, unknown).await.unwrap(), None);
}

async fn large_objects_come_back(backend: &dyn Backend) {
    let store = backend.create().await;
    // Around the sizes at which backends begin to chunk, and well above.
    let sizes = [4_000, 4_992, 4_993, 5_120, 98_304, 131_072, 1024 * 1024, 5 * 1024 * 1024 + 1];
    let objects: Vec<_> = sizes
        .iter()
        .map(|size| {
            let bytes: Vec<u8> = (0..*size as u32).map(|i| (i ^ (i >> 7) ^ (i >> 13)) as u8).collect();
            object(ObjectKind::MetadataPart, bytes)
        })
        .collect();
    land(&*store, put(objects.clone())).await;
    for object in &objects {
        let found = store.object(object.kind, object.id).await.unwrap();
        assert!(found.as_ref() == Some(&object.bytes), "{} bytes", object.bytes.len());
    }
    let scanned = store.scan_objects(None, 100).await.unwrap();
    let mut scanned: Vec<usize> = scanned.iter().map(|(_, info)| info.as_ref().unwrap().size).collect();
    scanned.sort_unstable();
    assert_eq!(scanned, sizes);
}

async fn a_repeated_put_stores_one_object(backend: &dyn Backend) {
    let store = backend.create().await;
    let value = object(ObjectKind::Value, Bytes::from("value"));
    land(&*store, put(vec![value.clone(), value.clone()])).await;
    land(&*store, put(vec![value.clone()])).await;
    assert_eq!(store.scan_objects(None, 100).await.unwrap().len(), 1);
    assert_eq!(store.object(value.kind, value.id).await.unwrap(), Some(value.bytes));
}
