//! A newer snapshot, written while the engine is open.
//!
//! sled 0.34.7 writes one when it is opened and never again, so a start reads all of the log since the last one: a second for a
//! gigabyte. Here the next one is made of the one before and of the segments filled since, as sled would make it from them: a
//! snapshot is nothing but what the messages of the log say, up to a place in it.
//!
//! **Up to where.** To the end of a segment, and not beyond what was synced: no power cut takes back what a snapshot says. A batch
//! that begins before that place must have been synced to its end, since a half of it does not count. The mark must be durable
//! and lie behind that place as well, or a start would look for tears in front of it.
//!
//! **Segments that are missing** were freed and are used anew: what they said of a page was replaced by a message further on, and
//! that was synced before (`README.md`, point 10). Whether that message is in front of the place or behind it, a start reads it.
//! Only where a page has no beginning at all there can be no snapshot; some log later there can.
//!
//! **Damage.** A start does not look at what lies in front of its snapshot. So nothing may lie there that a start would refuse:
//! where a message does not fit, or a segment has lost its header, the old snapshot stays.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{
    SNAPSHOT, UNFINISHED, names,
    pages::{Page, Pages, Part, Writing, odd},
};
use crate::{
    engine_log::{
        self, HEADER_BYTES, KIND_BATCH, KIND_CANCELED, KIND_COUNTER, KIND_FREE, KIND_LINK, KIND_META,
        KIND_NODE, Message, SEGMENT_BYTES,
    },
    tail,
};

/// Pages between two looks whether it shall go on.
const LOOK_PAGES: u64 = 4096;

/// A snapshot that is whole and durable, but has no name yet.
#[derive(Debug)]
pub(crate) struct Unnamed {
    engine: PathBuf,
    /// Position in the log that it reaches to.
    pub position: i64,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// Writes a snapshot of the log as far as it can be told of what is synced up to `synced`; none if that is no farther than the one
/// that is there. The engine may be open. `goes_on` is asked again and again whether it shall.
pub(crate) fn advance(engine: &Path, synced: i64, goes_on: &dyn Fn() -> bool) -> io::Result<Option<Unnamed>> {
    let from = engine_log::snapshot_end(engine)?;
    let to = engine_log::base(synced + 1);
    if to <= from {
        return Ok(None);
    }
    let file = File::open(engine.join("db"))?;
    let mut changes = Changes { from, synced, ..Changes::default() };
    let mut segment = vec![0; SEGMENT_BYTES];
    for (position, offset) in segments(&file, engine_log::base(from), to)? {
        go_on(goes_on)?;
        changes.read(&file, position, offset, &mut segment)?;
    }
    let path = engine.join(format!("{}{UNFINISHED}", name(to)));
    let written = changes.write(engine, &path, to, goes_on);
    match written {
        Ok(Some(bytes)) => Ok(Some(Unnamed { engine: engine.to_owned(), position: to, bytes })),
        not => {
            // The next start removes it if this fails.
            let _ = fs::remove_file(&path);
            not.map(|_| None)
        }
    }
}

impl Unnamed {
    /// Gives it its name, durably; then the older ones are removed.
    pub(crate) fn name(self) -> io::Result<()> {
        let Self { engine, position, .. } = self;
        let name = name(position);
        fs::rename(engine.join(format!("{name}{UNFINISHED}")), engine.join(&name))?;
        File::open(&engine)?.sync_all()?;
        for old in names(&engine)?.iter().filter(|other| **other != name) {
            fs::remove_file(engine.join(old))?;
        }
        Ok(())
    }

