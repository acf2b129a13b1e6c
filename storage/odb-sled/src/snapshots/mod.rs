//! The snapshot files of sled: a summary of its log that makes opening quick. The log alone is the truth, as long as its
//! last segments are whole, which `tail` sees to.
//!
//! sled 0.34.7 writes a new one beside the old as `snap.<position>.generating` and renames it, but opens that file without
//! emptying it: what a start that was killed has left there stays behind a shorter one, whose checksum then stands in the
//! wrong place, and no start succeeds any more. So leftovers are removed before each open, and a snapshot that turns out
//! to be damaged is set aside once, which makes the engine read its whole log.
//!
//! It writes one whenever it is opened, of what it could read, and none later; [`advance`] does that. Where a message of the log is damaged it reads on behind its
//! segment, so that snapshot leads past what stands there, for ever. Where the log may be damaged, the snapshots are therefore
//! kept as they were until the rows have been counted. A start that finds some comes after one that found damage or was cut
//! off, and puts them back. What they lead to must be there then, so the copy of the end of the log (`tail`) outlives them.

mod advance;
mod pages;

pub(crate) use advance::{Unnamed, advance, length};

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::copies;

const SNAPSHOT: &str = "snap.";
const UNFINISHED: &str = ".generating";
/// What a damaged snapshot is called, behind its old name.
const DAMAGED: &str = "damaged-";
/// File with the snapshots as they were.
const KEPT: &str = "SNAPSHOTS";
const MAGIC: &[u8; 8] = b"lochans1";

fn names(engine: &Path) -> io::Result<Vec<String>> {
    if !engine.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(engine)? {
        if let Ok(name) = entry?.file_name().into_string()
            && name.starts_with(SNAPSHOT)
        {
            found.push(name);
        }
    }
    Ok(found)
}

/// Removes what an interrupted start has left. Only whoever holds the lock of the folder may call it.
pub(crate) fn drop_unfinished(engine: &Path) -> io::Result<()> {
    for name in names(engine)?.iter().filter(|name| name.ends_with(UNFINISHED)) {
        fs::remove_file(engine.join(name))?;
    }
    Ok(())
}

/// Renames every snapshot so that the engine does not find it; whether there was any.
pub(crate) fn set_aside(engine: &Path) -> io::Result<bool> {
    let found = names(engine)?;
    for name in &found {
        tracing::warn!(
            file = name,
            "a snapshot of the engine may be damaged: set aside, its log is read whole"
        );
        fs::rename(engine.join(name), engine.join(format!("{DAMAGED}{name}")))?;
    }
    Ok(!found.is_empty())
}

/// Keeps the snapshots as they are until [`let_go`]. The engine must not be open.
pub(crate) fn keep(engine: &Path) -> io::Result<()> {
    let mut bytes = MAGIC.to_vec();
    let mut sized = |part: &[u8]| {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    };
    for name in names(engine)? {
        sized(name.as_bytes());
        sized(&fs::read(engine.join(&name))?);
    }
    copies::keep(&copy_of(engine), &copies::seal(bytes))
}

/// Puts back the snapshots that were kept and not let go of. The engine must not be open.
pub(crate) fn put_back(engine: &Path) -> io::Result<()> {
    let copy = copy_of(engine);
    let Some(kept) = decode(&copies::kept(&copy)?) else { return Ok(()) };
    for name in names(engine)? {
        fs::remove_file(engine.join(name))?;
    }
    for (name, bytes) in kept {
        let mut file = File::create(engine.join(name))?;
        file.write_all(&bytes)?;
        file.sync_all()?;
    }
    File::open(engine)?.sync_all()?;
    let_go(engine)
}

/// Lets go of what was kept, if anything was.
pub(crate) fn let_go(engine: &Path) -> io::Result<()> {
    copies::remove(&copy_of(engine))
}

fn copy_of(engine: &Path) -> PathBuf {
    engine.with_file_name(KEPT)
}

/// Names and bytes of the snapshots of a copy; nothing if it is not whole.
fn decode(copy: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut rest = copies::unseal(copy, MAGIC)?;
    let mut part = || {
        let (size, behind) = rest.split_first_chunk::<8>()?;
        let (part, behind) = behind.split_at_checked(usize::try_from(u64::from_be_bytes(*size)).ok()?)?;
        rest = behind;
        Some(part.to_vec())
    };
    let mut found = Vec::new();
    while let Some(name) = part() {
        found.push((String::from_utf8(name).ok()?, part()?));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and bytes of the snapshots.
    fn snapshots(engine: &Path) -> Vec<(String, String)> {
        let mut found = names(engine).unwrap();
        found.sort();
        let read = |name: String| (name.clone(), fs::read_to_string(engine.join(name)).unwrap());
        found.into_iter().map(read).collect()
    }

    /// What the engine does when it is opened.
    fn replace(engine: &Path) {
        for name in names(engine).unwrap() {
            fs::remove_file(engine.join(name)).unwrap();
        }
        fs::write(engine.join("snap.0002"), "new").unwrap();
    }

    #[test]
    fn snapshots_are_put_back_until_they_are_let_go() {
        for old in [vec![], vec![("snap.0001".to_owned(), "old".to_owned())]] {
            let folder = tempfile::tempdir().unwrap();
            let engine = folder.path().join("sled");
            fs::create_dir(&engine).unwrap();
            fs::write(engine.join("db"), "log").unwrap();
            for (name, text) in &old {
                fs::write(engine.join(name), text).unwrap();
            }
            keep(&engine).unwrap();
            replace(&engine);
            put_back(&engine).unwrap();
            assert_eq!(snapshots(&engine), old);
            // Nothing is put back twice, nor what a start that was cut off has not kept whole.
            replace(&engine);
            let new = snapshots(&engine);
            fs::write(copy_of(&engine).with_extension("new"), "cut off").unwrap();
            put_back(&engine).unwrap();
            assert_eq!(snapshots(&engine), new);

            keep(&engine).unwrap();
            fs::write(engine.join("snap.0003"), "newer").unwrap();
            let newer = snapshots(&engine);
            let_go(&engine).unwrap();
            put_back(&engine).unwrap();
            assert_eq!(snapshots(&engine), newer);
            fs::write(copy_of(&engine), "not whole").unwrap();
            put_back(&engine).unwrap();
            assert_eq!(snapshots(&engine), newer);
            let_go(&engine).unwrap();
            let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(left, ["sled"]);
        }
    }
}
