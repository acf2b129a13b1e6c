//! The snapshot files of sled: a summary of its log that makes opening quick. The log alone is the truth, as long as its
//! last segments are whole, which `tail` sees to.
//!
//! sled 0.34.7 writes a new one beside the old as `snap.<position>.generating` and renames it, but opens that file without
//! emptying it: what a start that was killed has left there stays behind a shorter one, whose checksum then stands in the
//! wrong place, and no start succeeds any more. So leftovers are removed before each open, and a snapshot that turns out
//! to be damaged is set aside once, which makes the engine read its whole log.

use std::{fs, io, path::Path};

const SNAPSHOT: &str = "snap.";
const UNFINISHED: &str = ".generating";
/// What a damaged snapshot is called, behind its old name.
const DAMAGED: &str = "damaged-";

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
