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
//! that was synced before (`README.md`, point 10). If that message is in front of the place it is read here, else by a start.
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
use crate::engine_log::{
    self, HEADER_BYTES, KIND_BATCH, KIND_CANCELED, KIND_COUNTER, KIND_FREE, KIND_LINK, KIND_META, KIND_NODE,
    Message, SEGMENT_BYTES,
};

/// Pages between two looks whether it shall go on.
const LOOK_PAGES: u64 = 4096;
/// Pages whose changes are held in memory, at most, some 200 bytes each: a snapshot that would need more ends sooner.
const CHANGED_PAGES_MAX: usize = 1 << 20;
/// Bytes that are looked at to tell a free segment, which is all zeros.
const FREE_LOOK_BYTES: usize = 4096;

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
    let mut to = engine_log::base(synced + 1);
    if to <= from {
        return Ok(None);
    }
    let mut changes = Changes { from, synced, ..Changes::default() };
    let log = Log { file: File::open(engine.join("db"))?, goes_on };
    let mut buffer = vec![0; SEGMENT_BYTES];
    for (position, offset) in log.segments(engine_log::base(from), to)? {
        go_on(goes_on)?;
        if changes.pages.len() > CHANGED_PAGES_MAX && position > from {
            to = position;
            break;
        }
        changes.read(&log, position, offset, &mut buffer)?;
    }
    let path = engine.join(format!("{}{UNFINISHED}", name(to)));
    match changes.write(engine, &path, to, goes_on) {
        Ok(Some(bytes)) => Ok(Some(Unnamed { engine: engine.to_owned(), position: to, bytes })),
        not => {
            // The next start removes it if this fails.
            let _ = fs::remove_file(&path);
            not.map(|_| None)
        }
    }
}

/// Length of the snapshot that is there, in bytes; 0 if there is none.
pub(crate) fn length(engine: &Path) -> io::Result<u64> {
    match engine_log::snapshot_end(engine)? {
        0 => Ok(0),
        from => Ok(fs::metadata(engine.join(name(from)))?.len()),
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

/// The engine's main file.
struct Log<'a> {
    file: File,
    goes_on: &'a dyn Fn() -> bool,
}

impl Log<'_> {
    /// The segments that begin in this part of the log, in its order: where they begin and where they stand in the file.
    fn segments(&self, from: i64, to: i64) -> io::Result<BTreeMap<i64, u64>> {
        let mut found = BTreeMap::new();
        let mut headless = Vec::new();
        let length = self.file.metadata()?.len();
        for offset in (0..length).step_by(SEGMENT_BYTES) {
            go_on(self.goes_on)?;
            let position = match self.header(offset)? {
                Some(position) => position,
                None => match self.message(offset)? {
                    Some(message) if (from..to).contains(&message.lsn()) => {
                        headless.push((message.lsn(), offset));
                        continue;
                    }
                    _ => continue,
                },
            };
            if (from..to).contains(&position) && found.insert(position, offset).is_some() {
                return Err(odd(&format!("a segment of log position {position} stands twice in the log")));
            }
        }
        match headless.iter().find(|(position, _)| !found.contains_key(position)) {
            Some((_, offset)) => Err(misfit("the header of a segment", *offset)),
            None => Ok(found),
        }
    }

    /// Which position the header at `offset` says, if it is sound.
    fn header(&self, offset: u64) -> io::Result<Option<i64>> {
        let mut bytes = [0; HEADER_BYTES];
        engine_log::read(&self.file, offset, &mut bytes)?;
        Ok(engine_log::header(&bytes).map(|(position, _)| position))
    }

    /// The first message of the segment at `offset`, which has no header.
    fn message(&self, offset: u64) -> io::Result<Option<Message>> {
        let mut bytes = vec![0; FREE_LOOK_BYTES];
        if engine_log::read(&self.file, offset, &mut bytes)?.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        bytes.resize(SEGMENT_BYTES, 0);
        let bytes = engine_log::read(&self.file, offset, &mut bytes)?;
        Ok(bytes.get(HEADER_BYTES..).and_then(engine_log::message))
    }
}

/// That something in the log is not what was written.
fn misfit(what: &str, offset: u64) -> io::Error {
    odd(&format!("{what} at offset {offset} of sled/db does not fit its check sum"))
}

