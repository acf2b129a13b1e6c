//! One opened engine, from its opening to its first failure.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{Damage, Reference, StoreError, WRITER_POINT};
use uuid::Uuid;

use super::{
    check::{self, Trust},
    replay,
    sink::{Drain, STOP_PAUSE, Sink},
    snapshotter::{self, Snapshotter},
};
use crate::{
    batch::Rows,
    bridge,
    config::CACHE_BYTES_MIN,
    engine::{Engine, Reached},
    error,
    folder::{self, FORMAT, Folder, Manifest},
    journal::{self, Journal, Known},
    keys::{self, Position},
    mark::{Mark, MarkFile, Marks},
    pending::Pending,
    positions::Positions,
    rows, snapshots,
    space::Space,
    sync::Syncer,
    table::Table,
    tail, tear,
    trouble::{Trouble, UnderWay},
};

/// Pause between the background flushes of sled, in milliseconds.
const FLUSH_EVERY_MS: u64 = 500;
/// Longest wait for the threads of a store closed a moment ago in this process to let go of their files.
const REOPEN_WAIT_MAX: Duration = Duration::from_secs(5);
/// Lost objects named.
const LOST_MAX: usize = 1_000;
const REOPEN_PAUSE: Duration = Duration::from_millis(5);

/// The engine, and everything that is known of what it holds. After a failure only reads are allowed, and they show what
/// was durable before it.
pub(crate) struct Session {
    pub(super) positions: Positions,
    pub(super) table: Table,
    pub(super) sink: Arc<Sink>,
    /// Why writes are refused, once they are. The threads of positions and of the sink may say so too.
    pub(super) trouble: Arc<Trouble>,
    pub(super) writer: Mutex<Writer>,
    pub(super) epoch: AtomicU32,
    pub(super) is_deleting: AtomicBool,
    /// What is known to be lost, in a damaged store that was opened all the same.
    pub(super) losses: Vec<Damage>,
    /// The write under way.
    pub(super) writing: UnderWay,
    /// Takes in what waits, unless the store is known to be damaged.
    pub(super) drain: Option<Drain>,
    /// Writes snapshots, unless the store is known to be damaged or its log is never synced.
    snapshotter: Option<Snapshotter>,
    /// Holds the lock as long as the engine is open; the last to go.
    _folder: Arc<Folder>,
}

/// How a session is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// Page cache of the engine, in bytes.
    pub cache_bytes: u64,
    /// Log between two of its snapshots, in bytes; 0 for none but those of starts.
    pub replay_bytes: u64,
    /// Free space that snapshots leave, in bytes.
    pub reserve_bytes: u64,
    /// What is believed of the files.
    pub trust: Trust,
    /// Whether what is acknowledged is durable, so that the mark may say so.
    pub is_durable: bool,
}

/// What only the batch under way may touch.
pub(crate) struct Writer {
    /// Number of the last batch.
    pub(super) batch: u64,
    pub(super) journal: Journal,
    /// Room for one row, used again and again.
    pub(super) scratch: Vec<u8>,
}

/// What an engine that is opened anew must show: everything acknowledged that is still known in memory.
pub(super) struct Promise {
    /// References, each with the states it may be in.
    references: Vec<(RefName, Vec<Option<Reference>>)>,
    objects: Vec<(ObjectId, Position)>,
    /// Number of the last batch, given out again to nobody.
    pub(super) batch: u64,
}

