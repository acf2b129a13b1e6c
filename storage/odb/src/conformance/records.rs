//! Records.

use bytes::Bytes;

use super::{Backend, apply, land};
use crate::{Change, ExpectedRecord, FailedPrecondition, Outcome, RecordChange, RecordSpace, Requirement};

pub(super) async fn run(backend: &dyn Backend) {
    versions_go_up_and_never_repeat(backend).await;
    expectations_hold(backend).await;
    a_record_guards_another_change(backend).await;
    records_are_paged_by_space(backend).await;
    large_records_come_back(backend).await;
}

fn set(key: &str, expected: ExpectedRecord, value: Option<&str>) -> Change {
    Change {
        records: vec![RecordChange {
            space: RecordSpace::Setting,
            key: Bytes::copy_from_slice(key.as_bytes()),
            expected,
            value: value.map(|value| Bytes::copy_from_slice(value.as_bytes())),
        }],
        ..Change::default()
    }
}

async fn versions_go_up_and_never_repeat(backend: &dyn Backend) {
    let store = backend.create().await;
    let read = async || store.record(RecordSpace::Setting, b"k").await.unwrap();
    assert_eq!(read().await, None);
    let mut last = 0;
    for round in 0..3 {
        for step in 0..2 {
            land(&*store, set("k", ExpectedRecord::Any, Some(&format!("{round}.{step}")))).await;
            let record = read().await.unwrap();
            assert_eq!(record.value, format!("{round}.{step}"));
            assert_eq!(record.version, last + 1);
            last = record.version;
        }
        land(&*store, set("k", ExpectedRecord::Version(last), None)).await;
        assert_eq!(read().await, None);
    }
    // Set, deleted and set again inside one batch.
    let steps = vec![
        set("k", ExpectedRecord::Absent, Some("x")),
        set("k", ExpectedRecord::Version(last + 1), None),
        set("k", ExpectedRecord::Absent, Some("y")),
        set("z", ExpectedRecord::Any, None),
    ];
    assert_eq!(apply(&*store, steps).await, Outcome::default());
    let record = read().await.unwrap();
    assert_eq!((record.value, record.version), (Bytes::from("y"), last + 2));
    assert_eq!(store.record(RecordSpace::Secret, b"k").await.unwrap(), None, "spaces are apart");
}

async fn expectations_hold(backend: &dyn Backend) {
    let store = backend.create().await;
    let steps = vec![
        set("k", ExpectedRecord::Version(1), Some("no")),
        set("k", ExpectedRecord::Absent, Some("a")),
        set("k", ExpectedRecord::Absent, Some("no")),
        set("k", ExpectedRecord::Version(2), Some("no")),
        set("k", ExpectedRecord::Version(1), Some("b")),
        set("k", ExpectedRecord::Any, Some("c")),
    ];
    let outcome = apply(&*store, steps).await;
    let refused: Vec<_> = outcome
        .refused
        .iter()
        .map(|refusal| match &refusal.cause {
            FailedPrecondition::Record { space: RecordSpace::Setting, key, found } if key == "k" => {
                (refusal.change, *found)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(refused, [(0, None), (2, Some(1)), (3, Some(1))]);
    let record = store.record(RecordSpace::Setting, b"k").await.unwrap().unwrap();
    assert_eq!((record.value, record.version), (Bytes::from("c"), 3));
}

async fn a_record_guards_another_change(backend: &dyn Backend) {
    let store = backend.create().await;
    let guard = |expected| Requirement::Record(RecordSpace::Setting, "guard".into(), expected);
    let guarded = |expected, value| Change {
        requires: vec![guard(expected)],
        ..set("k", ExpectedRecord::Any, Some(value))
    };
    let steps = vec![
        guarded(ExpectedRecord::Absent, "first"),
        set("guard", ExpectedRecord::Absent, Some("on")),
        guarded(ExpectedRecord::Absent, "second"),
        guarded(ExpectedRecord::Version(1), "third"),
    ];
    let outcome = apply(&*store, steps).await;
    assert_eq!(outcome.refused.len(), 1);
    assert_eq!(outcome.refused[0].change, 2);
    let record = store.record(RecordSpace::Setting, b"k").await.unwrap().unwrap();
    assert_eq!((record.value, record.version), (Bytes::from("third"), 2));
}

async fn records_are_paged_by_space(backend: &dyn Backend) {
    let store = backend.create().await;
    let keys: Vec<String> = (0..40).map(|i| format!("key/{i:03}")).collect();
    let mut records: Vec<RecordChange> = Vec::new();
    for space in [RecordSpace::Repository, RecordSpace::Run, RecordSpace::Secret] {
        records.extend(keys.iter().map(|key| RecordChange {
            space,
            key: Bytes::from(key.clone()),
            expected: ExpectedRecord::Absent,
            value: Some(Bytes::from(format!("{space:?} {key}"))),
        }));
    }
    // A key of any bytes is fine, the empty one too.
    for key in [&b""[..], &[0], &[0xff, 0xff]] {
        records.push(RecordChange {
            space: RecordSpace::Cursor,
            key: Bytes::copy_from_slice(key),
            expected: ExpectedRecord::Absent,
            value: Some(Bytes::new()),
        });
    }
    land(&*store, Change { records, ..Change::default() }).await;
    for limit in [1, 9, 40, 41] {
        let mut found: Vec<(Bytes, _)> = Vec::new();
        loop {
            let after = found.last().map(|(key, _)| key.clone());
            let page = store.records(RecordSpace::Run, after.as_deref(), limit).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert_eq!(found.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), keys);
        assert!(found.iter().zip(&keys).all(|((_, record), key)| record.value == format!("Run {key}")));
    }
    let odd = store.records(RecordSpace::Cursor, None, 10).await.unwrap();
    let odd: Vec<_> = odd.iter().map(|(key, record)| (key.as_ref(), record.version)).collect();
    assert_eq!(odd, [(&b""[..], 1), (&[0], 1), (&[0xff, 0xff], 1)]);
    assert_eq!(store.records(RecordSpace::Lease, None, 10).await.unwrap(), []);
}

async fn large_records_come_back(backend: &dyn Backend) {
    let store = backend.create().await;
    let mut version = 0;
    for size in [crate::RECORD_BYTES_MAX, 1, 300_000, 100_000, 0] {
        let value = Bytes::from(vec![size as u8 ^ 0x5a; size]);
        let record = RecordChange {
            space: RecordSpace::Run,
            key: "large".into(),
            expected: if version == 0 { ExpectedRecord::Absent } else { ExpectedRecord::Version(version) },
            value: Some(value.clone()),
        };
        land(&*store, Change { records: vec![record], ..Change::default() }).await;
        version += 1;
        let found = store.record(RecordSpace::Run, b"large").await.unwrap().unwrap();
        assert_eq!((found.value.len(), found.version), (size, version));
        assert!(found.value == value);
        assert_eq!(store.records(RecordSpace::Run, None, 5).await.unwrap()[0].1, found);
    }
}