/// What a part of the log says of pages.
#[derive(Debug, Default)]
struct Changes {
    /// Where the part begins.
    from: i64,
    /// Up to where the log is synced.
    synced: i64,
    pages: BTreeMap<u64, Changed>,
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
    fn read(&mut self, log: &Log<'_>, position: i64, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let number = position.cast_unsigned() / SEGMENT_BYTES as u64;
        let bytes = engine_log::read(&log.file, offset, buffer)?;
        let mut seen = Vec::new();
        let end = engine_log::each_message(bytes, number, |at, message, body| {
            let begin = position + at as i64;
            if begin >= self.from {
                let part = Part { position: begin, offset: offset + at as u64, size: message.length as u64 };
                seen.push((message, part, body.first_chunk().map(|last| i64::from_le_bytes(*last))));
            }
        });
        let begins = bytes.first_chunk().and_then(engine_log::header).map(|(begins, _)| begins);
        if begins != Some(position) || !end.is_filled {
            // It may be used anew since its header was read; but then it has a sound one, or is no more.
            let is_gone = log.file.metadata()?.len() <= offset;
            return match log.header(offset)? {
                Some(now) if now != position => Ok(()),
                None if is_gone => Ok(()),
                _ => Err(misfit("a message or header", offset + end.at as u64)),
            };
        }
        for (message, part, last) in seen {
            self.see(message, part, last)?;
        }
        Ok(())
    }

    /// Takes in a message; the first eight bytes of its body are the number `last`.
    fn see(&mut self, message: Message, part: Part, last: Option<i64>) -> io::Result<()> {
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
            // Its last message.
            KIND_BATCH if last.is_some_and(|last| last <= self.synced) => {}
            KIND_BATCH => return Err(odd("a batch is not synced to its end")),
            _ => return Err(odd("a message stands in a file of its own")),
        }
        Ok(())
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
            if number.is_multiple_of(LOOK_PAGES) {
                go_on(goes_on)?;
            }
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
        const END: [u8; 8] = (2 * SEGMENT + 9).to_le_bytes();
        const BEYOND: [u8; 8] = (2 * SEGMENT + 10).to_le_bytes();
        let cases: [(&[Of], Option<&str>); 6] = [
            (&[(KIND_BATCH, 9, near), (KIND_LINK, 1, b"")], None),
            (&[(KIND_BATCH, 9, &END), (KIND_LINK, 1, b"")], None),
            (&[(KIND_BATCH, 9, &BEYOND), (KIND_LINK, 1, b"")], Some("a batch is not synced to its end")),
            (&[(KIND_BATCH, 9, far), (KIND_LINK, 1, b"")], Some("a batch is not synced to its end")),
            (&[(KIND_BATCH, 9, b"short"), (KIND_LINK, 1, b"")], Some("a batch is not synced to its end")),
            (&[(KIND_NODE + 1, 1, near)], Some("a message stands in a file of its own")),
        ];
        for (messages, expected) in cases {
            let (_folder, engine) = log(&[Some(begun), Some(messages)]);
            let found = advanced(&engine, 2 * SEGMENT + 9).map_err(|error| error.to_string());
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
        let twice = [&whole[..], &whole[..SEGMENT_BYTES]].concat();
        fs::write(engine.join("db"), twice).unwrap();
        assert!(advanced(&engine, 3 * SEGMENT).unwrap_err().to_string().contains("stands twice"));
        fs::write(engine.join("db"), whole).unwrap();
        assert_eq!(advanced(&engine, 3 * SEGMENT).unwrap().unwrap().1.len(), 2);
    }

    #[test]
    fn a_segment_that_is_used_anew_meanwhile_counts_as_missing() {
        let begun: &[Of] = &[(KIND_META, 0, b"beginning"), (KIND_NODE, 1, b"beginning")];
        let anew = segment_of(5 * SEGMENT, &[(KIND_NODE, 1, b"anew")]);
        let mut mixed = anew.clone();
        // The header is written, what follows is not yet.
        let old = segment_of(SEGMENT, &[(KIND_NODE, 1, b"old"), (KIND_NODE, 1, b"older")]);
        mixed[HEADER_BYTES..].copy_from_slice(&old[HEADER_BYTES..]);
        let mut damaged = anew.clone();
        damaged[2] ^= 1;
        for (now, is_fine) in [(anew, true), (mixed, true), (Vec::new(), true), (damaged, false)] {
            let (_folder, engine) = log(&[Some(begun), Some(&[(KIND_NODE, 1, b"old")])]);
            let from = fs::read(engine.join("db")).unwrap();
            let looks = std::cell::Cell::new(0);
            // Once for each segment, before its header is read and once more before its messages are.
            let goes_on = || {
                looks.set(looks.get() + 1);
                if looks.get() == 4 {
                    fs::write(engine.join("db"), [&from[..SEGMENT_BYTES], &now].concat()).unwrap();
                }
                true
            };
            let found = advance(&engine, 2 * SEGMENT, &goes_on);
            assert_eq!(found.is_ok(), is_fine, "{found:?}");
            if let Ok(found) = found {
                found.unwrap().name().unwrap();
                let mut pages = Pages::open(&engine.join(name(2 * SEGMENT))).unwrap();
                let mut page_of = Page::default();
                assert!(pages.next(&mut page_of).unwrap() && pages.next(&mut page_of).unwrap());
                assert_eq!(page_of, page(&[(HEADER + 9 + MESSAGE, 17)]));
            }
        }
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
