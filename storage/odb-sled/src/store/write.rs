//! The one write.

use std::{
    collections::{HashMap, HashSet},
    sync::{MutexGuard, PoisonError, TryLockError, atomic::Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{
    Batch, DerivedWrite, NewObject, Outcome, Record, RecordSpace, Reference, StoreError, WRITER_POINT,
    stage::{Durable, Staged, StagedRecord, StagedReference, check_derived_bounds, stage},
};

use super::{Session, Writer, read::find};
use crate::{
    batch::{self, Rows},
    chunks, error,
    keys::{self, Position},
    objects::{self, ObjectHeader, Pack},
    pending::{self, Move},
    rows::{self, RecordValue},
    trouble::Cause,
};

impl Session {
    pub(super) fn write_batch(&self, batch: Batch) -> Result<Outcome, StoreError> {
        let mut writer = self.writer()?;
        self.positions.wait_for_room()?;
        let mut staged = stage(batch, self)?;
        let outcome = std::mem::take(&mut staged.outcome);
        if staged.is_empty() {
            return Ok(outcome);
        }
        let moves = pending::moves(&staged);
        let Staged { objects, references, records, derived, .. } = staged;
        let Writer { batch, scratch, .. } = &mut *writer;
        *batch += 1;
        let mut places = Places { batch: *batch, next: 0 };
        let mut rows = Rows::default();
        let placed = self.add_objects(objects, &mut places, scratch, &mut rows)?;
        for (name, reference) in &references {
            add_reference(name, reference, &mut rows);
        }
        for ((space, key), record) in &records {
            self.add_record(*space, key, record, &mut places, &mut rows)?;
        }
        self.add_derived(&derived, scratch, &mut rows)?;
        self.apply(&mut writer, rows, moves, placed)?;
        Ok(outcome)
    }

    pub(super) fn write_derived(&self, derived: &[DerivedWrite]) -> Result<(), StoreError> {
        check_derived_bounds(derived)?;
        self.trouble.check()?;
        self.table.pending.settle_derived()?;
        let mut rows = Rows::default();
        self.add_derived(derived, &mut Vec::new(), &mut rows)?;
        let mut is_damaged = false;
        self.trouble.attempt(|| {
            for piece in batch::pieces(rows.iter().collect()) {
                let _room = self.sink.engine.room(piece.cost())?;
                match self.table.tree.apply_batch(piece.batch()) {
                    Err(sled::Error::Corruption { .. }) => {
                        is_damaged = true;
                        break;
                    }
                    written => written.map_err(|error| Cause::engine("write failed", &error))?,
                }
            }
            Ok(())
        })?;
        if is_damaged && let [first, rest @ ..] = derived {
            // Into a damaged page nothing can be written. Rows that are lost are made anew, so only those are left out.
            if rest.is_empty() {
                tracing::warn!(space = ?first.space, "a derived row lies in a damaged page and is left out");
                return Ok(());
            }
            let (left, right) = derived.split_at(derived.len() / 2);
            self.write_derived(left)?;
            self.write_derived(right)?;
        }
        Ok(())
    }

    /// The right to write, one at a time.
    pub(super) fn writer(&self) -> Result<MutexGuard<'_, Writer>, StoreError> {
        // The write before it may not come back.
        self.trouble.check()?;
        // What a panic may leave behind is a number not used and a row not whole in `scratch`; both are overwritten.
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.trouble.check()?;
        Ok(writer)
    }

    /// The right to write, with everything acknowledged in the tree.
    pub(super) fn settled_writer(&self) -> Result<MutexGuard<'_, Writer>, StoreError> {
        let writer = self.writer()?;
        self.table.pending.settle()?;
        Ok(writer)
    }

    /// Makes rows durable as the batch of the writer's number, and shows them: the objects `placed` in them, the
    /// references that they move.
    pub(super) fn apply(
        &self,
        writer: &mut Writer,
        rows: Rows,
        moves: Vec<Move>,
        placed: Vec<(ObjectId, Position)>,
    ) -> Result<(), StoreError> {
        let Writer { batch, journal, .. } = writer;
        let pending = &self.table.pending;
        pending.wait_for_room()?;
        // What is acknowledged must enter the engine some day: not into a page that cannot be read.
        error::guarded(|| {
            rows.iter().try_for_each(|row| self.table.tree.get(&row.key).map(drop).map_err(error::read))
        })?;
        pending.begin(moves);
        self.writing.begin();
        let written = self.trouble.attempt(|| {
            let file = journal
                .append(*batch, &rows, pending.stored())
                .map_err(|error| Cause::system("write failed", &error))?;
            tracing::trace!(target: WRITER_POINT, "journaled");
            self.sink.engine.syncer.sync_journal(file).map_err(|error| Cause::system("sync failed", &error))
        });
        self.writing.end();
        written?;
        tracing::trace!(target: WRITER_POINT, "journal synced");
        self.sink.acknowledge(*batch);
        // Before the references, which lead to the objects.
        self.positions.add(*batch, placed);
        pending.publish(*batch, rows);
        Ok(())
    }

    /// Writes rows as a batch of their own, into the tree and all.
    pub(super) fn maintain(&self, writer: &mut Writer, rows: Rows) -> Result<(), StoreError> {
        writer.batch += 1;
        self.apply(writer, rows, Vec::new(), Vec::new())?;
        // It is in the journal, and will be in the engine.
        self.table.pending.settle().map_err(|error| StoreError::Unknown(error.to_string()))
    }

    /// Whether it has failed: the threads of the engine fail by themselves, too, and then even reads may.
    pub(super) fn has_failed(&self) -> bool {
        if let Some(error) = self.sink.engine.wake()
            // No other session would read a damaged page better.
            && !matches!(error, sled::Error::Corruption { .. })
        {
            self.trouble.tell(Cause::engine("the engine failed", &error));
        }
        self.trouble.cause().is_some()
    }

    /// Whether a write has been under way for longer than `time`, counted from `awake` on at the earliest.
    pub(super) fn is_stuck(&self, time: Duration, awake: Instant) -> bool {
        [&self.writing, &self.sink.taking_in].into_iter().any(|write| write.lasts_longer(time, awake))
    }

    /// Whether no write is under way any more, waiting for that no longer than `within`.
    pub(super) fn is_left_by_writers(&self, within: Duration, pause: Duration) -> bool {
        let begun = Instant::now();
        let is_writing = || matches!(self.writer.try_lock(), Err(TryLockError::WouldBlock));
        while is_writing() || self.sink.taking_in.lasts() {
            if begun.elapsed() > within {
                return false;
            }
            self.sink.engine.wake();
            std::thread::sleep(pause);
        }
        true
    }

    fn add_objects(
        &self,
        objects: Vec<NewObject>,
        places: &mut Places,
        scratch: &mut Vec<u8>,
        rows: &mut Rows,
    ) -> Result<Vec<(ObjectId, Position)>, StoreError> {
        let epoch = self.epoch.load(Ordering::Acquire);
        let mut placed = Vec::with_capacity(objects.len());
        let mut seen = HashSet::with_capacity(objects.len());
        let mut renewed: HashMap<Position, Vec<u8>> = HashMap::new();
        let mut pack = OpenPack::default();
        for NewObject { kind, id, bytes } in objects {
            if !seen.insert(id) {
                continue;
            }
            // A commit has its own time and never comes twice but in a repetition; the others repeat every day.
            let known = match kind {
                ObjectKind::Commit => self.locate_recent(id)?,
                _ => self.locate(id)?,
            };
            if let Some((position, row)) = known {
                if find(&row, id)?.is_some_and(|entry| entry.header.epoch != epoch) {
                    // Its neighbours in the row may be renewed by the same batch.
                    let row = renewed.entry(position).or_insert_with(|| row.to_vec());
                    objects::renew(row, id, epoch).map_err(error::row(format!("object {id}")))?;
                }
                continue;
            }
            let header = ObjectHeader { kind, epoch, id, size: bytes.len() };
            let position = if header.is_packed() {
                pack.push(&header, &bytes, places, rows)
            } else {
                add_alone(&header, &bytes, places, scratch, rows)
            };
            placed.push((id, position));
        }
        pack.write(rows);
        for (position, row) in renewed {
            rows.insert(keys::object(position), row);
        }
        Ok(placed)
    }

    fn add_record(
        &self,
        space: RecordSpace,
        key: &[u8],
        record: &StagedRecord,
        places: &mut Places,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if !record.changed() {
            return Ok(());
        }
        let row_key = keys::record(space, key);
        if let Some(old) = &record.before
            && rows::chunks(old.value.len()) > 0
            && let Some(row) = self.table.get(&row_key).map_err(error::read)?
            && let (_, RecordValue::Chunked { at, size }) =
                rows::read_record(&row).map_err(error::row("a record"))?
        {
            chunks::remove(at, size, rows);
        }
        match &record.after {
            Some(Record { version, value }) => {
                let row = record_row(*version, value, places, rows);
                rows.insert(row_key, row);
                if record.before.is_none() && record.version_before > 0 {
                    rows.remove(keys::record_version(space, key));
                }
            }
            None => {
                if record.before.is_some() {
                    rows.remove(row_key);
                }
                rows.insert(keys::record_version(space, key), rows::write_number(record.version));
            }
        }
        Ok(())
    }

    fn add_derived(
        &self,
        derived: &[DerivedWrite],
        scratch: &mut Vec<u8>,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        for DerivedWrite { space, key, value } in derived {
            match value {
                Some(value) => chunks::write_derived(*space, key, value, scratch, rows),
                None => chunks::remove_derived(&self.table, *space, key, rows)?,
            }
        }
        Ok(())
    }
}

