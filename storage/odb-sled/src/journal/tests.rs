use std::fs;

use super::*;

fn rows(number: u64) -> Rows {
    let mut rows = Rows::default();
    rows.insert(b"key", number.to_string());
    rows.insert_new(number.to_be_bytes(), vec![7; 300]);
    rows.remove(b"gone");
    rows
}

fn numbers(found: &Found) -> Vec<u64> {
    found.records.iter().map(|record| record.batch).collect()
}

struct Store(tempfile::TempDir);

impl Store {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self, stored: u64) -> (Journal, Found) {
        Journal::open(&Files::open(self.0.path()).unwrap(), stored, false).unwrap()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap()
    }

    fn change(&self, at: usize) {
        let mut bytes = self.bytes(NAMES[0]);
        bytes[at] ^= 1;
        fs::write(self.0.path().join(NAMES[0]), bytes).unwrap();
    }
}

#[test]
fn what_was_appended_is_read_and_goes_on_behind() {
    let store = Store::new();
    let (mut journal, found) = store.open(0);
    assert_eq!(numbers(&found), []);
    // Numbers may be left out.
    for batch in [1, 2, 5, 6] {
        journal.append(batch, &rows(batch), 0).unwrap();
    }
    let (mut journal, found) = store.open(0);
    assert_eq!(numbers(&found), [1, 2, 5, 6]);
    assert_eq!(found.records[2], Record { batch: 5, previous: 2, rows: rows(5) });
    journal.append(7, &rows(7), 0).unwrap();
    assert_eq!(numbers(&store.open(0).1), [1, 2, 5, 6, 7]);
    assert_eq!(numbers(&store.open(5).1), [6, 7]);
    assert_eq!(numbers(&store.open(7).1), []);
}

#[test]
fn a_file_is_begun_anew_once_everything_in_it_has_arrived() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    for batch in 1..=9 {
        journal.append(batch, &rows(batch), 0).unwrap();
    }
    journal.append(10, &rows(10), 9).unwrap();
    let length = store.bytes(NAMES[0]).len() as u64;
    assert_eq!(length, GROWTH_BYTES, "it was written ahead and did not grow");
    assert_eq!(numbers(&store.open(9).1), [10], "what is left of the turn before does not follow");
    assert_eq!(numbers(&store.open(0).1), [], "nor can it stand in for what is missing");
}

#[test]
fn the_other_file_is_used_when_one_is_full_and_never_while_it_is_needed() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    let mut large = rows(0);
    large.insert(b"large", vec![1; 1024 * 1024]);
    for batch in 1..=6 {
        journal.append(batch, &large, 0).unwrap();
    }
    assert!(store.bytes(NAMES[1]).len() as u64 >= 2 * 1024 * 1024);
    assert_eq!(numbers(&store.open(0).1), [1, 2, 3, 4, 5, 6]);
    // The first file is full and still needed, so the second one grows.
    for batch in 7..=12 {
        journal.append(batch, &large, 3).unwrap();
    }
    assert_eq!(numbers(&store.open(3).1), [4, 5, 6, 7, 8, 9, 10, 11, 12]);
    journal.append(13, &rows(13), 4).unwrap();
    let (mut journal, found) = store.open(4);
    assert_eq!(numbers(&found), [5, 6, 7, 8, 9, 10, 11, 12, 13]);
    for batch in 14..40 {
        journal.append(batch, &large, 4).unwrap();
    }
    assert!(store.bytes(NAMES[0]).len() as u64 > KEPT_BYTES_MAX);
    journal.append(40, &rows(40), 39).unwrap();
    assert_eq!(store.bytes(NAMES[0]).len() as u64, FILE_BYTES, "what a flood has taken is given back");
    assert_eq!(numbers(&store.open(39).1), [40]);
}

#[test]
fn reading_ends_at_the_first_changed_bit() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    for batch in 1..=3 {
        journal.append(batch, &rows(batch), 0).unwrap();
    }
    let length = record::write(1, 0, &rows(1)).len();
    for at in length..2 * length {
        store.change(at);
        let (_, found) = store.open(0);
        assert_eq!((numbers(&found), found.end), (vec![1], format!("JOURNAL-0 at offset {length}")));
        store.change(at);
    }
    assert_eq!(numbers(&store.open(0).1), [1, 2, 3]);
}

#[test]
fn salvage_takes_what_follows_a_gap() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    journal.append(3, &rows(3), 0).unwrap();
    let files = Files::open(store.0.path()).unwrap();
    assert_eq!(numbers(&Journal::open(&files, 1, false).unwrap().1), []);
    assert_eq!(numbers(&Journal::open(&files, 1, true).unwrap().1), [3]);
}

#[test]
fn a_record_is_as_drawn() {
    let mut rows = Rows::default();
    rows.insert(b"ab", b"c");
    rows.insert_new(b"d", b"");
    rows.remove(b"e");
    let record = record::write(258, 7, &rows);
    let body = b"\x01\x02ab\x01c\x02\x01d\x00\x00\x01e";
    let numbers = [body.len() as u64, 258, 7].map(u64::to_be_bytes).concat();
    let sum = blake3::hash(&[&numbers, &body[..]].concat());
    assert_eq!(record, [&b"LOJ1"[..], &numbers, &sum.as_bytes()[..16], body].concat());
}