impl Session {
    /// Looks at the files in `folder`, opens the engine there and syncs what it has written so far. What stands in the
    /// journal alone is shown at once and taken in by and by. Numbers of batches go on above `batch_min` at least.
    pub(super) fn open(
        folder: &Arc<Folder>,
        how: How,
        syncer: Arc<dyn Syncer>,
        journal: &journal::Files,
        trouble: Arc<Trouble>,
        batch_min: u64,
    ) -> Result<Self, StoreError> {
        let path = folder.engine();
        snapshots::put_back(&path).map_err(|error| {
            StoreError::Open(format!("cannot put back the snapshots of the engine: {error}"))
        })?;
        // Before anything looks at the log, and before the engine overwrites parts of it.
        tail::guard(&path)
            .map_err(|error| StoreError::Open(format!("cannot keep the end of the log: {error}")))?;
        tracing::trace!(target: WRITER_POINT, "guarded");
        let mut checked = check::before(folder.path(), &path, how.trust)?;
        if checked.may_be_damaged() {
            tail::guard_also(&path, &checked.odd_places()).and_then(|()| snapshots::keep(&path)).map_err(
                |error| StoreError::Open(format!("cannot keep the snapshots of the engine: {error}")),
            )?;
        }
        checked
            .take_back_mark(folder.path(), &path)
            .map_err(|error| StoreError::Open(format!("cannot write the mark: {error}")))?;
        if how.trust == Trust::Nothing {
            bridge::cross(&path, || open_engine(&path, how.cache_bytes))
                .map_err(|error| StoreError::Open(format!("cannot pass over what is damaged: {error}")))?;
        }
        let db = open_engine(&path, how.cache_bytes).map_err(|error| checked.explain(&path, error))?;
        tracing::trace!(target: WRITER_POINT, "opened");
        db.flush().map_err(|error| failed("flush", &error))?;
        let engine = Arc::new(Engine::new(db, path.clone(), syncer));
        let reached = engine.reached();
        folder::sync_engine(&path)
            .map_err(|error| StoreError::Open(format!("cannot sync {}: {error}", path.display())))?;
        engine.is_synced(reached);
        let tree = engine.tree.clone();
        let state = error::guarded(|| checked.after(&tree, folder.manifest().format))
            .map_err(|error| checked.explain(&path, error))?;
        let known = Known {
            stored: state.batch,
            store: folder.store(),
            nonce: checked.nonce(),
            all: how.trust == Trust::Nothing,
        };
        let (journal, found) = Journal::open(journal, known)
            .map_err(|error| StoreError::Open(format!("cannot read the journal: {error}")))?;
        checked.journal(journal.last(), &found)?;
        // All that is read of the tree at open is read before what was torn out is let go and before the mark goes on: if
        // it cannot be read, the next try must find both.
        let missing = match error::guarded(|| Positions::find(&tree, state.batch)) {
            Err(_) if how.trust == Trust::Nothing => Positions::salvage(&tree, state.batch),
            found => found.map_err(|error| checked.explain(&path, error))?,
        };
        if how.trust == Trust::Marked {
            error::guarded(|| {
                replay::look(&tree, &found.records).and_then(|()| epoch_of(tree.get(keys::epoch())))
            })
            .map_err(|error| checked.explain(&path, error))?;
        }
        snapshots::let_go(&path)
            .map_err(|error| StoreError::Open(format!("cannot let go of snapshots: {error}")))?;
        tear::accept(&path)
            .map_err(|error| StoreError::Open(format!("cannot let go of a part of the log: {error}")))?;
        let mark = MarkFile::open(folder.path())
            .map_err(|error| StoreError::Open(format!("cannot open the mark: {error}")))?;
        let Reached { log, main_bytes } = reached;
        let first =
            Mark { batch: journal.last(), stored: state.batch, log, main_bytes, nonce: journal.nonce() };
        let marks = Marks::begin(mark, first, how.is_durable)
            .map_err(|error| StoreError::Open(format!("cannot write the mark: {error}")))?;
        engine.begin_marks(marks);
        tail::release(&path)
            .map_err(|error| StoreError::Open(format!("cannot sync {}: {error}", path.display())))?;
        tracing::trace!(target: WRITER_POINT, "released");
        let batch = missing.last_batch.max(batch_min).max(journal.last());
        let positions = Positions::open(Arc::clone(&engine), missing, Arc::clone(&trouble))?;
        let losses = checked.losses(journal.last(), &found);
        // In a damaged store that may fail, and then everything else would.
        let is_drained = how.trust == Trust::Marked;
        let pending = Arc::new(Pending::new(state.batch, is_drained, Arc::clone(&trouble)));
        let sink = Arc::new(Sink {
            engine,
            is_durable: how.is_durable,
            trouble: Arc::clone(&trouble),
            pending: Arc::clone(&pending),
            state: Mutex::new(state),
            taking_in: UnderWay::default(),
        });
        let mut session = Self {
            positions,
            table: Table { tree, pending },
            writing: UnderWay::default(),
            drain: None,
            snapshotter: None,
            sink,
            trouble,
            writer: Mutex::new(Writer { batch, journal, scratch: Vec::new() }),
            epoch: AtomicU32::new(0),
            is_deleting: AtomicBool::new(false),
            losses,
            _folder: Arc::clone(folder),
        };
        if is_drained {
            session.drain = Some(Drain::start(Arc::clone(&session.sink))?);
        }
        if is_drained && how.is_durable && how.replay_bytes > 0 {
            session.snapshotter = Snapshotter::start(snapshotter::Work {
                engine: Arc::clone(&session.sink.engine),
                trouble: Arc::clone(&session.trouble),
                space: Space::new(&path, how.reserve_bytes),
                folder: path,
                every: how.replay_bytes,
            });
        }
        session.replay(found.records)?;
        let epoch = match error::guarded(|| epoch_of(session.table.get(keys::epoch()))) {
            // Nothing will be deleted there.
            Err(_) if how.trust == Trust::Nothing => 0,
            found => found?,
        };
        session.epoch = AtomicU32::new(epoch);
        session.note_lost(&checked.logged);
        Ok(session)
    }

    /// Notes objects that stand in the log but are not reached.
    fn note_lost(&mut self, logged: &[(ObjectKind, ObjectId)]) {
        let is_lost = |id: ObjectId| matches!(error::guarded(|| self.locate(id)), Ok(None));
        let lost = logged.iter().filter(|(_, id)| is_lost(*id)).take(LOST_MAX);
        let lost: Vec<Damage> = lost
            .map(|(kind, id)| Damage {
                what: format!("{kind:?} {id}"),
                detail: "it lies in sled/db behind what is damaged and is not reached".into(),
            })
            .collect();
        self.losses.extend(lost);
    }

