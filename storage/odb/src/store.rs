//! The traits.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};

use crate::{
    batch::{Batch, DerivedWrite, NewObject, Outcome},
    derived::DerivedSpace,
    error::{Damage, StoreError},
    point::{Identity, Load, Point},
    reference::{RefLogEntry, Reference},
};

/// Longest object, in bytes. Backends chunk what their engine cannot hold in one piece.
pub const OBJECT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest record value, in bytes.
pub const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Count of sweeps begun; a stored object remembers the epoch of its latest put.
pub type Epoch = u32;

/// A space of records. The byte is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordSpace {
    /// Configuration of the repository.
    Repository,
    /// Metadata of references: protection, owner, time to live.
    Reference,
    /// Settings with their change log.
    Setting,
    /// Leases of instances.
    Lease,
    /// Runs of merges and jobs.
    Run,
    /// Files about to be written.
    Intent,
    /// Places where long jobs go on.
    Cursor,
    /// The store's own secrets.
    Secret,
}

impl RecordSpace {
    /// All spaces.
    pub const ALL: [Self; 8] = [
        Self::Repository,
        Self::Reference,
        Self::Setting,
        Self::Lease,
        Self::Run,
        Self::Intent,
        Self::Cursor,
        Self::Secret,
    ];

    /// The byte on disk.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Repository => 1,
            Self::Reference => 2,
            Self::Setting => 3,
            Self::Lease => 4,
            Self::Run => 5,
            Self::Intent => 6,
            Self::Cursor => 7,
            Self::Secret => 8,
        }
    }
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Goes up by one with each change; never repeats for one key, not even after a delete.
    pub version: u64,
    /// Its bytes.
    pub value: Bytes,
}

/// Whether writes are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// They are.
    Allowed,
    /// They are refused, with the cause; reads go on.
    Refused(String),
    /// They are refused until there is more space, with the cause; reads go on.
    Full(String),
}

/// Immutable objects addressed by the hash of their content, references, records, the log of reference changes, and
/// derived tables.
///
/// **Order.** Batches are applied one after another; each sees everything before it. **Visibility.** A reader sees the
/// changes of a batch only once they are durable, all at once per reference and record, and an object at the latest when
/// a reference points at it. **Concurrency.** Every method may be called from any number of tasks; `commit` calls
/// queue up. **Failure.** A read that fails leaves nothing behind. See [`Store::commit`] for writes.
#[async_trait]
pub trait Store: Send + Sync {
    /// Bytes stored under `id` as `kind`, or `None`. Never returns bytes whose hash differs from `id`.
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError>;

    /// The reference called `name`, or `None`.
    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError>;

    /// At most `limit` references after `after` (exclusive), by name in byte order, both kinds mixed.
    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError>;

    /// The record, or `None`.
    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError>;

    /// At most `limit` records of a space after `after` (exclusive), by key.
    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError>;

    /// At most `limit` log entries of `name`, newest first, with numbers below `before` if given. A deleted reference
    /// keeps its log.
    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError>;

    /// Names that have a log, deleted ones included: at most `limit` after `after`, in byte order.
    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError>;

    /// The log entry written under this idempotency key, or `None`.
    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError>;

    /// A derived row, or `None`. May be missing after a crash.
    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError>;

    /// At most `limit` derived rows whose key starts with `prefix`, in key order or reversed; with `from`, only keys at
    /// or after it (at or before it when reversed).
    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError>;

    /// Writes derived rows outside any batch, each whole and in this order but without a sync: a crash may lose them from any of
    /// them on.
    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError>;

    /// Applies every change whose precondition holds, all of them or none through a power cut; durable on return.
    ///
    /// Changes are taken in order and each sees the ones before it. Those whose precondition fails are named in the
    /// outcome and left out whole. References and log are written once per name, however often a batch moves it.
    /// [`StoreError::Unknown`] means that the batch may or may not be found after a restart; every other error means
    /// that nothing of it was applied.
    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError>;

    /// Whether [`Store::commit`] would be tried.
    fn writes(&self) -> Writes;

