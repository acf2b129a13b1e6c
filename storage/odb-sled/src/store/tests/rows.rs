//! Golden vectors: what a released version has written stays readable.

use lochan_storage_model::{DecodeError, encoding::Reader};
use lochan_storage_odb::{DerivedSpace, RecordSpace, RefLogEntry, RequestKey};

use super::*;
use crate::{
    keys::Position,
    objects::{self, ObjectHeader, Pack},
    rows::{self, RecordValue},
};

const POSITION: Position = Position { batch: 0x0102_0304_0506_0708, place: 9 };

fn entry(number: u64) -> RefLogEntry {
    RefLogEntry {
        name: main(),
        number,
        kind: RefKind::Branch,
        old: Some(CommitId::new(ObjectId::from_bytes([1; 32]))),
        new: Some(CommitId::new(ObjectId::from_bytes([2; 32]))),
        operation: RefOperation::Commit,
        principal: "ann".into(),
        request: Some(RequestKey { key: [3; 32], fingerprint: [4; 32] }),
        run: Some("r1".into()),
        time: 1_766_000_000_123_456,
    }
}

#[test]
fn keys_and_rows_are_fixed() {
    let id = ObjectId::from_bytes([0xab; 32]);
    let header = ObjectHeader { kind: ObjectKind::Commit, epoch: 7, id, size: 3 };
    let (mut small, mut large) = (Vec::new(), Vec::new());
    header.write(b"abc", &mut small);
    ObjectHeader { size: 1_000_000, ..header }.write(b"", &mut large);
    let other = ObjectHeader { epoch: 8, id: ObjectId::from_bytes([0xcd; 32]), size: 0, ..header };
    let mut pack = Pack::default();
    pack.push(&header, b"abc");
    pack.push(&other, b"");
    let pack = pack.row().to_vec();
    let mut positions = Vec::new();
    rows::write_position(Position { batch: 300, place: 2 }, &mut positions);
    rows::write_position(Position { batch: 301, place: 0 }, &mut positions);
    let mut log = rows::write_log(&[entry(4), entry(5)]);
    let (first, log_row) = log.pop().unwrap();
    assert_eq!((log.len(), first), (0, 4));
    let chunked = RecordValue::Chunked { at: POSITION, size: 200_000 };
    let found = [
        ("key object", keys::object(POSITION).to_vec()),
        ("key chunk", keys::chunk(POSITION, 2)),
        ("key position", keys::position(id).to_vec()),
        ("key reference", keys::reference(&main())),
        ("key ref number", keys::ref_number(&main())),
        ("key ref log", keys::ref_log(&main(), 4)),
        ("key request", keys::request(&[3; 32])),
        ("key record", keys::record(RecordSpace::Setting, b"k")),
        ("key record version", keys::record_version(RecordSpace::Secret, b"k")),
        ("key derived", keys::derived(DerivedSpace::Document, b"k")),
        ("key derived chunk", keys::derived_chunk(DerivedSpace::Document, b"k", 1)),
        ("key epoch", keys::epoch()),
        ("key watermark", keys::watermark()),
        ("object", small.clone()),
        ("object chunked", large.clone()),
        ("objects packed", pack.clone()),
        ("positions", positions.clone()),
        ("ref log", log_row.clone()),
        ("request", rows::write_request(&main(), 300)),
        ("record", rows::write_record(300, &RecordValue::Here("v".into()))),
        ("record chunked", rows::write_record(1, &chunked)),
        ("number", rows::write_number(300)),
    ];
    let text: String =
        found.iter().map(|(name, bytes)| format!("{name}: {}\n", hex::encode(bytes))).collect();
    assert_eq!(text, include_str!("golden-1.txt"));

    let chunked_header = ObjectHeader { size: 1_000_000, ..header };
    assert_eq!(read(&small).unwrap(), [(header, Some(b"abc".to_vec()))]);
    assert_eq!(read(&large).unwrap(), [(chunked_header, None)]);
    assert_eq!(read(&pack).unwrap(), [(header, Some(b"abc".to_vec())), (other, Some(Vec::new()))]);
    assert_eq!(
        rows::read_positions(&positions).unwrap(),
        [Position { batch: 300, place: 2 }, Position { batch: 301, place: 0 }]
    );
    assert_eq!(rows::read_log(&main(), 4, &log_row).unwrap(), [entry(4), entry(5)]);
    assert_eq!(rows::read_request(&rows::write_request(&main(), 300)).unwrap(), (main(), 300));
    assert_eq!(rows::read_record(&rows::write_record(1, &chunked)).unwrap(), (1, chunked));
    assert_eq!(keys::split_ref_log(&keys::ref_log(&main(), 4)), Some(("main", 4)));
    assert_eq!(Position::from_bytes(&POSITION.bytes()), Some(POSITION));
}

