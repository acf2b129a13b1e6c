//! Whether the files hold what was acknowledged: asked before the engine opens them, and once more behind it.

use std::{fs::File, io, path::Path};

use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{Damage, StoreError};

use crate::{
    engine_log::{self, Place, SEGMENT_BYTES, Verdict},
    error,
    journal::Found,
    keys::{self, Position, Space},
    mark::{self, Mark},
    sums::{NOBODY, State},
    tail::{self, Segment},
    tear,
};

/// What is believed before a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// That the files hold what the mark says; it is checked.
    Marked,
    /// Nothing: what can be read is wanted all the same.
    Nothing,
}

/// What was found before the engine opened its files.
#[derive(Debug)]
pub(super) struct Checked {
    trust: Trust,
    mark: Option<Mark>,
    verdict: Verdict,
    /// Objects in the log, where that is not to be believed.
    pub(super) logged: Vec<(ObjectKind, ObjectId)>,
}

/// Looks at the files of the store in `folder`. Touches nothing.
pub(super) fn before(folder: &Path, engine: &Path, trust: Trust) -> Result<Checked, StoreError> {
    let failed =
        |error| StoreError::Open(format!("cannot look at the files in {}: {error}", folder.display()));
    let mark = mark::read(folder).map_err(failed)?;
    let mut verdict = match mark {
        Some(mark) if trust == Trust::Marked => engine_log::look(engine, mark).map_err(failed)?,
        _ => Verdict::Sound,
    };
    if verdict == Verdict::Sound && trust == Trust::Marked && tear::is_suspected(engine).map_err(failed)? {
        verdict = Verdict::Unsure(Vec::new());
    }
    if let Verdict::Damaged(place) = &verdict {
        return Err(damaged(engine, place, "nothing has been touched, "));
    }
    let logged = match trust {
        Trust::Marked => Vec::new(),
        Trust::Nothing => engine_log::objects(engine).map_err(failed)?.into_iter().collect(),
    };
    Ok(Checked { trust, mark, verdict, logged })
}

fn damaged(engine: &Path, Place { offset, detail }: &Place, untouched: &str) -> StoreError {
    let what = format!("{} at offset {offset}", engine.join("db").display());
    let advice = "`lochan-server repair` puts back what a backup holds";
    error::damaged(what, format!("{detail}; {untouched}{advice}"))
}

impl Checked {
    /// Takes the mark back from what the engine may overwrite when it opens; the next start is not to miss that.
    pub(super) fn take_back_mark(&mut self, folder: &Path, engine: &Path) -> io::Result<()> {
        let Some(mark) = self.mark.filter(|_| self.trust == Trust::Marked) else { return Ok(()) };
        let log = tail::content_synced(engine, mark.log)?;
        if log < mark.log {
            let mark = Mark { log, ..mark };
            mark::set(folder, mark)?;
            self.mark = Some(mark);
        }
        Ok(())
    }

    /// Whether the engine may be opened on a damaged log, which is found when the rows are counted.
    pub(super) fn may_be_damaged(&self) -> bool {
        self.trust == Trust::Marked && self.verdict != Verdict::Sound
    }

    /// Where in the main file the log looks odd.
    pub(super) fn odd_places(&self) -> Vec<u64> {
        match &self.verdict {
            Verdict::Unsure(odd) => odd.iter().map(|place| place.offset).collect(),
            _ => Vec::new(),
        }
    }

    /// The damage for which a store turned out to be none that can be opened: the place that looked odd, if there was one.
    pub(super) fn explain(&self, engine: &Path, error: StoreError) -> StoreError {
        let StoreError::Corrupt { what, .. } = &error else { return error };
        if what.contains(" at offset ") || self.trust == Trust::Nothing {
            return error;
        }
        let place = match &self.verdict {
            Verdict::Unsure(odd) if !odd.is_empty() => odd.first().cloned(),
            // What cannot be looked at again is told as it is.
            _ => self.mark.and_then(|mark| early_end(engine, mark).ok().flatten()),
        };
        place.map_or(error, |place| damaged(engine, &place, ""))
    }

    /// What was acknowledged and is not reached any more, in a store that was opened all the same. `last` is its last batch.
    pub(super) fn losses(&self, last: u64, found: &Found) -> Vec<Damage> {
        let acknowledged = self.mark.map_or(0, |mark| mark.batch);
        if self.trust == Trust::Marked {
            return Vec::new();
        }
        let mut missing = found.gaps.clone();
        if last < acknowledged {
            missing.push((last + 1, acknowledged));
        }
        let told = missing.into_iter().map(|(from, to)| Damage {
            what: "sled/db and the journal".into(),
            detail: format!("batches {from} to {to} were acknowledged and are not reached"),
        });
        told.collect()
    }