/// Writes an object in a row of its own. Returns where it stands.
pub(super) fn add_alone(
    header: &ObjectHeader,
    bytes: &[u8],
    places: &mut Places,
    scratch: &mut Vec<u8>,
    rows: &mut Rows,
) -> Position {
    let position = places.take();
    header.write(bytes, scratch);
    rows.insert_new(keys::object(position), scratch.as_slice());
    if rows::chunks(bytes.len()) > 0 {
        chunks::write(position, bytes, rows);
    }
    position
}

/// The row of a record; chunks of its value are written.
pub(super) fn record_row(version: u64, value: &Bytes, places: &mut Places, rows: &mut Rows) -> Vec<u8> {
    let kept = if rows::chunks(value.len()) == 0 {
        RecordValue::Here(value.clone())
    } else {
        let at = places.take();
        chunks::write(at, value, rows);
        RecordValue::Chunked { at, size: value.len() }
    };
    rows::write_record(version, &kept)
}

fn add_reference(name: &RefName, reference: &StagedReference, rows: &mut Rows) {
    if reference.entries.is_empty() {
        return;
    }
    match &reference.after {
        Some(after) => {
            rows.insert(keys::reference(name), after.encode());
            if reference.before.is_none() && reference.number_before > 0 {
                rows.remove(keys::ref_number(name));
            }
        }
        None => {
            if reference.before.is_some() {
                rows.remove(keys::reference(name));
            }
            rows.insert(keys::ref_number(name), rows::write_number(reference.number()));
        }
    }
    for (first, row) in rows::write_log(&reference.entries) {
        rows.insert_new(keys::ref_log(name, first), row);
    }
    for entry in &reference.entries {
        if let Some(request) = &entry.request {
            rows.insert(keys::request(&request.key), rows::write_request(name, entry.number));
        }
    }
}

