//! A log that a power cut has torn, and a second try at it.
//!
//! The header of a segment says how far the log was stable when it was begun, and sled calls stable what it has handed to
//! `sync_file_range`. Where several segments were begun between two syncs of ours, a power cut may tear one of them and
//! keep the next. sled reads the torn one up to the tear and goes on with the next, as if nothing were missing between. Then
//! a page may have no beginning, and sled cannot open its files; or rows are missing, which are counted where a tear is
//! found.
//!
//! From outside such a segment looks like one that was free and is being used anew, behind which everything is sound. So the
//! files are opened as they are first. Only if that fails, what follows the tear is taken out, as if the power had
//! been cut a little sooner, and the store is opened once more: the rows are counted, and the journal must lead
//! from there to the last batch. If that fails too, what was taken out is put back, and the store is refused.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::{
    engine_log,
    tail::{self, SEGMENT_BYTES, Segment, begin},
};

/// What was taken out, until the store is known to be sound without it.
const TORN: &str = "TORN";
/// Segments taken out, at most: far more than are begun between two syncs.
const SEGMENTS_MAX: usize = 64;

/// Whether the log is torn behind the mark, or was and what follows has been taken out.
pub(crate) fn is_suspected(engine: &Path) -> io::Result<bool> {
    Ok(copy_of(engine).try_exists()? || !behind(&File::open(engine.join("db"))?, engine)?.is_empty())
}

/// Takes out what follows a tear, if there is one; whether there was. The engine must not be open.
pub(crate) fn cut(engine: &Path) -> io::Result<bool> {
    let file = File::options().read(true).write(true).open(engine.join("db"))?;
    let behind = behind(&file, engine)?;
    if behind.is_empty() || behind.len() > SEGMENTS_MAX {
        return Ok(false);
    }
    let copy = copy_of(engine);
    tail::keep(&copy, &tail::encode(&file, &behind)?)?;
    tail::take_out(&file, &behind)?;
    // It would put them back.
    tail::remove(&copy.with_file_name(tail::TAIL))?;
    Ok(true)
}

/// Puts back what was taken out, if that has not been accepted.
pub(crate) fn undo(engine: &Path) -> io::Result<()> {
    let copy = copy_of(engine);
    let segments = tail::kept(&copy)?;
    if segments.is_empty() {
        return Ok(());
    }
    tail::put_back(&File::options().read(true).write(true).open(engine.join("db"))?, &segments)?;
    tail::remove(&copy)
}

/// Told that the store is sound as it is: what was taken out is no longer needed.
pub(crate) fn accept(engine: &Path) -> io::Result<()> {
    tail::remove(&copy_of(engine))
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
    use super::*;
    use crate::{
        mark::{Mark, MarkFile},
        tail::{
            HEADER_BYTES,
            testing::{MESSAGE_BYTES, segment},
        },
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
    fn what_was_accepted_is_not_put_back() {
        let (_folder, engine) = torn(9, 9);
        assert!(cut(&engine).unwrap());
        accept(&engine).unwrap();
        undo(&engine).unwrap();
        assert_eq!(there(&engine), [true, true, false, false]);
        assert!(!is_suspected(&engine).unwrap());
    }
}