    /// Returns with the cause once a write has been under way for so long that nobody shall wait for it any more: its
    /// outcome is unknown then, and later ones are refused. Never returns where every write comes back.
    async fn stalled(&self) -> String {
        std::future::pending().await
    }

    /// Why reads fail for now, if they do.
    fn unreadable(&self) -> Option<String> {
        None
    }
}

/// What a scan tells of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its id.
    pub id: ObjectId,
    /// Its kind.
    pub kind: ObjectKind,
    /// Number of its bytes.
    pub size: usize,
    /// Epoch of its latest put.
    pub epoch: Epoch,
}

/// A place of a scan, and the object there. An error stands for a stretch that cannot be read and for what is wrong.
pub type Scanned<T = ObjectInfo> = (Bytes, Result<T, StoreError>);

/// An object whose bytes hash to its id, shown to whoever looks at all of them.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Its kind.
    pub kind: ObjectKind,
    /// Its id.
    pub id: ObjectId,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// What is shown to whoever looks at a whole store.
#[derive(Debug, Clone)]
pub enum Seen<'a> {
    /// An object.
    Object(Shown<'a>),
    /// An entry of the log of a reference.
    Log(RefLogEntry),
    /// Entries may be missing here that cannot be read; what is wrong is told beside.
    LogIsCut,
}

/// Is shown what a part of a store holds, with an error in place of what is damaged.
pub type Look<'a> = Box<dyn FnMut(Result<Seen<'_>, StoreError>) + Send + 'a>;
/// Whoever looks at a whole store: is asked for each part of it, from several threads at once.
pub type Onlooker<'a> = dyn Fn() -> Look<'a> + Sync + 'a;

/// What a look at some objects has found.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// Token of the last of them; none at the end.
    pub last: Option<Bytes>,
    /// Number of objects that hash to their ids.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Damaged objects, and stretches that cannot be read.
    pub damaged: Vec<StoreError>,
}

impl Checked {
    /// Adds an object of so many bytes, or what is wrong with it.
    pub fn add(&mut self, size: Result<usize, StoreError>) {
        match size {
            Ok(size) => {
                self.objects += 1;
                self.bytes += size as u64;
            }
            Err(error) => self.damaged.push(error),
        }
    }
}

/// Shows that a part of the log cannot be read; anything but damage is handed back.
fn cut(look: &mut Look<'_>, error: StoreError) -> Result<(), StoreError> {
    if !error.is_damage() {
        return Err(error);
    }
    look(Err(error));
    look(Ok(Seen::LogIsCut));
    Ok(())
}

/// Rows, and bytes of objects, that [`Sweep::verify`] reads in one piece where the backend has no better way.
const VERIFIED_AT_ONCE: (usize, usize) = (1_000, 8 << 20);

/// Scanning, deleting, and taking and putting back the whole; handed only to maintenance.
#[async_trait]
pub trait Sweep: Store {
    /// The current epoch.
    async fn epoch(&self) -> Result<Epoch, StoreError>;

    /// Begins a sweep: durable on return; objects put from now on carry the new epoch.
    async fn begin_epoch(&self) -> Result<Epoch, StoreError>;

    /// At most `limit` stored objects after `after` (exclusive), in the order of the batches that first put them. The last one's
    /// token continues the scan, now or when more has been put; tokens of one instance compare as bytes. A stretch that
    /// cannot be read is one error in between.
    async fn scan_objects(&self, after: Option<Bytes>, limit: usize) -> Result<Vec<Scanned>, StoreError>;

    /// As [`Sweep::scan_objects`], with the bytes of the objects, which hash to their ids; what is damaged is an error that
    /// names it. Ends early once `bytes_max` bytes are read.
    async fn read_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Scanned<NewObject>>, StoreError>;

    /// Marks between tokens that split the objects into up to `parts` parts of similar size, for as many readers. None where
    /// one reader is as fast.
    async fn object_marks(&self, parts: usize) -> Result<Vec<Bytes>, StoreError> {
        let _ = parts;
        Ok(Vec::new())
    }

