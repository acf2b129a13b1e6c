//! Looking at everything at once, in a store at rest.

use std::sync::PoisonError;

use lochan_storage_model::RefName;
use lochan_storage_odb::{Damage, Look, Onlooker, RefLogEntry, Seen, StoreError};
use sled::IVec;

use super::{
    Session,
    read::{decode_log, ref_name},
    scan::each_of,
};
use crate::{
    error,
    keys::{self, Space},
    walk::{Step, Unreadable},
};

impl Session {
    pub(super) fn verify(&self, onlooker: &Onlooker<'_>) -> Vec<Damage> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = self.losses.clone();
        // The rows of a damaged store are counted as they are.
        if self.drain.is_some()
            && let Err(error) = self.table.pending.settle()
        {
            let detail = format!("it cannot be looked at whole: {error}");
            found.push(Damage { what: "the journal".into(), detail });
        }
        let state = *self.sink.state();
        let [objects, log] = [Space::Object, Space::RefLog].map(|space| {
            let start = keys::key(space, &[]);
            let end = keys::end_of(&start);
            (start, end)
        });
        // In a damaged store rows may wait for ever. Objects that do are shown beside those of the tree, but of a log entry only
        // what stands last.
        let log_waits = !self.table.pending.range(&log.0, &log.1).is_empty();
        found.extend(state.audit(&self.table.tree, &|| {
            let mut shown = Showing::new(self, onlooker());
            Box::new(move |row| shown.row(row, !log_waits))
        }));
        let mut shown = Showing::new(self, onlooker());
        for (key, row) in self.table.pending.range(&objects.0, &objects.1) {
            if let Some(row) = row {
                shown.objects(&key, &row);
            }
        }
        if log_waits {
            self.table.walk(log.0, log.1).for_each(|row| shown.row(&row, true));
        }
        drop(shown);
        drop(writer);
        found
    }
}

/// Rows on their way to an onlooker.
struct Showing<'s, 'a> {
    session: &'s Session,
    look: Look<'a>,
    /// Whose log was shown last.
    name: Option<RefName>,
    /// Whether rows behind the log have been met.
    is_behind_log: bool,
}

impl<'s, 'a> Showing<'s, 'a> {
    fn new(session: &'s Session, look: Look<'a>) -> Self {
        Self { session, look, name: None, is_behind_log: false }
    }

    /// Shows a row of the tree; with or without the log.
    fn row(&mut self, row: &Step, with_log: bool) {
        match row {
            Ok((key, row)) if keys::object_position(key).is_some() => self.objects(key, row),
            Ok((key, row)) if keys::is_in(key, Space::RefLog) => {
                if with_log {
                    self.log(key, row);
                }
            }
            Ok((key, _)) => self.is_behind_log |= keys::is_behind(key, Space::RefLog),
            // Whoever counts the rows tells what is wrong there.
            Err(Unreadable { last, .. }) => {
                if with_log && !self.is_behind_log && *last >= keys::key(Space::RefLog, &[]) {
                    (self.look)(Ok(Seen::LogIsCut));
                }
            }
        }
    }

    /// Shows the objects of a row.
    fn objects(&mut self, key: &IVec, row: &[u8]) {
        each_of(key, row, None, &mut |_, entry| {
            self.session.show(key, entry, |object| (self.look)(object.map(Seen::Object)));
            true
        });
    }

    /// Shows the log entries of a row.
    fn log(&mut self, key: &[u8], row: &[u8]) {
        match self.entries(key, row) {
            Ok(entries) => entries.into_iter().for_each(|entry| (self.look)(Ok(Seen::Log(entry)))),
            Err(error) => {
                (self.look)(Err(error));
                (self.look)(Ok(Seen::LogIsCut));
            }
        }
    }

    fn entries(&mut self, key: &[u8], row: &[u8]) -> Result<Vec<RefLogEntry>, StoreError> {
        let (name, _) = keys::split_ref_log(key).ok_or_else(|| error::damaged("a ref log row", "bad key"))?;
        let name = match self.name.take() {
            Some(last) if last.as_str() == name => last,
            _ => ref_name(name.as_bytes())?,
        };
        decode_log(self.name.insert(name), key, row)
    }
}
