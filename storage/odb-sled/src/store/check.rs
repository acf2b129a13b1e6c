//! Whether the files hold what was acknowledged: asked before the engine opens them, and once more behind it.

use std::path::Path;

use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{Damage, StoreError};

use crate::{
    engine_log::{self, Verdict},
    error, keys,
    mark::{self, Mark},
    sums::State,
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
    let verdict = match mark {
        Some(mark) if trust == Trust::Marked => engine_log::look(engine, mark).map_err(failed)?,
        _ => Verdict::Sound,
    };
    if let Verdict::Damaged { offset, detail } = &verdict {
        let what = format!("{} at offset {offset}", engine.join("db").display());
        let advice = "; nothing has been touched, `lochan-server repair` puts back what a backup holds";
        return Err(error::damaged(what, format!("{detail}{advice}")));
    }
    let logged = match trust {
        Trust::Marked => Vec::new(),
        Trust::Nothing => engine_log::objects(engine).map_err(failed)?.into_iter().collect(),
    };
    Ok(Checked { trust, mark, verdict, logged })
}

impl Checked {
    /// What was acknowledged and is not reached any more, in a store that was opened all the same. `last` is its last batch.
    pub(super) fn losses(&self, last: u64) -> Vec<Damage> {
        let acknowledged = self.mark.map_or(0, |mark| mark.batch);
        if self.trust == Trust::Marked || acknowledged <= last {
            return Vec::new();
        }
        let detail = format!("batches {} to {acknowledged} were acknowledged and are not reached", last + 1);
        vec![Damage { what: "sled/db".into(), detail }]
    }

    /// Compares the journal, read up to batch `last` and to the place `end`, with the mark.
    pub(super) fn journal(&self, last: u64, end: &str) -> Result<(), StoreError> {
        match self.mark {
            Some(mark) if self.trust == Trust::Marked && last < mark.batch => {
                let detail = format!(
                    "it is valid up to batch {last}, but batch {} was acknowledged; nothing has been touched, \
                     `lochan-server repair` puts back what a backup holds",
                    mark.batch
                );
                Err(error::damaged(end, detail))
            }
            _ => Ok(()),
        }
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
            None => stored,
        };
        if self.trust == Trust::Marked && batch < stored {
            let detail = format!("it ends with batch {batch}, but batch {stored} was put there");
            return Err(error::damaged("sled/db", detail));
        }
        match state {
            Some(state) if format > 1 => {
                if self.verdict == Verdict::Unsure && self.trust == Trust::Marked {
                    tracing::warn!("the files look unusual: all rows are counted");
                    if let Some(damage) = audit(tree, state).into_iter().next() {
                        return Err(damage.into());
                    }
                }
                Ok(state)
            }
            None if format > 1 && self.trust == Trust::Marked => {
                Err(error::damaged("sled/db", "the row that counts all others is missing"))
            }
            // Of the format without sums: what is there is what counts.
            _ => match (State::count(tree, batch), self.trust) {
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

/// Everything in which the rows are not what the state row says.
pub(super) fn audit(tree: &sled::Tree, state: State) -> Vec<Damage> {
    match State::count(tree, state.batch) {
        Ok(counted) => state.differences(&counted),
        Err(damage) => damage,
    }
}
