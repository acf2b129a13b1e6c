use super::*;
use crate::ext::model::RefType;
use crate::syntax::Instant;

fn header() -> Header {
    Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        source: SourceKind::Nessie,
        repository: None,
        server: Some("test".into()),
        default_branch: "main".into(),
        taken_at: Instant::from_micros(1),
    }
}

fn reference(name: &str) -> Item {
    Item::Reference(ReferenceLine { kind: RefType::Tag, name: name.into(), hash: "00".repeat(32) })
}

/// A stream of three parts with one reference each.
fn stream() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer = Writer::begin(header(), &mut out);
    for part in 1..=3u64 {
        writer.begin_part(Some(format!("at{part}")), &mut out);
        writer.item(&reference(&format!("r{part}")), &mut out).unwrap();
        writer.end_part(|_| None, &mut out);
    }
    writer.end(&mut out);
    out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

fn read(reader: &mut Reader, lines: &[Vec<u8>]) -> Result<Vec<Event>, StreamError> {
    lines.iter().map(|line| reader.line(line)).collect()
}

#[test]
fn what_is_written_is_read() {
    let lines = stream();
    assert_eq!(lines.len(), 1 + 3 * 3 + 1);
    let mut reader = Reader::begin();
    let events = read(&mut reader, &lines).unwrap();
    assert_eq!(events.first(), Some(&Event::Header(header())));
    assert_eq!(events.get(2), Some(&Event::Item(reference("r1"))));
    assert!(matches!(events.last(), Some(Event::End(End { parts: 3, references: 3, .. }))));
    assert!(reader.line(&lines[0]).is_err());
}

#[test]
fn every_changed_byte_is_noticed() {
    let lines = stream();
    for (at, line) in lines.iter().enumerate() {
        for byte in 0..line.len() {
            let mut changed = lines.clone();
            changed[at][byte] ^= 0x01;
            let result = read(&mut Reader::begin(), &changed);
            // The position of the next part is for exports; nothing else may pass.
            let next = String::from_utf8_lossy(&changed[at]).into_owned();
            assert!(result.is_err(), "line {at}, byte {byte}: {next}");
        }
    }
}

#[test]
fn every_missing_line_is_noticed() {
    let lines = stream();
    for at in 0..lines.len() - 1 {
        let mut without = lines.clone();
        without.remove(at);
        assert!(read(&mut Reader::begin(), &without).is_err(), "line {at}");
    }
    let mut reader = Reader::begin();
    read(&mut reader, &lines[..lines.len() - 1]).unwrap();
    assert_eq!(reader.progress().unwrap().parts, 3);
}

#[test]
fn a_stream_goes_on_from_any_earlier_part() {
    let lines = stream();
    let mut reader = Reader::begin();
    read(&mut reader, &lines[..7]).unwrap();
    let progress = reader.progress().unwrap();
    assert_eq!(progress.parts, 2);
    for from in [0, 1, 4, 7] {
        let mut resumed = Reader::resume(progress);
        let events = read(&mut resumed, &lines[from..]).unwrap();
        let items = events.iter().filter(|event| matches!(event, Event::Item(_))).count();
        assert_eq!(items, 1, "from line {from}");
        assert!(matches!(events.last(), Some(Event::End(_))));
    }
    let mut early = Reader::resume(Progress { parts: 1, ..progress });
    assert_eq!(read(&mut early, &lines[7..]), Err(StreamError::Part { found: 3, expected: 2 }));
    let mut other = Reader::resume(Progress { checksum: Checksum::of(b"x"), ..progress });
    assert_eq!(read(&mut other, &lines[7..]), Err(StreamError::OtherStream(3)));
}

#[test]
fn unknown_names_and_fields_are_refused() {
    let lines = stream();
    for bad in [
        &br#"{"comment":{}}"#[..],
        br#"{"reference":{"type":"TAG","name":"a","hash":"0000000000","x":1}}"#,
        br#"{"reference":{"type":"TAG"}}"#,
        b"[]",
        b"",
        b"nonsense",
    ] {
        let mut reader = Reader::begin();
        read(&mut reader, &lines[..2]).unwrap();
        assert!(reader.line(bad).is_err(), "{}", String::from_utf8_lossy(bad));
    }
}

#[test]
fn a_line_of_the_largest_size_is_written_and_a_larger_one_is_not() {
    let attachment =
        |bytes: usize| Item::Attachment(Attachment { id: String::new(), data: "0".repeat(bytes) });
    let frame = "{\"attachment\":{\"id\":\"\",\"data\":\"\"}}\n".len();
    let mut out = Vec::new();
    let mut writer = Writer::begin(header(), &mut out);
    writer.begin_part(None, &mut out);
    let before = out.len();
    let error = writer.item(&attachment(LINE_BYTES_MAX - frame + 1), &mut out).unwrap_err();
    assert_eq!((error.what, error.bytes, out.len()), ("a line", LINE_BYTES_MAX + 1, before));
    writer.item(&attachment(LINE_BYTES_MAX - frame), &mut out).unwrap();
    writer.end_part(|_| None, &mut out);
    let mut reader = Reader::begin();
    for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        reader.line(line).unwrap();
    }
    assert_eq!(reader.line(&vec![b'x'; LINE_BYTES_MAX]), Err(StreamError::LongLine));
}
