//! How far the store was when it last acknowledged something. `FORMAT.md`, *Damage*, says what for.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::Arc,
};

use lochan_storage_model::encoding::Reader;

/// Name of the file in the folder of the store.
pub(crate) const NAME: &str = "MARK";
const MAGIC: [u8; 8] = *b"LOCHMARK";
const VERSION: u8 = 2;
/// Of stores without a journal: no field for what the engine holds, which is everything, and none for a nonce.
const VERSION_WITHOUT_JOURNAL: u8 = 1;
/// A slot has a sector of its own, so that a torn write spares the other one.
const SLOT_BYTES: usize = 512;
const SLOTS: u64 = 2;
const CHECK_BYTES: usize = 8;

/// What one slot says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Number of the last batch that was acknowledged.
    pub batch: u64,
    /// Number of the last batch that is durable in the engine; those between the two are in the journal.
    pub stored: u64,
    /// Position in the engine's log of the last byte that was synced then; −1 where nobody knows.
    pub log: i64,
    /// Length of the engine's main file then, in bytes.
    pub main_bytes: u64,
    /// What marks the records of the session in the journal.
    pub nonce: [u8; 16],
}

impl Mark {
    /// Of a store that may lose what it acknowledged.
    pub(crate) const NOTHING: Self = Self { batch: 0, stored: 0, log: -1, main_bytes: 0, nonce: [0; 16] };
}

/// The file, open for writing.
pub(crate) struct MarkFile {
    file: Arc<File>,
    sequence: u64,
}

/// How far the store is, noted outside of the engine.
pub(crate) struct Marks {
    /// `None` if nothing is known to be durable.
    file: Option<MarkFile>,
    last: Mark,
    /// Position in the log that the last mark which could be written says.
    written: i64,
}

