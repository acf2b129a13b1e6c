//! Putting a reference back to a state that its log remembers. Nothing is taken from the log: the way back is a change like
//! any other, and can be undone in turn.

#[cfg(test)]
mod tests;

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{ExpectedReference, RefKind, RefLogEntry, RefOperation, Reference};

use crate::{engine::Engine, error::Error, writer::Who};

/// One of the two states that a log entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before the change.
    Old,
    /// After it.
    New,
}

/// A way back that was looked up and not gone yet.
#[derive(Debug, Clone)]
pub struct Restoration {
    /// The newest log entry: what is to be left.
    pub current: RefLogEntry,
    /// What is to be reached; `None` for "does not exist".
    pub wanted: Option<(RefKind, CommitId)>,
}

/// What became of it.
#[derive(Debug, Clone)]
pub struct Restored {
    /// Whether anything was changed.
    pub changed: bool,
    /// The reference as it is; `None` when it does not exist.
    pub reference: Option<Reference>,
    /// The newest log entry.
    pub entry: RefLogEntry,
}

impl Restoration {
    /// The reference as the newest log entry has it.
    #[must_use]
    pub fn now(&self) -> Option<(RefKind, CommitId)> {
        self.current.new.map(|target| (self.current.kind, target))
    }

    /// What the restoration comes to; `None` when the reference is there already.
    #[must_use]
    pub fn comes_to(&self) -> Option<Deed> {
        match (self.now(), self.wanted) {
            (now, wanted) if now == wanted => None,
            (_, None) => Some(Deed::Delete),
            (None, Some(_)) => Some(Deed::Create),
            (Some(_), Some(_)) => Some(Deed::Move),
        }
    }
}

/// What a restoration does to a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It comes back.
    Create,
    /// It is set elsewhere.
    Move,
    /// It goes away.
    Delete,
}

impl Engine {
    /// Looks up the way back to one side of a log entry. Fails with [`Error::ReferenceNotFound`] for a name without a log,
    /// [`Error::NoLogEntry`], [`Error::LogMoved`] when the newest entry is not `expected`, [`Error::OtherKind`] when the
    /// reference has changed its type, and [`Error::CommitNotFound`] when the commit is gone.
    pub async fn find_restoration(
        &self,
        name: &RefName,
        entry: u64,
        side: Side,
        expected: u64,
    ) -> Result<Restoration, Error> {
        let newest = self.ref_log(name, None, 1).await?.pop();
        let current = newest.ok_or_else(|| Error::ReferenceNotFound(name.to_string()))?;
        if current.number != expected {
            return Err(Error::LogMoved { expected, found: Box::new(current) });
        }
        let found = self.log_entry(name, entry).await?;
        let wanted = match (side, found.old, found.new) {
            (Side::New, _, new) => new.map(|target| (found.kind, target)),
            (Side::Old, None, _) => None,
            // The entry tells the type after the change, or before a delete; only a change of type in between, which no
            // operation makes, could differ.
            (Side::Old, Some(old), _) => Some((found.kind, old)),
        };
        let restoration = Restoration { current, wanted };
        if let (Some((now, _)), Some((then, target))) = (restoration.now(), wanted) {
            if now != then {
                return Err(Error::OtherKind(name.clone()));
            }
            self.must_exist(target).await?;
        } else if let Some((_, target)) = wanted {
            self.must_exist(target).await?;
        }
        Ok(restoration)
    }

    /// Goes the way back, if the reference is still where it was looked up. Fails with [`Error::LogMoved`] otherwise.
    pub async fn restore_reference(&self, way: Restoration, who: Who) -> Result<Restored, Error> {
        let name = way.current.name.clone();
        if way.comes_to().is_some() {
            let before = way
                .now()
                .map_or(ExpectedReference::Absent, |(kind, target)| ExpectedReference::At(kind, target));
            let admission = who.admission.clone();
            let change = self.change(&name, before, way.wanted, RefOperation::Restore, who);
            match self.change_references(&admission, vec![change], Vec::new(), Vec::new(), Vec::new()).await {
                Ok(()) => {}
                Err(Error::ReferenceMoved(_) | Error::ReferenceNotFound(_)) => {
                    let found = self.ref_log(&name, None, 1).await?.pop().unwrap_or(way.current.clone());
                    return Err(Error::LogMoved { expected: way.current.number, found: Box::new(found) });
                }
                Err(error) => return Err(error),
            }
        }
        // Later changes may have landed already; the entry of this one is the first behind the one left.
        let changed = way.comes_to().is_some();
        let number = way.current.number + u64::from(changed);
        let entry = self.log_entry(&name, number).await?;
        let reference = way.wanted.map(|(kind, target)| Reference { name, kind, target, number });
        Ok(Restored { changed, reference, entry })
    }

    /// The entry of a number, or [`Error::NoLogEntry`].
    pub async fn log_entry(&self, name: &RefName, number: u64) -> Result<RefLogEntry, Error> {
        let missing = || Error::NoLogEntry { name: name.clone(), number };
        let before = number.checked_add(1).ok_or_else(missing)?;
        let found = self.ref_log(name, Some(before), 1).await?.pop();
        found.filter(|entry| entry.number == number).ok_or_else(missing)
    }
}
