//! Taking a backup of a store that goes on being written to.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use lochan_storage_model::{Clock, Micros, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{Identity, NewObject, Point, Sweep};

use super::{
    Error, MANIFEST, Manifest, UNFINISHED, Vault,
    files::{Pack, Rows},
    manifest::Named,
    read,
};
use crate::pace::Pace;

/// Rows of one file.
const ROWS_MAX: usize = 20_000;
/// Objects read in one piece, and their bytes: short, since commits may wait for the same core or the same pages.
const PAGE: usize = 128;
const PAGE_BYTES: usize = 64 << 10;
/// Log entries read in one piece.
const LOG_PAGE: usize = 256;

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taken {
    /// Objects copied; those of earlier runs are there already.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// References at the point that was taken.
    pub references: u64,
    /// Log entries.
    pub log_entries: u64,
    /// Records.
    pub records: u64,
}

/// Takes a backup: everything as it was at one moment, between two batches. Writes go on; `pace` is what the disk of the
/// store is read with at most. `told` is called now and then. The same as [`begin`] and [`Begun::copy`].
pub async fn take(
    store: &Arc<dyn Sweep>,
    vault: &dyn Vault,
    clock: &dyn Clock,
    pace: &mut Pace,
    told: &mut (dyn FnMut(&Taken) + Send),
) -> Result<Taken, Error> {
    begin(store, vault, clock).await?.copy(vault, pace, told).await
}

/// A backup whose moment is fixed, and nothing copied yet.
pub struct Begun {
    store: Arc<dyn Sweep>,
    identity: Identity,
    before: Option<Manifest>,
    point: Point,
    end: Bytes,
    at: Micros,
}

/// Begins a backup: fixes its moment. Batches wait while what is mutable is read, so this is not for a thread that has to
/// wait for others.
///
/// Where an earlier backup of this store is, only objects are copied that it does not hold. A run that fails leaves the
/// earlier one as it was. A damaged object ends the run with an error that names it: what cannot be read cannot be kept.
pub async fn begin(store: &Arc<dyn Sweep>, vault: &dyn Vault, clock: &dyn Clock) -> Result<Begun, Error> {
    let identity = store.identity();
    let before = match super::manifest(vault).await {
        Ok(before) => Some(before),
        Err(Error::NoBackup(_)) => None,
        Err(error) => return Err(error),
    };
    if let Some(before) = &before
        && before.identity.repository != identity.repository
    {
        let (expected, found) = (super::hex(&identity.repository), super::hex(&before.identity.repository));
        return Err(Error::OtherRepository { expected, found });
    }
    let at = clock.now();
    let text = format!("begun at {at} microseconds since 1970\n");
    vault.write(UNFINISHED, text.into()).await?;
    // What is mutable comes first: whatever it points at was durable by then.
    let (point, end) = store.point().await?;
    Ok(Begun { store: store.clone(), identity, before, point, end, at })
}

impl Begun {
    /// Copies what was there at that moment.
    pub async fn copy(
        self,
        vault: &dyn Vault,
        pace: &mut Pace,
        told: &mut (dyn FnMut(&Taken) + Send),
    ) -> Result<Taken, Error> {
        let Self { store, identity, before, point, end, at } = self;
        let mut run = Run { store: &store, vault, pace, told, taken: Taken::default() };
        let (mut packs, after, known) = match before {
            None => (Vec::new(), None, HashSet::new()),
            // Tokens mean something in the same instance only.
            Some(before) if before.identity == identity => (before.packs, Some(before.end), HashSet::new()),
            Some(before) => {
                let known = read::ids(vault, &before).await?;
                (before.packs, None, known)
            }
        };
        packs.extend(run.objects(after, &end, &known).await?);
        let rows = run.rows(&point).await?;
        let taken = run.taken;
        let manifest = Manifest { identity, end, taken: at, packs, rows };
        vault.write(MANIFEST, manifest.write()).await?;
        vault.delete(UNFINISHED).await?;
        Ok(taken)
    }
}

struct Run<'a> {
    store: &'a Arc<dyn Sweep>,
    vault: &'a dyn Vault,
    pace: &'a mut Pace,
    told: &'a mut (dyn FnMut(&Taken) + Send),
    taken: Taken,
}