    /// As [`Sweep::read_objects`], for whoever wants to know that they are sound and does not want the bytes: behind a token,
    /// and up to a mark of [`Sweep::object_marks`] if there is one.
    async fn check_objects(
        &self,
        (after, until): (Option<Bytes>, Option<Bytes>),
        limit: usize,
        bytes_max: usize,
    ) -> Result<Checked, StoreError> {
        let mut checked = Checked::default();
        for (token, object) in self.read_objects(after, limit, bytes_max).await? {
            if until.as_ref().is_some_and(|until| token > *until) {
                break;
            }
            checked.last = Some(token);
            checked.add(object.map(|object| object.bytes.len()));
        }
        Ok(checked)
    }

    /// Deletes those objects whose latest put is older than `epoch`; returns how many. A put that races wins: an object
    /// put again in `epoch` or later stays.
    async fn delete_objects(&self, ids: &[(ObjectKind, ObjectId)], epoch: Epoch)
    -> Result<usize, StoreError>;

    /// Deletes log entries and request index rows older than `time`, but never the newest entry of a name; returns how
    /// many entries.
    async fn expire_ref_log(&self, time: i64) -> Result<usize, StoreError>;

    /// Which store this is.
    fn identity(&self) -> Identity;

    /// Everything mutable at one moment, and the token of the last object that was durable then. Batches wait meanwhile,
    /// for as long as it takes to read references and records.
    async fn point(&self) -> Result<(Point, Bytes), StoreError>;

    /// Everything mutable that can be read, log included, and what cannot: for a damaged store that nobody uses.
    async fn salvage(&self) -> Result<(Load, Vec<Damage>), StoreError>;

    /// Puts back rows of another store, durable on return. Only for a store that nobody else uses: readers may see a
    /// part.
    async fn load(&self, rows: Load) -> Result<(), StoreError>;

    /// Takes the identity of a repository that is put back here. For an empty store.
    async fn adopt(&self, repository: [u8; 16]) -> Result<(), StoreError>;

    /// Reads everything once, on as many threads as that is faster with: shows all objects and log entries to `onlooker`, in no
    /// order, though entries of one name mostly come one behind the other; and returns what the backend finds wrong with its
    /// own rows as a whole: what cannot be read, is there no more, or is not as it was last written. Only for a store that
    /// nobody writes to.
    async fn verify(&self, onlooker: &Onlooker<'_>) -> Result<Vec<Damage>, StoreError> {
        let (limit, bytes_max) = VERIFIED_AT_ONCE;
        let mut look = onlooker();
        let mut after = None;
        loop {
            let page = self.read_objects(after.take(), limit, bytes_max).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            for (_, object) in &page {
                look(match object {
                    Ok(NewObject { kind, id, bytes }) => {
                        Ok(Seen::Object(Shown { kind: *kind, id: *id, bytes }))
                    }
                    Err(error) => Err(error.clone()),
                });
            }
        }
        let mut after = None;
        loop {
            let names = match self.ref_log_names(after.as_ref(), limit).await {
                Ok(names) => names,
                Err(error) => {
                    cut(&mut look, error)?;
                    return Ok(Vec::new());
                }
            };
            let Some(last) = names.last() else { return Ok(Vec::new()) };
            after = Some(last.clone());
            for name in &names {
                let mut before = None;
                loop {
                    match self.ref_log(name, before, limit).await {
                        Ok(page) if page.is_empty() => break,
                        Ok(page) => {
                            before = page.last().map(|entry| entry.number);
                            page.into_iter().rev().for_each(|entry| look(Ok(Seen::Log(entry))));
                        }
                        Err(error) => {
                            cut(&mut look, error)?;
                            break;
                        }
                    }
                }
            }
        }
    }

    /// As [`Sweep::verify`], for whoever does not want to see anything: all that is wrong with the objects and entries, and with
    /// the rows as a whole.
    async fn audit(&self) -> Result<Vec<Damage>, StoreError> {
        let damaged = Mutex::new(Vec::new());
        let onlooker = || -> Look<'_> {
            Box::new(|seen| {
                if let Err(error) = seen {
                    damaged.lock().unwrap_or_else(PoisonError::into_inner).push(Damage::from(error));
                }
            })
        };
        let found = self.verify(&onlooker).await?;
        let mut all = damaged.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.extend(found);
        Ok(all)
    }
}
