//! Whether two references that share no commit have the empty state in common all the same.

use lochan_storage_model::{Micros, RefName};

use crate::{error::Error, state::Core};

/// Entries of a log read at once.
const PAGE_ENTRIES: usize = 256;
/// Entries of a log looked at; where the beginning lies further back, nothing is known about it.
const ENTRIES_MAX: usize = 10_000;

/// When a reference stood at the empty state before its present commits.
struct Empty {
    since: Micros,
    until: Micros,
}

/// Whether both references were empty at one time, or nothing says that they were not. Where one was put at the empty state
/// when the other had commits already, the two have nothing in common.
pub(super) async fn were_empty_together(core: &Core, one: &RefName, other: &RefName) -> Result<bool, Error> {
    let (Some(one), Some(other)) = (empty(core, one).await?, empty(core, other).await?) else {
        return Ok(true);
    };
    Ok(one.since.max(other.since) < one.until.min(other.until))
}

/// The last time a reference left the empty state; `None` where its log does not tell.
async fn empty(core: &Core, name: &RefName) -> Result<Option<Empty>, Error> {
    let (mut before, mut until, mut seen) = (None, None, 0);
    while seen < ENTRIES_MAX {
        let page = core.store.ref_log(name, before, PAGE_ENTRIES).await?;
        let Some(oldest) = page.last() else { return Ok(None) };
        before = Some(oldest.number);
        seen += page.len();
        for entry in &page {
            if let Some(until) = until {
                // The entry before the one that left the empty state is the one that put it there.
                return Ok(Some(Empty { since: entry.time, until }));
            }
            match (entry.old, entry.new) {
                (Some(old), Some(new)) if old.is_no_ancestor() && !new.is_no_ancestor() => {
                    until = Some(entry.time)
                }
                // Made where another reference had commits.
                (None, Some(_)) => return Ok(None),
                _ => {}
            }
        }
    }
    Ok(None)
}