    /// Takes it back.
    pub(crate) fn drop_it(self) -> io::Result<()> {
        fs::remove_file(self.engine.join(format!("{}{UNFINISHED}", name(self.position))))
    }
}

/// What sled calls a snapshot.
fn name(position: i64) -> String {
    format!("{SNAPSHOT}{position:016X}")
}

/// The segments that begin in this part of the log, in its order: where they begin and where they stand in the main file.
fn segments(file: &File, from: i64, to: i64) -> io::Result<BTreeMap<i64, u64>> {
    let mut found = BTreeMap::new();
    let mut present = Vec::new();
    for segment in tail::segments(file)? {
        present.push(segment.offset);
        let position = segment.position.cast_signed();
        if (from..to).contains(&position) {
            found.insert(position, segment.offset);
        }
    }
    let mut bytes = vec![0; SEGMENT_BYTES];
    let length = file.metadata()?.len();
    for offset in (0..length).step_by(SEGMENT_BYTES).filter(|offset| !present.contains(offset)) {
        // A free one is all zeros.
        let message =
            engine_log::read(file, offset, &mut bytes)?.get(HEADER_BYTES..).and_then(engine_log::message);
        if let Some(message) = message
            && (from..to).contains(&message.lsn())
            && !found.contains_key(&message.lsn())
        {
            return Err(odd("the header of a segment does not fit its check sum"));
        }
    }
    Ok(found)
}

/// What a part of the log says of pages.
#[derive(Debug, Default)]
struct Changes {
    /// Where the part begins.
    from: i64,
    /// Up to where the log is synced.
    synced: i64,
    pages: BTreeMap<u64, Changed>,
    /// What cannot be told in a snapshot, if anything.
    untold: Option<&'static str>,
}

/// What it says of one.
#[derive(Debug, Default)]
struct Changed {
    /// What replaces everything before, if anything does.
    anew: Option<Page>,
    /// What is added to that, or to what the snapshot before says.
    added: Vec<Part>,
}

impl Changes {
    fn read(&mut self, file: &File, position: i64, offset: u64, segment: &mut [u8]) -> io::Result<()> {
        let number = position.cast_unsigned() / SEGMENT_BYTES as u64;
        let bytes = engine_log::read(file, offset, segment)?;
        // Nothing is taken of a segment before all of it is known to be what it was.
        let end = engine_log::each_message(bytes, number, |_, _, _| {});
        let header = |bytes: &[u8]| bytes.first_chunk().and_then(engine_log::header);
        let is_it = |bytes: &[u8]| header(bytes).is_some_and(|(begin, _)| begin == position);
        let mut now = [0; HEADER_BYTES];
        if !is_it(bytes) || !is_it(engine_log::read(file, offset, &mut now)?) {
            // It is used anew since its header was read.
            return Ok(());
        }
        if !end.is_filled {
            return Err(odd("a message of the log does not fit its check sum"));
        }
        engine_log::each_message(bytes, number, |at, message, body| {
            let begin = position + at as i64;
            if begin >= self.from {
                let part = Part { position: begin, offset: offset + at as u64, size: message.length as u64 };
                self.see(message, body, part);
            }
        });
        self.untold.map_or(Ok(()), |why| Err(odd(why)))
    }

    fn see(&mut self, message: Message, body: &[u8], part: Part) {
        match message.kind {
            KIND_NODE | KIND_META | KIND_COUNTER => {
                let page = self.pages.entry(message.page).or_default();
                page.anew = Some(Page::begun(part));
                page.added.clear();
            }
            KIND_FREE => {
                let page = self.pages.entry(message.page).or_default();
                page.anew = Some(Page::free(part.position, part.offset));
                page.added.clear();
            }
            KIND_LINK => self.pages.entry(message.page).or_default().added.push(part),
            KIND_CANCELED => {}
            KIND_BATCH => {
                let last = body.first_chunk().map(|last| i64::from_le_bytes(*last));
                if last.is_none_or(|last| last > self.synced) {
                    self.untold = Some("a batch is not synced to its end");
                }
            }
            _ => self.untold = Some("a message stands in a file of its own"),
        }
    }

