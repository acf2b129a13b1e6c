//! One opened engine, from its opening to its first failure.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{Damage, Reference, StoreError};
use uuid::Uuid;

use super::check::{self, Trust};
use crate::{
    config::CACHE_BYTES_MIN,
    error,
    folder::{self, FORMAT, Folder, Manifest},
    in_flight::InFlight,
    keys::{self, Position},
    mark::{Mark, MarkFile},
    positions::Positions,
    rows, snapshots,
    sums::{Rows, State},
    sync::Syncer,
    tail,
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
    pub(super) tree: sled::Tree,
    pub(super) db: sled::Db,
    pub(super) syncer: Arc<dyn Syncer>,
    /// What readers see instead of the tree while a batch is not synced yet.
    pub(super) in_flight: RwLock<InFlight>,
    /// Why writes are refused, once they are. The thread of positions may say so too.
    pub(super) trouble: Arc<Trouble>,
    pub(super) writer: Mutex<Writer>,
    pub(super) epoch: AtomicU32,
    /// The flush under way.
    pub(super) flushing: UnderWay,
    pub(super) is_deleting: AtomicBool,
    /// Folder of the engine's files.
    engine: PathBuf,
    /// What is known to be lost, in a damaged store that was opened all the same.
    pub(super) losses: Vec<Damage>,
}

/// How a session is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// Page cache of the engine, in bytes.
    pub cache_bytes: u64,
    /// What is believed of the files.
    pub trust: Trust,
    /// Whether what is acknowledged is durable, so that the mark may say so.
    pub is_durable: bool,
}

