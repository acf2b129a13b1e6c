//! The logs of several references as one, newest change first.

use std::collections::{BinaryHeap, VecDeque};

use lochan_storage_model::{Micros, RefName};
use lochan_storage_odb::RefLogEntry;

use crate::{engine::Engine, error::Error};

/// Entries read at once from a log that has given some already.
const CHUNK_ENTRIES: usize = 64;

/// The place of an entry among all: by time, then by name and number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When the change was made.
    pub time: Micros,
    /// The reference.
    pub name: RefName,
    /// The entry's number.
    pub number: u64,
}

impl Place {
    /// The place of an entry.
    #[must_use]
    pub fn of(entry: &RefLogEntry) -> Self {
        Self { time: entry.time, name: entry.name.clone(), number: entry.number }
    }
}

/// Changes of references, newest first. Within a log the order is that of its numbers; between logs it is that of time.
pub struct Reflog {
    engine: Engine,
    /// The newest entry not given yet of each log.
    heads: BinaryHeap<(Place, usize)>,
    logs: Vec<VecDeque<RefLogEntry>>,
}

impl Reflog {
    /// The next older entry.
    pub async fn next(&mut self) -> Result<Option<RefLogEntry>, Error> {
        let Some((place, at)) = self.heads.pop() else { return Ok(None) };
        let Some(log) = self.logs.get_mut(at) else { return Ok(None) };
        let entry = log.pop_front();
        if log.is_empty() && place.number > 1 {
            log.extend(self.engine.ref_log(&place.name, Some(place.number), CHUNK_ENTRIES).await?);
        }
        if let Some(older) = log.front() {
            // A clock that was set back does not put an older entry of a log before a newer one.
            let time = older.time.min(place.time);
            self.heads.push((Place { time, ..Place::of(older) }, at));
        }
        Ok(entry)
    }
}

impl Engine {
    /// The changes of `names`, newest first, beginning with those before `before`, or else at or before `until`.
    pub async fn reflog(
        &self,
        names: Vec<RefName>,
        before: Option<&Place>,
        until: Option<Micros>,
    ) -> Result<Reflog, Error> {
        let mut heads = BinaryHeap::new();
        let mut logs = Vec::with_capacity(names.len());
        for name in names {
            let first = self.first_before(&name, before, until).await?;
            if let Some(entry) = &first {
                heads.push((Place::of(entry), logs.len()));
            }
            logs.push(first.into_iter().collect());
        }
        Ok(Reflog { engine: self.clone(), heads, logs })
    }

    /// The newest entry of a log that lies in the range, found by halves: times grow with numbers.
    async fn first_before(
        &self,
        name: &RefName,
        before: Option<&Place>,
        until: Option<Micros>,
    ) -> Result<Option<RefLogEntry>, Error> {
        let fits = |entry: &RefLogEntry| {
            until.is_none_or(|until| entry.time <= until)
                && before.is_none_or(|before| match entry.name == before.name {
                    true => entry.number < before.number,
                    false => Place::of(entry) < *before,
                })
        };
        let Some(newest) = self.ref_log(name, None, 1).await?.pop() else { return Ok(None) };
        if fits(&newest) {
            return Ok(Some(newest));
        }
        // Everything below `low` fits, nothing from `high` on does.
        let (mut low, mut high) = (0, newest.number);
        let mut found = None;
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            match self.ref_log(name, Some(middle + 1), 1).await?.pop() {
                Some(entry) if entry.number == middle && fits(&entry) => {
                    low = middle;
                    found = Some(entry);
                }
                Some(entry) if entry.number == middle => high = middle,
                // Entries below were let go of.
                _ => low = middle,
            }
        }
        Ok(found)
    }
}
