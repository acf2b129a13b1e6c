//! A log that a power cut has torn.
//!
//! The header of a segment says how far the log was stable when it was begun, and sled calls stable what it has handed to
//! `sync_file_range`. Where several segments were begun between two syncs of ours, a power cut may tear one of them and
//! keep the next. sled reads the torn one up to the tear and goes on with the next, as if nothing were missing between. Then
//! a page may have no beginning, and sled cannot open its files or read that page; or rows are missing.
//!
//! So what follows the tear is taken out first, as if the power had been cut a little sooner. Then the rows are counted,
//! and the journal must lead from there to the last batch. It cannot be the other way round: opening the log as it is,
//! sled overwrites with zeros the segments that are free if what follows the tear counts, and writes a snapshot that leads
//! there, even where it turns out later that a page cannot be read. Segments that are free without what follows are free
//! with it too, or are among those taken out, so that this way back is open.
//!
//! From outside a torn segment looks like one that was free and is being used anew, behind which everything is sound, if the mark
//! is late. Taking that out is no loss as long as the journal leads on; where it does not, the end of the log is made what it was,
//! and the files are opened as they are.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use lochan_storage_odb::StoreError;

use crate::{
    copies,
    engine_log::{self, SEGMENT_BYTES},
    tail::{self, Segment, begin},
};

/// The end of the log as it was, until the store is known to be sound without a part of it.
const TORN: &str = "TORN";
/// Segments taken out, at most: far more than are begun between two syncs.
const SEGMENTS_MAX: usize = 64;

/// Whether the log is torn behind the mark, or was and what follows has been taken out.
pub(crate) fn is_suspected(engine: &Path) -> io::Result<bool> {
    Ok(copy_of(engine).try_exists()? || !behind(&File::open(engine.join("db"))?, engine)?.is_empty())
}

/// Opens a store on the engine in this folder; where the log is torn and that is to be `mended`, without what follows the tear,
/// and only if that is found damaged as it is. Whatever else fails may pass: the next start cuts anew.
pub(crate) fn open<T>(
    engine: &Path,
    mended: bool,
    open: &impl Fn() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let failed = |error| StoreError::Open(format!("cannot mend the end of the log: {error}"));
    // Of a start that was cut off in between.
    undo(engine).map_err(failed)?;
    if !mended || !cut(engine).map_err(failed)? {
        return open();
    }
    tracing::warn!("the log is torn: it is opened without what follows the tear");
    match open() {
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::warn!(%error, "that does not lead on: it is opened as it is");
            undo(engine).map_err(failed)?;
            open()
        }
        opened => opened,
    }
}

/// Takes out what follows a tear, if there is one; whether there was. The engine must not be open.
fn cut(engine: &Path) -> io::Result<bool> {
    let file = File::options().read(true).write(true).open(engine.join("db"))?;
    // Of a start that was cut off behind its zeros: the copy made here takes the place of that one.
    tail::bring_back(&file, engine)?;
    let behind = behind(&file, engine)?;
    if behind.is_empty() || behind.len() > SEGMENTS_MAX {
        return Ok(false);
    }
    // The engine overwrites what follows the end that it finds, which may lie in front of the tear.
    let mut kept = tail::segments(&file)?;
    kept.retain(|segment| !behind.contains(segment));
    let kept = tail::end_of(kept);
    let copy = copy_of(engine);
    copies::keep(&copy, &tail::encode(&file, &[kept, behind.clone()].concat())?)?;
    tail::take_out(&file, &behind)?;
    // It would put them back.
    copies::remove(&copy.with_file_name(tail::TAIL))?;
    Ok(true)
}

/// Makes the end of the log what it was, if that it was cut off has not been accepted.
fn undo(engine: &Path) -> io::Result<()> {
    let copy = copy_of(engine);
    let segments = copies::kept(&copy)?;
    if !segments.is_empty() {
        let file = File::options().read(true).write(true).open(engine.join("db"))?;
        tail::restore(&file, &segments)?;
        // It may hold more than the end.
        tail::bring_back(&file, engine)?;
        copies::remove(&copy.with_file_name(tail::TAIL))?;
    }
    copies::remove(&copy)
}