/// Reads the mark of the store in `folder`: the newer of the slots that are whole.
pub(crate) fn read(folder: &Path) -> io::Result<Option<Mark>> {
    match File::open(folder.join(NAME)) {
        Ok(file) => Ok(newest(&file)?.map(|(_, mark)| mark)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes `mark` that of the store in `folder`, durably.
pub(crate) fn set(folder: &Path, mark: Mark) -> io::Result<()> {
    let mut file = MarkFile::open(folder)?;
    file.write(mark)?;
    file.sync()
}

fn newest(file: &File) -> io::Result<Option<(u64, Mark)>> {
    let mut found: Option<(u64, Mark)> = None;
    let mut is_damaged = false;
    for slot in 0..SLOTS {
        let mut bytes = [0; SLOT_BYTES];
        match file.read_exact_at(&mut bytes, slot * SLOT_BYTES as u64) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(error) => return Err(error),
        }
        match decode(&bytes) {
            Some(read) if found.is_none_or(|found| found.0 < read.0) => found = Some(read),
            Some(_) => {}
            None => is_damaged |= bytes.iter().any(|byte| *byte != 0),
        }
    }
    if is_damaged {
        tracing::warn!(file = NAME, "a slot of the mark is damaged and does not count");
    }
    Ok(found)
}

fn encode(version: u8, sequence: u64, mark: Mark) -> [u8; SLOT_BYTES] {
    let Mark { batch, stored, log, main_bytes, nonce } = mark;
    let mut body = Vec::with_capacity(80);
    body.extend_from_slice(&MAGIC);
    body.push(version);
    for number in [sequence, batch] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    if version > VERSION_WITHOUT_JOURNAL {
        body.extend_from_slice(&stored.to_be_bytes());
    }
    for number in [log.cast_unsigned(), main_bytes] {
        body.extend_from_slice(&number.to_be_bytes());
    }
    if version > VERSION_WITHOUT_JOURNAL {
        body.extend_from_slice(&nonce);
    }
    let check = blake3::hash(&body);
    body.extend(check.as_bytes().iter().take(CHECK_BYTES));
    let mut slot = [0; SLOT_BYTES];
    for (to, from) in slot.iter_mut().zip(body) {
        *to = from;
    }
    slot
}

fn decode(slot: &[u8; SLOT_BYTES]) -> Option<(u64, Mark)> {
    let mut r = Reader::new(slot);
    if r.array::<8>("magic").ok()? != MAGIC {
        return None;
    }
    let version = r.u8("version").ok()?;
    let has_journal = match version {
        VERSION => true,
        VERSION_WITHOUT_JOURNAL => false,
        _ => return None,
    };
    let mut number = || r.array("number").ok().map(u64::from_be_bytes);
    let (sequence, batch) = (number()?, number()?);
    let stored = if has_journal { number()? } else { batch };
    let (log, main_bytes) = (number()?, number()?);
    let nonce = if has_journal { r.array("nonce").ok()? } else { [0; 16] };
    let mark = Mark { batch, stored, log: log.cast_signed(), main_bytes, nonce };
    (encode(version, sequence, mark) == *slot).then_some((sequence, mark))
}

impl MarkFile {
    /// Opens the file of the store in `folder` for writing, and makes it if it is absent.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(NAME);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() < SLOTS * SLOT_BYTES as u64 {
            file.set_len(SLOTS * SLOT_BYTES as u64)?;
            // Its name must be durable before anything is acknowledged that it would vouch for.
            File::open(folder)?.sync_all()?;
        }
        let sequence = newest(&file)?.map_or(0, |(sequence, _)| sequence);
        Ok(Self { file: Arc::new(file), sequence })
    }

    /// Writes a mark over the older slot. Not synced: what is late says less, never more.
    pub(crate) fn write(&mut self, mark: Mark) -> io::Result<()> {
        let sequence = self.sequence + 1;
        self.file.write_all_at(&encode(VERSION, sequence, mark), (sequence % SLOTS) * SLOT_BYTES as u64)?;
        self.sequence = sequence;
        Ok(())
    }

    /// Makes durable what was written.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Marks {
    /// A mark that cannot be written costs strength and nothing else.
    pub(crate) fn write(&mut self, how: impl FnOnce(Mark) -> Mark) {
        self.last = how(self.last);
        match self.file.as_mut().map(|file| file.write(self.last)) {
            None => {}
            Some(Ok(())) => self.written = self.last.log,
            Some(Err(error)) => tracing::warn!(%error, "the mark cannot be written"),
        }
    }

    /// The file, if there is one, and the position in the log that its newest mark says, for it to be synced by whoever does not
    /// hold this meanwhile.
    pub(crate) fn unsynced(&self) -> Option<(Arc<File>, i64)> {
        self.file.as_ref().map(|file| (Arc::clone(&file.file), self.written))
    }

    /// Marks from `first` on, which is written and synced, since the one before may say too much of a log that was opened since;
    /// nowhere if what is acknowledged is not durable: a store that may lose it must not be held to it.
    pub(crate) fn begin(mut file: MarkFile, first: Mark, is_durable: bool) -> io::Result<Self> {
        let last = if is_durable { first } else { Mark::NOTHING };
        file.write(last)?;
        file.sync()?;
        Ok(Self { file: is_durable.then_some(file), last, written: last.log })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = Mark { batch: 7, stored: 6, log: -1, main_bytes: 524_288, nonce: [9; 16] };

    #[test]
    fn the_newer_whole_slot_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mut file = MarkFile::open(folder.path()).unwrap();
        for batch in 1..=5 {
            file.write(Mark { batch, ..MARK }).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(Mark { batch, ..MARK }));
        }
        // The fifth lies in the second slot; damaged, it leaves the fourth.
        file.file.write_all_at(&[0xff], SLOT_BYTES as u64 + 12).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(Mark { batch: 4, ..MARK }));
        let mut file = MarkFile::open(folder.path()).unwrap();
        file.write(Mark { batch: 6, ..MARK }).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(Mark { batch: 6, ..MARK }));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let slot = encode(VERSION, 3, MARK);
        assert_eq!(decode(&slot), Some((3, MARK)));
        for bit in 0..SLOT_BYTES * 8 {
            let mut flipped = slot;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn a_slot_is_as_drawn() {
        let slot = encode(VERSION, 1, MARK);
        let text = hex::encode(&slot[..73]);
        let drawn = "4c4f43484d41524b0200000000000000010000000000000007\
                     0000000000000006ffffffffffffffff000000000008000009090909090909090909090909090909";
        assert_eq!(text, drawn.to_owned() + &blake3::hash(&slot[..65]).to_hex()[..16]);
    }

    #[test]
    fn a_slot_of_a_store_without_a_journal_is_read() {
        let slot = encode(VERSION_WITHOUT_JOURNAL, 1, MARK);
        let text = hex::encode(&slot[..49]);
        let drawn = "4c4f43484d41524b010000000000000001000000000000000\
                     7ffffffffffffffff0000000000080000";
        assert_eq!(text, drawn.to_owned() + &blake3::hash(&slot[..41]).to_hex()[..16]);
        assert_eq!(decode(&slot), Some((1, Mark { stored: 7, nonce: [0; 16], ..MARK })));
    }
}