    /// Writes the snapshot up to `to` that follows from the one there, into the file `path`; how long it is. None if a page has no
    /// beginning.
    fn write(
        mut self,
        engine: &Path,
        path: &Path,
        to: i64,
        goes_on: &dyn Fn() -> bool,
    ) -> io::Result<Option<u64>> {
        let mut writing = Writing::begin(path, to)?;
        let mut page = Page::default();
        let mut number = 0;
        if self.from > 0 {
            let mut old = Pages::open(&engine.join(name(self.from)))?;
            while old.next(&mut page)? {
                if let Some(changed) = self.pages.remove(&number) {
                    changed.apply(&mut page)?;
                }
                writing.put(&page)?;
                number += 1;
                if number.is_multiple_of(LOOK_PAGES) {
                    go_on(goes_on)?;
                }
            }
        }
        // As sled does: a change of a page without a beginning is one of a page that was moved on.
        self.pages.retain(|_, changed| changed.anew.is_some());
        while let Some((new, changed)) = self.pages.pop_first() {
            if new != number {
                return Ok(None);
            }
            changed.apply(&mut page)?;
            writing.put(&page)?;
            number += 1;
        }
        writing.end().map(Some)
    }
}

impl Changed {
    fn apply(self, page: &mut Page) -> io::Result<()> {
        if let Some(anew) = self.anew {
            *page = anew;
        }
        if page.is_free() { Ok(()) } else { page.add(&self.added) }
    }
}

fn go_on(goes_on: &dyn Fn() -> bool) -> io::Result<()> {
    if goes_on() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::Interrupted, "the store is being closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tail::testing::segment_of;

    const SEGMENT: i64 = SEGMENT_BYTES as i64;
    const HEADER: i64 = HEADER_BYTES as i64;
    /// Bytes of a message in front of its body.
    const MESSAGE: i64 = 8;

    /// A message: kind, page, body.
    type Of = (u8, u8, &'static [u8]);

    /// The engine's folder with a log of these segments, `None` for one that is free.
    fn log(segments: &[Option<&[Of]>]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("sled");
        fs::create_dir(&engine).unwrap();
        let segments = segments.iter().zip(0..).map(|(messages, number)| {
            messages.map_or_else(|| vec![0; SEGMENT_BYTES], |messages| segment_of(number * SEGMENT, messages))
        });
        fs::write(engine.join("db"), segments.flatten().collect::<Vec<u8>>()).unwrap();
        (folder, engine)
    }

    /// Advances, and gives what is found then: the position, and each page as a snapshot has it.
    fn advanced(engine: &Path, synced: i64) -> io::Result<Option<(i64, Vec<Page>)>> {
        let Some(new) = advance(engine, synced, &|| true)? else {
            assert!(names(engine).unwrap().iter().all(|name| !name.ends_with(UNFINISHED)));
            return Ok(None);
        };
        let (position, bytes) = (new.position, new.bytes);
        new.name().unwrap();
        assert_eq!(names(engine).unwrap(), [name(position)]);
        let file = engine.join(name(position));
        assert_eq!(fs::metadata(&file).unwrap().len(), bytes);
        let (mut pages, mut page, mut all) = (Pages::open(&file).unwrap(), Page::default(), Vec::new());
        while pages.next(&mut page).unwrap() {
            all.push(page.clone());
        }
        Ok(Some((position, all)))
    }

    fn page(parts: &[(i64, u64)]) -> Page {
        let part = |(position, size): (i64, u64)| Part { position, offset: position.cast_unsigned(), size };
        let mut page = Page::begun(part(parts[0]));
        page.add(&parts[1..].iter().map(|given| part(*given)).collect::<Vec<_>>()).unwrap();
        page
    }

    #[test]
    fn pages_are_begun_changed_freed_and_begun_anew() {
        let first: &[Of] = &[
            (KIND_META, 0, b"meta"),
            (KIND_COUNTER, 1, b""),
            (KIND_NODE, 2, b"node"),
            (KIND_LINK, 2, b"change"),
            (KIND_CANCELED, 2, b"nothing"),
            (KIND_NODE, 3, b""),
        ];
        let second: &[Of] = &[
            (KIND_LINK, 2, b"more"),
            (KIND_FREE, 3, b""),
            (KIND_NODE, 1, b"anew"),
            (KIND_LINK, 9, b"dangling"),
        ];
        let third: &[Of] =
            &[(KIND_LINK, 3, b"of a free page"), (KIND_NODE, 3, b"used again"), (KIND_LINK, 3, b"")];
        let (_folder, engine) = log(&[Some(first), Some(second), Some(third)]);
        assert_eq!(advanced(&engine, SEGMENT - 2).unwrap(), None);

        let meta = page(&[(HEADER, 12)]);
        let node = (HEADER + 12 + MESSAGE, 12);
        let change = (node.0 + 12, 14);
        let last = (change.0 + 14 + 15, 8);
        let counter = page(&[(HEADER + 12, 8)]);
        let expected = [meta.clone(), counter, page(&[node, change]), page(&[last])];
        let (position, pages) = advanced(&engine, SEGMENT - 1).unwrap().unwrap();
        assert_eq!((position, pages.as_slice()), (SEGMENT, expected.as_slice()));

        let at = SEGMENT + HEADER;
        let counter = page(&[(at + 12 + MESSAGE, 12)]);
        let node = page(&[node, change, (at, 12)]);
        let freed = Page::free(at + 12, (at + 12).cast_unsigned());
        let (position, pages) = advanced(&engine, 2 * SEGMENT + 5).unwrap().unwrap();
        assert_eq!((position, pages.as_slice()), (2 * SEGMENT, [meta, counter, node, freed].as_slice()));

        let at = 2 * SEGMENT + HEADER + MESSAGE + 14;
        let (position, pages) = advanced(&engine, 3 * SEGMENT).unwrap().unwrap();
        assert_eq!((position, &pages[3]), (3 * SEGMENT, &page(&[(at, 18), (at + 18, 8)])));
        assert_eq!(advanced(&engine, 3 * SEGMENT).unwrap(), None);
    }

    #[test]
    fn nothing_is_written_that_does_not_hold() {
        let begun: &[Of] = &[(KIND_META, 0, b""), (KIND_NODE, 1, b"")];
        let far: &'static [u8] = &[0, 0, 0, 0, 1, 0, 0, 0];
        let near: &'static [u8] = &[9, 0, 0, 0, 0, 0, 0, 0];
        let cases: [(&[Of], Option<&str>); 4] = [
            (&[(KIND_BATCH, 9, near), (KIND_LINK, 1, b"")], None),
            (&[(KIND_BATCH, 9, far), (KIND_LINK, 1, b"")], Some("a batch is not synced to its end")),
            (&[(KIND_BATCH, 9, b"short"), (KIND_LINK, 1, b"")], Some("a batch is not synced to its end")),
            (&[(KIND_NODE + 1, 1, near)], Some("a message stands in a file of its own")),
        ];
        for (messages, expected) in cases {
            let (_folder, engine) = log(&[Some(begun), Some(messages)]);
            let found = advanced(&engine, 2 * SEGMENT).map_err(|error| error.to_string());
            assert_eq!(found.map(|found| found.is_some()), expected.map_or(Ok(true), |why| Err(why.into())));
            assert_eq!(names(&engine).unwrap().is_empty(), expected.is_some());
        }
        // A page without a beginning, until it gets one.
        let (_folder, engine) =
            log(&[Some(begun), Some(&[(KIND_NODE, 3, b"")]), Some(&[(KIND_NODE, 2, b"")])]);
        assert_eq!(advanced(&engine, 2 * SEGMENT).unwrap(), None);
        assert_eq!(advanced(&engine, 3 * SEGMENT).unwrap().unwrap().1.len(), 4);
        // Whoever is asked to stop leaves nothing.
        let (_folder, engine) = log(&[Some(begun)]);
        assert_eq!(advance(&engine, SEGMENT, &|| false).unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert!(names(&engine).unwrap().is_empty());
    }

    #[test]
    fn a_segment_may_be_missing_but_not_damaged() {
        let begun: &[Of] = &[(KIND_META, 0, b"beginning"), (KIND_NODE, 1, b"beginning")];
        let replaced: &[Of] = &[(KIND_META, 0, b"moved")];
        let (_folder, engine) = log(&[Some(begun), None, Some(replaced)]);
        let whole = fs::read(engine.join("db")).unwrap();
        for place in [3, HEADER_BYTES + 2, HEADER_BYTES + 20, 2 * SEGMENT_BYTES + 9, 2 * SEGMENT_BYTES + 30] {
            let mut bytes = whole.clone();
            bytes[place] ^= 4;
            fs::write(engine.join("db"), bytes).unwrap();
            let error = advanced(&engine, 3 * SEGMENT).unwrap_err();
            assert!(error.to_string().contains("does not fit its check sum"), "{place}: {error}");
            assert!(names(&engine).unwrap().is_empty());
        }
        fs::write(engine.join("db"), whole).unwrap();
        assert_eq!(advanced(&engine, 3 * SEGMENT).unwrap().unwrap().1.len(), 2);
    }

    #[test]
    fn a_damaged_snapshot_is_not_gone_on_from() {
        let begun: &[Of] = &[(KIND_META, 0, b"beginning"), (KIND_NODE, 1, b"beginning")];
        let (_folder, engine) = log(&[Some(begun), Some(&[(KIND_LINK, 1, b"")])]);
        let (position, _) = advanced(&engine, SEGMENT).unwrap().unwrap();
        let file = engine.join(name(position));
        let whole = fs::read(&file).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            fs::write(&file, bytes).unwrap();
            assert!(advanced(&engine, 2 * SEGMENT).is_err(), "{place}");
            fs::write(&file, &whole[..place]).unwrap();
            assert!(advanced(&engine, 2 * SEGMENT).is_err(), "{place}");
        }
        assert_eq!(names(&engine).unwrap(), [name(position)]);
        fs::write(&file, whole).unwrap();
        assert_eq!(advanced(&engine, 2 * SEGMENT).unwrap().unwrap().0, 2 * SEGMENT);
    }
}
