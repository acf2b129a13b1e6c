use std::{fs, os::unix::fs::FileExt as _};

use super::{
    record::Sum,
    turn::{FILE_BYTES, GROWTH_BYTES, KEPT_BYTES_MAX},
    *,
};

const STORE: [u8; 8] = *b"thestore";

fn rows(number: u64) -> Rows {
    let mut rows = Rows::default();
    rows.insert(b"key", number.to_string());
    rows.insert_new(number.to_be_bytes(), vec![7; 300]);
    rows.remove(b"gone");
    rows
}

fn numbers(found: &Found) -> Vec<u64> {
    found.records.iter().map(|record| record.head.batch).collect()
}

struct Store(tempfile::TempDir);

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Files::create(folder.path()).unwrap();
        Self(folder)
    }

    fn open(&self, stored: u64) -> (Journal, Found) {
        self.open_knowing(Known { stored, store: STORE, nonce: None, all: false })
    }

    fn open_knowing(&self, known: Known) -> (Journal, Found) {
        Journal::open(&Files::open(self.0.path()).unwrap(), known).unwrap()
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
    let fifth = &found.records[2];
    assert_eq!((fifth.head.batch, fifth.head.previous, &fifth.rows), (5, 2, &rows(5)));
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
fn reading_ends_at_the_first_changed_bit_and_what_stands_beyond_is_told() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    let nonce = Some(journal.nonce());
    for batch in 1..=3 {
        journal.append(batch, &rows(batch), 0).unwrap();
    }
    let length = record::write(&head(1), &rows(1)).0.len();
    for at in length..2 * length {
        store.change(at);
        let (_, found) = store.open(0);
        assert_eq!((numbers(&found), &found.end), (vec![1], &format!("JOURNAL-0 at offset {length}")));
        assert_eq!(found.beyond, Some(3), "a bit of the second record at {at}");
        store.change(at);
    }
    // The first record is what tells the nonce, unless it is known otherwise.
    store.change(0);
    assert_eq!(store.open(0).1.beyond, None);
    let (_, found) = store.open_knowing(Known { stored: 0, store: STORE, nonce, all: false });
    assert_eq!((numbers(&found), found.beyond), (vec![], Some(2)));
    store.change(0);
    // The last record may have been on its way.
    store.change(3 * length - 1);
    let (_, found) = store.open(0);
    assert_eq!((numbers(&found), found.beyond), (vec![1, 2], None));
}

#[test]
fn what_looks_like_a_record_is_none_unless_it_follows() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    journal.append(1, &rows(1), 0).unwrap();
    let end = record::write(&head(1), &rows(1)).0.len() as u64;
    // Whoever makes one up knows every number but the sum of the record in front of it.
    let file = fs::OpenOptions::new().write(true).open(store.0.path().join(NAMES[0])).unwrap();
    for prior in [Sum::default(), [7; 16]] {
        let forged = Head { batch: 2, previous: 1, prior, ..head(2) };
        file.write_all_at(&record::write(&forged, &rows(9)).0, end).unwrap();
        let (_, found) = store.open(0);
        assert_eq!((numbers(&found), found.beyond), (vec![1], None));
    }
}

#[test]
fn what_another_turn_has_left_does_not_follow_whatever_its_length() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    for batch in 1..=3 {
        journal.append(batch, &rows(batch), 0).unwrap();
    }
    // As after a power cut of a store that left its syncs to the system: the first is gone, and numbers begin anew.
    store.change(10);
    let (mut journal, found) = store.open(0);
    assert_eq!(numbers(&found), []);
    journal.append(1, &rows(1), 0).unwrap();
    assert_eq!(numbers(&store.open(0).1), [1]);
}

#[test]
fn the_journal_of_another_store_is_none_of_ours() {
    let store = Store::new();
    let (mut journal, _) = store.open(0);
    journal.append(1, &rows(1), 0).unwrap();
    let known = Known { stored: 0, store: *b"another!", nonce: None, all: false };
    assert_eq!(numbers(&store.open_knowing(known).1), []);
    assert_eq!(numbers(&store.open_knowing(Known { all: true, ..known }).1), [1], "unless all is wanted");
}

#[test]
fn salvage_takes_what_follows_a_gap_and_names_it() {
    let store = Store::new();
    let (mut journal, _) = store.open(2);
    journal.append(3, &rows(3), 0).unwrap();
    let known = Known { stored: 1, store: STORE, nonce: None, all: false };
    let (_, found) = store.open_knowing(known);
    assert_eq!((numbers(&found), found.beyond), (vec![], Some(3)));
    let (_, found) = store.open_knowing(Known { all: true, ..known });
    assert_eq!((numbers(&found), found.gaps), (vec![3], vec![(2, 2)]));
}

fn head(batch: u64) -> Head {
    Head { batch, previous: batch - 1, store: STORE, nonce: [5; 16], prior: Sum::default() }
}

#[test]
fn a_record_is_as_drawn() {
    let mut rows = Rows::default();
    rows.insert(b"ab", b"c");
    rows.insert_new(b"d", b"");
    rows.remove(b"e");
    let (record, sum) = record::write(&Head { previous: 7, prior: [6; 16], ..head(258) }, &rows);
    let body = b"\x01\x02ab\x01c\x02\x01d\x00\x00\x01e";
    let numbers = [body.len() as u64, 258, 7].map(u64::to_be_bytes).concat();
    let fields = [&b"LOJ1"[..], &numbers, &STORE, &[5; 16], &[6; 16]].concat();
    let expected = blake3::hash(&[&fields, &body[..]].concat());
    assert_eq!(sum, expected.as_bytes()[..16]);
    assert_eq!(record, [&fields[..], &sum, body].concat());
}