/// An object as a row has it.
type Read = (ObjectHeader, Option<Vec<u8>>);

fn read(row: &[u8]) -> Result<Vec<Read>, DecodeError> {
    objects::entries(row)?.map(|entry| entry.map(|e| (e.header, e.bytes.map(<[u8]>::to_vec)))).collect()
}

#[test]
fn one_object_of_a_row_is_renewed_or_removed_and_the_others_stay() {
    let headers: Vec<_> = (0..3)
        .map(|n| ObjectHeader {
            kind: ObjectKind::Commit,
            epoch: 1,
            id: ObjectId::from_bytes([n; 32]),
            size: usize::from(n) * 100,
        })
        .collect();
    let mut pack = Pack::default();
    for header in &headers {
        pack.push(header, &vec![7; header.size]);
    }
    let mut alone = Vec::new();
    headers[1].write(&[7; 100], &mut alone);
    for row in [pack.row(), &alone] {
        let all = read(row).unwrap();
        let mut renewed = row.to_vec();
        objects::renew(&mut renewed, headers[1].id, 2).unwrap();
        let expected: Vec<_> = all
            .iter()
            .map(|(header, bytes)| {
                let epoch = if header.id == headers[1].id { 2 } else { 1 };
                (ObjectHeader { epoch, ..*header }, bytes.clone())
            })
            .collect();
        assert_eq!(read(&renewed).unwrap(), expected);

        let mut left = row.to_vec();
        objects::remove(&mut left, headers[1].id).unwrap();
        let expected: Vec<_> = all.iter().filter(|(header, _)| header.id != headers[1].id).cloned().collect();
        assert_eq!(if left.is_empty() { Vec::new() } else { read(&left).unwrap() }, expected);
        for header in &headers {
            objects::remove(&mut left, header.id).unwrap();
        }
        assert_eq!(left, b"", "a row without objects is no row");
    }
}

#[test]
fn damaged_rows_are_refused() {
    let mut object = Vec::new();
    let id = ObjectId::from_bytes([0xab; 32]);
    ObjectHeader { kind: ObjectKind::Value, epoch: 0, id, size: 1 << 20 }.write(b"", &mut object);
    let record = rows::write_record(1, &RecordValue::Chunked { at: POSITION, size: 1 << 20 });
    let (_, log) = rows::write_log(&[entry(1)]).remove(0);
    for cut in 0..object.len() {
        assert!(read(&object[..cut]).is_err());
    }
    let mut pack = Pack::default();
    pack.push(&ObjectHeader { kind: ObjectKind::Commit, epoch: 0, id, size: 9 }, b"some text");
    for cut in 3..pack.row().len() {
        assert!(read(&pack.row()[..cut]).is_err());
    }
    for cut in 0..record.len() {
        assert!(rows::read_record(&record[..cut]).is_err());
    }
    for cut in 0..log.len() {
        assert!(rows::read_log(&main(), 1, &log[..cut]).is_err());
    }
    for row in [&mut object.clone(), &mut record.clone(), &mut log.clone()] {
        row[0] = 2;
        assert!(read(row).is_err());
        assert!(rows::read_record(row).is_err());
        assert!(rows::read_log(&main(), 1, row).is_err());
    }
    assert!(rows::read_request(&[1, 1, b'.']).is_err());
    assert!(rows::read_number(&[1]).is_err());
    assert!(rows::read_positions(&[1]).is_err());
}

#[test]
fn long_logs_are_cut_into_rows_and_gaps_begin_new_ones() {
    let entries: Vec<_> = (1..=1_000).filter(|number| *number != 500).map(entry).collect();
    let written = rows::write_log(&entries);
    assert!(written.len() > 2);
    assert!(written.iter().all(|(_, row)| row.len() <= rows::VALUE_BYTES_MAX));
    assert!(written.iter().any(|(first, _)| *first == 501));
    let read: Vec<_> =
        written.iter().flat_map(|(first, row)| rows::read_log(&main(), *first, row).unwrap()).collect();
    assert_eq!(read, entries);
    let mut body = lochan_storage_model::encoding::Writer::default();
    entry(1).write(&mut body);
    let body = body.finish();
    assert_eq!(RefLogEntry::read(main(), 1, &mut Reader::new(&body)).unwrap(), entry(1));
}