/// The pack that takes the next small commits, and its place.
#[derive(Default)]
struct OpenPack {
    pack: Pack,
    at: Option<Position>,
}

impl OpenPack {
    /// Appends an object, in a new pack if this one is full. Returns where it stands.
    fn push(
        &mut self,
        header: &ObjectHeader,
        bytes: &[u8],
        places: &mut Places,
        rows: &mut Rows,
    ) -> Position {
        if !self.pack.has_room(header) {
            self.write(rows);
        }
        self.pack.push(header, bytes);
        *self.at.get_or_insert_with(|| places.take())
    }

    /// Writes what is in it and empties it.
    fn write(&mut self, rows: &mut Rows) {
        if let Some(at) = self.at.take() {
            rows.insert_new(keys::object(at), self.pack.row());
            self.pack.clear();
        }
    }
}

/// Places of the batch under way.
pub(super) struct Places {
    pub batch: u64,
    pub next: u32,
}

impl Places {
    pub(super) fn take(&mut self) -> Position {
        let place = self.next;
        self.next += 1;
        Position { batch: self.batch, place }
    }
}

/// The rows as they stand. Only the batch that holds the writer asks, and between batches nothing is under way.
impl Durable for Session {
    fn reference(&self, name: &RefName) -> Result<(Option<Reference>, u64), StoreError> {
        if let Some(reference) = self.stored_reference(name)? {
            let number = reference.number;
            return Ok((Some(reference), number));
        }
        Ok((None, self.stored_number(&keys::ref_number(name))?))
    }

    fn record(&self, space: RecordSpace, key: &[u8]) -> Result<(Option<Record>, u64), StoreError> {
        if let Some(record) = self.stored_record(space, key)? {
            let version = record.version;
            return Ok((Some(record), version));
        }
        Ok((None, self.stored_number(&keys::record_version(space, key))?))
    }
}

impl Session {
    fn stored_number(&self, key: &[u8]) -> Result<u64, StoreError> {
        match self.table.get(key).map_err(error::read)? {
            None => Ok(0),
            Some(row) => rows::read_number(&row).map_err(error::row("a kept number")),
        }
    }
}