    /// Makes a store of an older format one of this format. Whether its folder has got an identity by that: then the session
    /// is to be opened anew.
    pub(super) fn upgrade(&self, folder: &Folder) -> Result<bool, StoreError> {
        let manifest = folder.manifest();
        if manifest.format == FORMAT {
            return Ok(false);
        }
        let mut writer = self.writer()?;
        self.maintain(&mut writer, Rows::default())?;
        drop(writer);
        tracing::info!(from = manifest.format, to = FORMAT, "the store has a newer format now");
        let is_nameless = manifest.instance.is_nil();
        let instance = if is_nameless { Uuid::new_v4() } else { manifest.instance };
        folder.set_manifest(Manifest { format: FORMAT, instance, ..manifest })?;
        Ok(is_nameless)
    }

    /// What the next session must show. A batch that failed may be there or not.
    pub(super) fn promise(&self) -> Promise {
        let deleting = self.is_deleting.load(Ordering::Acquire);
        let objects = if deleting { Vec::new() } else { self.positions.all_recent() };
        let batch = self.writer.lock().unwrap_or_else(PoisonError::into_inner).batch;
        Promise { references: self.table.pending.promised(), objects, batch }
    }

    /// Checks that what was promised is there; says what is not.
    pub(super) fn keeps(&self, promise: &Promise) -> Result<(), String> {
        for (name, allowed) in &promise.references {
            let found = self.stored_reference(name).map_err(|error| error.to_string())?;
            if !allowed.contains(&found) {
                return Err(format!("reference {name} is not where it was acknowledged to be"));
            }
        }
        for (id, position) in &promise.objects {
            if self.row_at(*position, *id).map_err(|error| error.to_string())?.is_none() {
                return Err(format!("the acknowledged object {id} is missing"));
            }
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(snapshotter) = &self.snapshotter {
            snapshotter.stop();
        }
        self.positions.stop();
        while !self.positions.has_stopped() {
            self.sink.engine.wake();
            std::thread::sleep(STOP_PAUSE);
        }
        self.positions.close();
        drop(self.drain.take());
        drop(self.snapshotter.take());
        if self.trouble.cause().is_some() {
            return;
        }
        if let Err(error) = self.sink.end() {
            let cause = error.text;
            tracing::warn!(
                cause,
                "the store could not be synced at its end; only derived rows can be missing"
            );
        }
    }
}

/// The epoch that a row says.
fn epoch_of(row: sled::Result<Option<sled::IVec>>) -> Result<u32, StoreError> {
    let row = row.map_err(error::read)?;
    let number = row.map_or(Ok(0), |row| rows::read_number(&row).map_err(error::row("the epoch")))?;
    u32::try_from(number).map_err(|_| error::damaged("the epoch", "it is out of range"))
}

pub(super) fn open_engine(path: &Path, cache_bytes: u64) -> Result<sled::Db, StoreError> {
    let config = sled::Config::new()
        .path(path)
        .mode(sled::Mode::HighThroughput)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .cache_capacity(cache_bytes.max(CACHE_BYTES_MIN));
    let untidy = |error: std::io::Error| StoreError::Open(format!("cannot tidy {}: {error}", path.display()));
    snapshots::drop_unfinished(path).map_err(untidy)?;
    let mut set_aside = false;
    let begun = Instant::now();
    loop {
        // sled asserts what damaged files do not keep to.
        let opened = catch_unwind(AssertUnwindSafe(|| config.open()));
        match opened.unwrap_or_else(|_| Err(sled::Error::Corruption { at: None, bt: () })) {
            Ok(db) => return Ok(db),
            // Once: a second time it is the log that is damaged.
            Err(sled::Error::Corruption { .. })
                if !std::mem::replace(&mut set_aside, true)
                    && snapshots::set_aside(path).map_err(untidy)? => {}
            // The threads of sled may outlive its handle by a moment. No other process can be meant: we hold the lock.
            Err(sled::Error::Io(error))
                if error.to_string().contains("could not acquire lock")
                    && begun.elapsed() < REOPEN_WAIT_MAX =>
            {
                std::thread::sleep(REOPEN_PAUSE);
            }
            Err(error @ sled::Error::Corruption { .. }) => {
                return Err(match error::read(error) {
                    StoreError::Corrupt { what, .. } => {
                        error::damaged(what, "the engine cannot open its files; they are not what it wrote")
                    }
                    other => other,
                });
            }
            Err(error @ sled::Error::Io(_)) => return Err(failed("opening", &error)),
            // It contradicts itself, which is what damaged files make of it.
            Err(error) => {
                return Err(error::damaged("sled/db", format!("the engine cannot open it: {error}")));
            }
        }
    }
}

pub(super) fn failed(what: &str, error: &sled::Error) -> StoreError {
    StoreError::Open(format!("the engine failed at {what}: {error}"))
}
