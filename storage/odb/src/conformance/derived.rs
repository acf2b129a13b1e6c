//! Derived rows.

use bytes::Bytes;
use lochan_storage_model::CommitId;

use super::{Backend, advance, apply, land, moving, name};
use crate::{Change, DerivedSpace, DerivedWrite, Store};

pub(super) async fn run(backend: &dyn Backend) {
    rows_come_with_a_batch_or_alone(backend).await;
    scans_go_both_ways(backend).await;
    large_rows_come_back(backend).await;
}

fn row(key: &str, value: Option<&str>) -> DerivedWrite {
    DerivedWrite {
        space: DerivedSpace::KeyHistory,
        key: Bytes::copy_from_slice(key.as_bytes()),
        value: value.map(|value| Bytes::copy_from_slice(value.as_bytes())),
    }
}

async fn rows_come_with_a_batch_or_alone(backend: &dyn Backend) {
    let store = backend.create().await;
    let read = async |key: &str| store.derived(DerivedSpace::KeyHistory, key.as_bytes()).await.unwrap();
    land(&*store, Change { derived: vec![row("a", Some("1")), row("b", Some(""))], ..Change::default() })
        .await;
    store.put_derived(vec![row("c", Some("3")), row("a", Some("2"))]).await.unwrap();
    assert_eq!(read("a").await, Some(Bytes::from("2")));
    assert_eq!(read("b").await, Some(Bytes::new()));
    assert_eq!(read("c").await, Some(Bytes::from("3")));
    assert_eq!(read("d").await, None);
    assert_eq!(store.derived(DerivedSpace::Node, b"a").await.unwrap(), None, "spaces are apart");
    store.put_derived(vec![row("a", None), row("nobody", None)]).await.unwrap();
    land(&*store, Change { derived: vec![row("b", None)], ..Change::default() }).await;
    assert_eq!((read("a").await, read("b").await), (None, None));
    let refused = Change {
        derived: vec![row("x", Some("1"))],
        ..moving(vec![], vec![advance(&name("absent"), CommitId::NO_ANCESTOR, CommitId::NO_ANCESTOR)])
    };
    assert_eq!(apply(&*store, vec![refused]).await.refused.len(), 1);
    assert_eq!(read("x").await, None, "a refused change is left out whole");
}

async fn scan(
    store: &dyn Store,
    prefix: &str,
    from: Option<&str>,
    reverse: bool,
    limit: usize,
) -> Vec<String> {
    let from = from.map(str::as_bytes);
    let rows =
        store.derived_scan(DerivedSpace::KeyHistory, prefix.as_bytes(), from, reverse, limit).await.unwrap();
    rows.iter()
        .map(|(key, value)| {
            assert_eq!(key, value);
            String::from_utf8(key.to_vec()).unwrap()
        })
        .collect()
}

async fn scans_go_both_ways(backend: &dyn Backend) {
    let store = backend.create().await;
    let keys = ["a", "a1", "a2", "a3", "a9", "b", "b1"];
    store.put_derived(keys.iter().map(|key| row(key, Some(key))).collect()).await.unwrap();
    let other = DerivedWrite { space: DerivedSpace::Document, ..row("a2x", Some("other")) };
    store.put_derived(vec![other]).await.unwrap();
    let s = &*store;
    assert_eq!(scan(s, "", None, false, 100).await, keys);
    assert_eq!(scan(s, "a", None, false, 100).await, ["a", "a1", "a2", "a3", "a9"]);
    assert_eq!(scan(s, "a", None, false, 2).await, ["a", "a1"]);
    assert_eq!(scan(s, "a", Some("a2"), false, 2).await, ["a2", "a3"]);
    assert_eq!(scan(s, "a", Some("a4"), false, 9).await, ["a9"]);
    assert_eq!(scan(s, "a", Some("b"), false, 9).await, [""; 0]);
    assert_eq!(scan(s, "a", Some("0"), false, 1).await, ["a"]);
    assert_eq!(scan(s, "a", None, true, 2).await, ["a9", "a3"]);
    assert_eq!(scan(s, "a", Some("a2"), true, 9).await, ["a2", "a1", "a"]);
    assert_eq!(scan(s, "a", Some("a4"), true, 1).await, ["a3"]);
    assert_eq!(scan(s, "a", Some("z"), true, 1).await, ["a9"]);
    assert_eq!(scan(s, "b", Some("a9"), true, 9).await, [""; 0]);
    assert_eq!(scan(s, "", None, true, 3).await, ["b1", "b", "a9"]);
    assert_eq!(scan(s, "c", None, false, 3).await, [""; 0]);
    assert_eq!(scan(s, "a", None, false, 0).await, [""; 0]);
}

async fn large_rows_come_back(backend: &dyn Backend) {
    let store = backend.create().await;
    for size in [1_000_000, 5, 200_000] {
        let value = Bytes::from(vec![7; size]);
        let write =
            DerivedWrite { space: DerivedSpace::Document, key: "large".into(), value: Some(value.clone()) };
        store.put_derived(vec![write]).await.unwrap();
        assert!(store.derived(DerivedSpace::Document, b"large").await.unwrap() == Some(value.clone()));
        let found = store.derived_scan(DerivedSpace::Document, b"l", None, true, 9).await.unwrap();
        assert!(found == [(Bytes::from("large"), value)]);
    }
    let write = DerivedWrite { space: DerivedSpace::Document, key: "large".into(), value: None };
    store.put_derived(vec![write]).await.unwrap();
    assert_eq!(store.derived(DerivedSpace::Document, b"large").await.unwrap(), None);
}