/// What only the batch under way may touch.
pub(crate) struct Writer {
    /// Number of the last batch.
    pub(super) batch: u64,
    /// What the store held after it.
    pub(super) state: State,
    /// Where that is noted outside of the engine; nowhere if nothing is known to be durable.
    mark: Option<MarkFile>,
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
    /// Looks at the files in `folder`, opens the engine there and syncs what it has written so far. Numbers of batches go
    /// on above `batch_min` at least.
    pub(super) fn open(
        folder: &Folder,
        how: How,
        syncer: Arc<dyn Syncer>,
        trouble: Arc<Trouble>,
        batch_min: u64,
    ) -> Result<Self, StoreError> {
        let engine = &folder.engine();
        // Before anything looks at the log, and before the engine overwrites parts of it.
        tail::guard(engine)
            .map_err(|error| StoreError::Open(format!("cannot keep the end of the log: {error}")))?;
        let checked = check::before(folder.path(), engine, how.trust)?;
        let db = open_engine(engine, how.cache_bytes)?;
        tail::release(engine)
            .map_err(|error| StoreError::Open(format!("cannot sync {}: {error}", engine.display())))?;
        db.flush().map_err(|error| failed("flush", &error))?;
        let (log, main_bytes) = reached(&db, engine);
        folder::sync_engine(engine)
            .map_err(|error| StoreError::Open(format!("cannot sync {}: {error}", engine.display())))?;
        let tree = sled::Tree::clone(&db);
        let state = error::guarded(|| checked.after(&tree, folder.manifest().format))?;
        let mark = MarkFile::open(folder.path())
            .map_err(|error| StoreError::Open(format!("cannot open the mark: {error}")))?;
        let mut writer = Writer { batch: 0, state, mark: Some(mark), scratch: Vec::new() };
        // A store that may lose what it acknowledged must not be held to it.
        let mark = Mark { batch: state.batch, log, main_bytes };
        writer.mark_synced(if how.is_durable { mark } else { Mark { batch: 0, log: -1, main_bytes: 0 } });
        if !how.is_durable {
            writer.mark = None;
        }
        let epoch = match error::guarded(|| tree.get(keys::epoch()).map_err(error::read))? {
            None => 0,
            Some(row) => rows::read_number(&row).map_err(error::row("the epoch"))?,
        };
        let epoch = u32::try_from(epoch).map_err(|_| error::damaged("the epoch", "it is out of range"))?;
        let (positions, batch) = error::guarded(|| Positions::open(tree.clone(), Arc::clone(&trouble)))?;
        writer.batch = batch.max(batch_min).max(state.batch);
        let mut session = Self {
            positions,
            tree,
            db,
            syncer,
            in_flight: RwLock::default(),
            trouble,
            writer: Mutex::new(writer),
            engine: engine.clone(),
            epoch: AtomicU32::new(epoch),
            flushing: UnderWay::default(),
            is_deleting: AtomicBool::new(false),
            losses: checked.losses(state),
        };
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

    /// How far the store is once everything handed to the system by now is synced.
    pub(super) fn reached(&self, batch: u64) -> Mark {
        let (log, main_bytes) = reached(&self.db, &self.engine);
        Mark { batch, log, main_bytes }
    }

    /// Makes a store of an older format one of this format.
    pub(super) fn upgrade(&self, folder: &Folder) -> Result<(), StoreError> {
        let manifest = folder.manifest();
        if manifest.format == FORMAT {
            return Ok(());
        }
        let mut writer = self.writer()?;
        writer.batch += 1;
        self.apply(&mut writer, Rows::default(), InFlight::default())?;
        drop(writer);
        tracing::info!(from = manifest.format, to = FORMAT, "the store has a newer format now");
        folder.set_manifest(Manifest { format: FORMAT, instance: Uuid::new_v4(), ..manifest })
    }

    pub(super) fn in_flight(&self) -> RwLockReadGuard<'_, InFlight> {
        // It is replaced as a whole, so a panic elsewhere cannot leave it half done.
        self.in_flight.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the next session must show. A batch that failed may be there or not.
    pub(super) fn promise(&self) -> Promise {
        let in_flight = self.in_flight();
        let moved = in_flight.moved.iter().filter(|(name, _)| !in_flight.references.contains_key(*name));
        let mut references: Vec<(RefName, Vec<Option<Reference>>)> =
            moved.map(|(name, state)| (name.clone(), vec![state.clone()])).collect();
        for (name, after) in &in_flight.after {
            let before = in_flight.references.get(name).and_then(|(before, _)| before.clone());
            references.push((name.clone(), vec![before, after.clone()]));
        }
        let deleting = self.is_deleting.load(Ordering::Acquire);
        let objects = if deleting { Vec::new() } else { self.positions.all_recent() };
        let batch = self.writer.lock().unwrap_or_else(PoisonError::into_inner).batch;
        Promise { references, objects, batch }
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

impl Writer {
    /// Notes how far the store is, which is durable by now. A mark that cannot be written costs strength and nothing else.
    pub(super) fn mark(&mut self, reached: Option<Mark>) {
        if let (Some(file), Some(mark)) = (&mut self.mark, reached)
            && let Err(error) = file.write(mark)
        {
            tracing::warn!(%error, "the mark cannot be written");
        }
    }

    fn mark_synced(&mut self, reached: Mark) {
        self.mark(Some(reached));
        if let Some(Err(error)) = self.mark.as_ref().map(MarkFile::sync) {
            tracing::warn!(%error, "the mark cannot be synced");
        }
    }
}

/// Last byte of the log that is handed to the system, and the length of the main file.
fn reached(db: &sled::Db, engine: &Path) -> (i64, u64) {
    // Before any sync that is to cover it: threads of the engine go on writing.
    let log = db.context.pagecache.log.stable_offset();
    (log, std::fs::metadata(engine.join("db")).map_or(0, |found| found.len()))
}

impl Drop for Session {
    fn drop(&mut self) {
        self.positions.close();
        if self.trouble.cause().is_some() {
            return;
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let flushed = self.db.flush().map_err(std::io::Error::other);
        let reached = self.reached(writer.state.batch);
        match flushed.and_then(|_| self.syncer.sync()) {
            Ok(()) => writer.mark_synced(reached),
            Err(error) => tracing::warn!(
                %error,
                "the store could not be synced at its end; only derived rows can be missing"
            ),
        }
    }
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
            Err(error) => return Err(failed("opening", &error)),
        }
    }
}

pub(super) fn failed(what: &str, error: &sled::Error) -> StoreError {
    StoreError::Open(format!("the engine failed at {what}: {error}"))
}