/// Told that the store is sound as it is: what was taken out is no longer needed.
pub(crate) fn accept(engine: &Path) -> io::Result<()> {
    copies::remove(&copy_of(engine))
}

fn copy_of(engine: &Path) -> PathBuf {
    engine.with_file_name(TORN)
}

/// The segments behind the first that is torn behind the mark, of those that follow one another from there on. The mark may
/// be late, so not all of them need be unsynced.
fn behind(file: &File, engine: &Path) -> io::Result<Vec<Segment>> {
    // Without a mark nothing is known to be sound.
    let Some(synced) = tail::mark_of(engine)?.and_then(|mark| u64::try_from(mark.log).ok()) else {
        return Ok(Vec::new());
    };
    let mut present = tail::segments(file)?;
    present.retain(|segment| segment.position >= begin(synced));
    present.sort_by_key(|segment| segment.position);
    let mut rest = present.as_slice();
    let mut expected = begin(synced);
    // Behind the last one there is nothing: at most starts no segment is read.
    while let [segment, after @ ..] = rest
        && !after.is_empty()
        && segment.position == expected
    {
        let end = segment.position + engine_log::messages_until(file, segment.offset, segment.position)?;
        expected += SEGMENT_BYTES as u64;
        if end > synced && end < expected {
            return Ok(after.to_vec());
        }
        rest = after;
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, os::unix::fs::FileExt as _};

    use super::*;
    use crate::{
        engine_log::HEADER_BYTES,
        error,
        mark::{Mark, MarkFile},
        tail::testing::{MESSAGE_BYTES, segment},
    };

    const SEGMENT: i64 = SEGMENT_BYTES as i64;

    /// The folder of an engine with a log of four filled segments of which the second is torn at the message `torn`, synced
    /// up to `log`.
    fn torn(torn: usize, log: i64) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("sled");
        std::fs::create_dir(&engine).unwrap();
        let mut bytes: Vec<u8> =
            (0..4).flat_map(|number| segment(number * SEGMENT, number * SEGMENT - 1)).collect();
        let at = SEGMENT_BYTES + HEADER_BYTES + torn * MESSAGE_BYTES;
        bytes[at..at + 100].fill(0);
        std::fs::write(engine.join("db"), &bytes).unwrap();
        MarkFile::open(folder.path()).unwrap().write(Mark { log, ..Mark::NOTHING }).unwrap();
        (folder, engine)
    }

    fn there(engine: &Path) -> Vec<bool> {
        let left = std::fs::read(engine.join("db")).unwrap();
        left.chunks(SEGMENT_BYTES).map(|segment| segment.iter().any(|byte| *byte != 0)).collect()
    }

    #[test]
    fn what_follows_a_tear_is_taken_out_and_put_back() {
        let before = |torn: usize| SEGMENT + (HEADER_BYTES + torn * MESSAGE_BYTES) as i64 - 1;
        for (log, is_cut) in [
            (9, true),
            (SEGMENT - 1, true),
            (before(5), true),
            (before(9), true),
            // It was synced: that is damage.
            (before(10), false),
            (3 * SEGMENT, false),
        ] {
            let (_folder, engine) = torn(9, log);
            let whole = std::fs::read(engine.join("db")).unwrap();
            assert_eq!(is_suspected(&engine).unwrap(), is_cut, "{log}");
            assert_eq!(cut(&engine).unwrap(), is_cut);
            assert_eq!(there(&engine), [true, true, !is_cut, !is_cut]);
            assert_eq!(is_suspected(&engine).unwrap(), is_cut);
            undo(&engine).unwrap();
            assert_eq!(std::fs::read(engine.join("db")).unwrap(), whole);
            assert_eq!(is_suspected(&engine).unwrap(), is_cut);
        }
    }

    #[test]
    fn a_torn_log_is_opened_without_what_follows_the_tear_and_only_then_as_it_is() {
        let (_folder, engine) = torn(9, 9);
        let seen = RefCell::new(Vec::new());
        let refused = || {
            seen.borrow_mut().push(there(&engine));
            Err::<(), _>(error::damaged(format!("try {}", seen.borrow().len()), "it does not lead on"))
        };
        let (cut, whole) = (vec![true, true, false, false], vec![true; 4]);
        // A start that was cut off in between begins anew.
        super::cut(&engine).unwrap();
        let error = super::open(&engine, true, &refused).unwrap_err();
        assert!(error.to_string().contains("try 2"), "{error}");
        assert_eq!(seen.take(), [cut.clone(), whole.clone()]);
        assert!(super::open(&engine, false, &refused).is_err());
        assert_eq!(seen.take(), [whole]);
        // What may pass by itself is no reason to look at the tear.
        let error = super::open(&engine, true, &|| {
            seen.borrow_mut().push(there(&engine));
            Err::<(), _>(StoreError::Open("no descriptors".into()))
        });
        assert!(matches!(error, Err(StoreError::Open(_))), "{error:?}");
        assert_eq!(seen.take(), std::slice::from_ref(&cut));
        super::open(&engine, true, &|| {
            seen.borrow_mut().push(there(&engine));
            accept(&engine).map_err(|error| StoreError::Read(error.to_string()))
        })
        .unwrap();
        assert_eq!(seen.take(), [cut]);
    }

    #[test]
    fn whatever_was_written_over_the_end_is_taken_back_with_what_was_cut_off() {
        let (_folder, engine) = torn(9, 9);
        let whole = std::fs::read(engine.join("db")).unwrap();
        assert!(cut(&engine).unwrap());
        let file = File::options().write(true).open(engine.join("db")).unwrap();
        // An end in front of the tear, the torn segment in zeros, and a new one where another was, and behind all.
        file.write_all_at(&vec![0; SEGMENT_BYTES], SEGMENT_BYTES as u64).unwrap();
        file.write_all_at(&[0; 999], 20_000).unwrap();
        for place in [3, 4] {
            file.write_all_at(&segment(SEGMENT, SEGMENT - 1), place * SEGMENT_BYTES as u64).unwrap();
        }
        undo(&engine).unwrap();
        let after = std::fs::read(engine.join("db")).unwrap();
        assert!(after[..whole.len()] == whole && after[whole.len()..].iter().all(|byte| *byte == 0));
        assert!(!copy_of(&engine).exists());
    }

    #[test]
    fn what_a_start_in_doubt_has_taken_is_brought_back_before_anything_is_cut_off() {
        let (_folder, engine) = torn(9, 9);
        let whole = std::fs::read(engine.join("db")).unwrap();
        let file = File::options().write(true).open(engine.join("db")).unwrap();
        let zero = |place: u64| {
            file.write_all_at(&vec![0; SEGMENT_BYTES], place * SEGMENT_BYTES as u64).unwrap();
        };
        // Opened as it is, and cut off behind the zeros.
        tail::guard(&engine).unwrap();
        zero(2);
        assert!(cut(&engine).unwrap());
        undo(&engine).unwrap();
        assert!(std::fs::read(engine.join("db")).unwrap() == whole);
        // Opened without what follows the tear, where another segment is in doubt.
        assert!(cut(&engine).unwrap());
        tail::guard(&engine).unwrap();
        tail::guard_also(&engine, &[77]).unwrap();
        zero(0);
        undo(&engine).unwrap();
        assert!(std::fs::read(engine.join("db")).unwrap() == whole);
    }

    #[test]
    fn what_was_accepted_is_not_put_back() {
        let (_folder, engine) = torn(9, 9);
        assert!(cut(&engine).unwrap());
        accept(&engine).unwrap();
        undo(&engine).unwrap();
        assert_eq!(there(&engine), [true, true, false, false]);
        assert!(!is_suspected(&engine).unwrap());
    }
}