    /// What marked the records of the session before.
    pub(super) fn nonce(&self) -> Option<[u8; 16]> {
        self.mark.map(|mark| mark.nonce)
    }

    /// Compares the journal, read up to batch `last`, with the mark and with what stands behind.
    pub(super) fn journal(&self, last: u64, found: &Found) -> Result<(), StoreError> {
        let acknowledged = self.mark.map_or(0, |mark| mark.batch);
        // A batch was only written after the one before it was synced; but not in a store that leaves that to the system.
        let beyond = found.beyond.filter(|_| self.mark.is_none_or(|mark| mark != Mark::NOTHING));
        let known = acknowledged.max(beyond.unwrap_or(0));
        if self.trust == Trust::Nothing || last >= known {
            return Ok(());
        }
        let detail = format!(
            "it is valid up to batch {last}, but batches up to {known} were written; nothing has been written over, \
             `lochan-server repair` puts back what a backup holds"
        );
        Err(error::damaged(&found.end, detail))
    }

    /// Compares the rows with the mark. Returns what the store holds.
    pub(super) fn after(&self, tree: &sled::Tree, format: u32) -> Result<State, StoreError> {
        let row = match tree.get(keys::state()).map_err(error::read) {
            Err(_) if self.trust == Trust::Nothing => None,
            row => row?,
        };
        let state = row.map(|row| State::read(&row)).transpose().map_err(error::row("the state row"))?;
        let stored = self.mark.map_or(0, |mark| mark.stored);
        let batch = match state {
            Some(state) => state.batch,
            None if self.trust == Trust::Marked => 0,
            // What the journal holds up to there is older than the tree.
            None => stored.max(highest(tree)),
        };
        if self.trust == Trust::Marked && batch < stored {
            let detail = format!("it ends with batch {batch}, but batch {stored} was put there");
            return Err(error::damaged("sled/db", detail));
        }
        match state {
            Some(state) if format > 1 => {
                if matches!(self.verdict, Verdict::Unsure(_)) && self.trust == Trust::Marked {
                    tracing::warn!("the files look unusual: all rows are counted");
                    if let Some(damage) = state.audit(tree, NOBODY).into_iter().next() {
                        return Err(damage.into());
                    }
                }
                Ok(state)
            }
            None if format > 1 && self.trust == Trust::Marked => {
                Err(error::damaged("sled/db", "the row that counts all others is missing"))
            }
            // Of the format without sums: what is there is what counts.
            _ => match (State::count(tree, batch, NOBODY), self.trust) {
                (Ok(state), _) => Ok(state),
                (Err(_), Trust::Nothing) => Ok(State { batch, ..State::default() }),
                (Err(damage), Trust::Marked) => Err(damage.into_iter().next().map_or_else(
                    || error::damaged("sled/db", "its rows cannot be counted"),
                    StoreError::from,
                )),
            },
        }
    }
}

/// The first place of a segment filled before `mark` where its messages end early. Nothing is wrong with most such places, they
/// are being used anew; but where the engine cannot open its files, it is the first to be looked at.
fn early_end(engine: &Path, mark: Mark) -> io::Result<Option<Place>> {
    let file = File::open(engine.join("db"))?;
    let lowest = tail::begin(u64::try_from(engine_log::snapshot_end(engine)?).unwrap_or(0));
    let mut filled = tail::segments(&file)?;
    filled.retain(|segment| segment.position >= lowest);
    filled.sort_by_key(|segment| segment.position);
    for Segment { offset, position, .. } in filled {
        let end = engine_log::messages_until(&file, offset, position)?;
        let reached = position.saturating_add(end);
        if end < SEGMENT_BYTES as u64 && i64::try_from(reached).is_ok_and(|reached| reached <= mark.log) {
            let detail = format!("a message at log position {reached} does not fit its check sum");
            return Ok(Some(Place { offset: offset + end, detail }));
        }
    }
    Ok(None)
}

/// The highest batch from which a row can be read.
fn highest(tree: &sled::Tree) -> u64 {
    let last = |space: Space| {
        let start = keys::key(space, &[]);
        let (key, _) = tree.range(start.clone()..keys::end_of(&start)).next_back()?.ok()?;
        Position::from_bytes(keys::inside(&key).get(..keys::POSITION_BYTES)?)
    };
    let found = [Space::Object, Space::Chunk].map(|space| error::guarded(|| Ok(last(space))).ok().flatten());
    found.into_iter().flatten().map(|position| position.batch).max().unwrap_or(0)
}