impl Run<'_> {
    /// Copies objects behind a token and up to another one.
    async fn objects(
        &mut self,
        mut after: Option<Bytes>,
        end: &Bytes,
        known: &HashSet<(ObjectKind, ObjectId)>,
    ) -> Result<Vec<Named>, Error> {
        let mut packs = Vec::new();
        let mut pack = Pack::new();
        loop {
            let page = self.store.read_objects(after.take(), PAGE, PAGE_BYTES).await?;
            let last = page.last().map(|(token, _)| token.clone());
            let mut read = 0;
            for (token, object) in page {
                if token > *end {
                    break;
                }
                let object: NewObject = object?;
                read += object.bytes.len();
                if known.contains(&(object.kind, object.id)) {
                    continue;
                }
                self.taken.objects += 1;
                self.taken.bytes += object.bytes.len() as u64;
                pack.add(&object);
                if pack.is_full() {
                    let full = std::mem::replace(&mut pack, Pack::new());
                    packs.push(self.keep("packs", full.finish()).await?);
                    (self.told)(&self.taken);
                }
            }
            self.pace.spend(read).await;
            match last {
                Some(token) if token <= *end => after = Some(token),
                _ => break,
            }
        }
        if !pack.is_empty() {
            packs.push(self.keep("packs", pack.finish()).await?);
        }
        (self.told)(&self.taken);
        Ok(packs)
    }

    /// Writes everything mutable.
    async fn rows(&mut self, point: &Point) -> Result<Vec<Named>, Error> {
        let mut files = Vec::new();
        let mut rows = Rows::new();
        rows.epoch(point.epoch);
        self.taken.references = point.references.len() as u64;
        self.taken.records = point.records.len() as u64;
        for reference in &point.references {
            rows.reference(reference);
            self.full(&mut rows, &mut files).await?;
        }
        for (name, number) in &point.deleted {
            rows.deleted(name, *number);
            self.full(&mut rows, &mut files).await?;
        }
        for (space, key, record) in &point.records {
            rows.record(*space, key, record);
            self.full(&mut rows, &mut files).await?;
        }
        for (space, key, version) in &point.versions {
            rows.version(*space, key, *version);
            self.full(&mut rows, &mut files).await?;
        }
        let live = point.references.iter().map(|reference| (&reference.name, reference.number));
        for (name, number) in live.chain(point.deleted.iter().map(|(name, number)| (name, *number))) {
            self.log(name, number, &mut rows, &mut files).await?;
        }
        files.push(self.keep("rows", rows.finish()).await?);
        Ok(files)
    }

    /// Writes the log of a name up to a number, oldest first.
    async fn log(
        &mut self,
        name: &RefName,
        number: u64,
        rows: &mut Rows,
        files: &mut Vec<Named>,
    ) -> Result<(), Error> {
        // The log is read from its end; numbers have no gaps, so a page can be asked for from its start.
        let mut first = 1;
        while first <= number {
            let last = (first + LOG_PAGE as u64 - 1).min(number);
            let limit = usize::try_from(last - first + 1).unwrap_or(LOG_PAGE);
            let mut page = self.store.ref_log(name, Some(last + 1), limit).await?;
            page.retain(|entry| entry.number >= first);
            for entry in page.iter().rev() {
                rows.log(entry);
                self.taken.log_entries += 1;
                self.full(rows, files).await?;
            }
            self.pace.spend(page.len() * 200).await;
            first = last + 1;
        }
        Ok(())
    }

    async fn full(&mut self, rows: &mut Rows, files: &mut Vec<Named>) -> Result<(), Error> {
        if rows.count() >= ROWS_MAX {
            files.push(self.keep("rows", rows.finish()).await?);
        }
        Ok(())
    }

    /// Writes a file under its hash.
    async fn keep(&mut self, folder: &str, (bytes, hash): (Bytes, blake3::Hash)) -> Result<Named, Error> {
        let named = Named { hash: hash.to_hex().to_string(), size: bytes.len() as u64 };
        self.vault.write(&format!("{folder}/{}", named.hash), bytes).await?;
        Ok(named)
    }
}
