//! Mending a damaged store from a backup or from another copy of it.
//!
//! Nothing is mended in place: what can be read and verified goes into a new store, and what is missing there comes from
//! the source. A page that cannot be read cannot be written to either, and the old files stay for whoever wants to look.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{
    DerivedSpace, DerivedWrite, Load, NewObject, Point, Record, RecordSpace, RefKind, RefLogEntry, Reference,
    Sweep,
};

use super::{
    Error, Manifest, Vault, read,
    restore::{load_objects, load_rows},
};

/// Objects read in one piece, and their bytes.
const PAGE: usize = 2_048;
const PAGE_BYTES: usize = 8 << 20;

/// Where sound copies come from.
pub enum Source<'a> {
    /// A backup.
    Backup(&'a dyn Vault, Box<Manifest>),
    /// Another copy of the store.
    Replica(Arc<dyn Sweep>),
}

/// What became of a damaged store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Objects that could be read and were sound.
    pub kept: u64,
    /// Objects put back from the source.
    pub put_back: u64,
    /// What was found damaged, and what was put back in its place, a line each.
    pub notes: Vec<String>,
}

/// Fills `fresh`, an empty store, with what is sound in `damaged` and, where something is missing or older there, with
/// what `source` holds. Every object is hashed on its way. Whether all is well again is for `fsck` to say.
pub async fn repair(
    damaged: &Arc<dyn Sweep>,
    source: &Source<'_>,
    fresh: &Arc<dyn Sweep>,
) -> Result<Repaired, Error> {
    let mut repaired = Repaired::default();
    let mut present: HashSet<(ObjectKind, ObjectId)> = HashSet::new();
    repaired.kept = copy_objects(damaged, fresh, &mut present, &mut repaired.notes).await?;
    match source {
        Source::Backup(vault, manifest) => {
            for named in &manifest.packs {
                match read::pack(*vault, named).await {
                    Ok(mut objects) => {
                        objects.retain(|object| present.insert((object.kind, object.id)));
                        note_objects(&objects, &mut repaired.notes);
                        repaired.put_back += load_objects(fresh, objects).await?;
                    }
                    Err(Error::Vault(error)) => return Err(error.into()),
                    Err(error) => repaired.notes.push(error.to_string()),
                }
            }
        }
        Source::Replica(store) => {
            let mut unread = Vec::new();
            repaired.put_back = copy_objects(store, fresh, &mut present, &mut unread).await?;
            repaired.notes.extend(unread.into_iter().map(|note| format!("in the replica: {note}")));
        }
    }
    let (mut rows, losses) = damaged.salvage().await?;
    repaired.notes.extend(losses.into_iter().map(|loss| format!("{}: {}", loss.what, loss.detail)));
    let other = match source {
        Source::Backup(vault, manifest) => read::all_rows(*vault, manifest).await?,
        Source::Replica(store) => store.salvage().await?.0,
    };
    merge(&mut rows, other, &mut repaired.notes);
    load_rows(fresh, rows).await?;
    copy_derived(damaged, fresh).await?;
    fresh.adopt(damaged.identity().repository).await?;
    Ok(repaired)
}

/// Copies the objects that are not there yet; returns how many.
async fn copy_objects(
    from: &Arc<dyn Sweep>,
    to: &Arc<dyn Sweep>,
    present: &mut HashSet<(ObjectKind, ObjectId)>,
    notes: &mut Vec<String>,
) -> Result<u64, Error> {
    let (mut after, mut copied) = (None, 0);
    loop {
        let page = from.read_objects(after.take(), PAGE, PAGE_BYTES).await?;
        let Some((last, _)) = page.last() else { return Ok(copied) };
        after = Some(last.clone());
        let mut sound: Vec<NewObject> = Vec::new();
        for (_, object) in page {
            match object {
                Ok(object) if present.insert((object.kind, object.id)) => sound.push(object),
                Ok(_) => {}
                Err(error) => notes.push(error.to_string()),
            }
        }
        copied += load_objects(to, sound).await?;
    }
}

/// Objects named one by one; more are counted.
const NAMED_MAX: usize = 100;

fn note_objects(objects: &[NewObject], notes: &mut Vec<String>) {
    let room = NAMED_MAX.saturating_sub(notes.len());
    notes.extend(
        objects.iter().take(room).map(|object| format!("{:?} {} was put back", object.kind, object.id)),
    );
}

/// Fills what is missing or older in `rows` from another copy of the same store.
fn merge(rows: &mut Load, other: Load, notes: &mut Vec<String>) {
    let mut log: BTreeMap<(RefName, u64), RefLogEntry> = BTreeMap::new();
    let is_put_back = rows.log.len();
    for entry in other.log.into_iter().chain(std::mem::take(&mut rows.log)) {
        log.insert((entry.name.clone(), entry.number), entry);
    }
    if log.len() > is_put_back {
        notes.push(format!("{} entries of the reference log were put back", log.len() - is_put_back));
    }
    let mut references: BTreeMap<RefName, (u64, Option<Reference>)> = BTreeMap::new();
    let mut take = |name: RefName, number: u64, reference: Option<Reference>| {
        let known = references.entry(name).or_insert((0, None));
        if known.0 < number {
            *known = (number, reference);
        }
    };
    let Point { references: live, deleted, records, versions, epoch } = std::mem::take(&mut rows.point);
    let before: BTreeMap<RefName, u64> = live
        .iter()
        .map(|reference| (reference.name.clone(), reference.number))
        .chain(deleted.iter().cloned())
        .collect();
    for reference in live.into_iter().chain(other.point.references) {
        take(reference.name.clone(), reference.number, Some(reference));
    }
    for (name, number) in deleted.into_iter().chain(other.point.deleted) {
        take(name, number, None);
    }
    // The log is written with every change, so its newest entry says where a reference is.
    for entry in log.values() {
        let RefLogEntry { name, number, kind, new, .. } = entry;
        let kind: RefKind = *kind;
        let reference = new.map(|target| Reference { name: name.clone(), kind, target, number: *number });
        take(name.clone(), *number, reference);
    }
    for (name, (number, reference)) in references {
        if before.get(&name) != Some(&number) {
            let at =
                reference.as_ref().map_or("deleted".to_owned(), |reference| reference.target.to_string());
            let was =
                before.get(&name).map_or("not to be read".to_owned(), |number| format!("at number {number}"));
            notes.push(format!("reference {name} was {was} and is put back as of number {number}: {at}"));
        }
        match reference {
            Some(reference) => rows.point.references.push(reference),
            None => rows.point.deleted.push((name, number)),
        }
    }
    let mut kept: BTreeMap<(RecordSpace, Bytes), (u64, Option<Record>)> = BTreeMap::new();
    let own =
        records.into_iter().map(|(space, key, record)| ((space, key), record.version, Some(record), true));
    let own =
        own.chain(versions.into_iter().map(|(space, key, version)| ((space, key), version, None, true)));
    let Point { records, versions, epoch: other_epoch, .. } = other.point;
    let others =
        records.into_iter().map(|(space, key, record)| ((space, key), record.version, Some(record), false));
    let others =
        others.chain(versions.into_iter().map(|(space, key, version)| ((space, key), version, None, false)));
    for (at, version, record, is_own) in own.chain(others) {
        let known = kept.get(&at).map_or(0, |(version, _)| *version);
        if known < version {
            if !is_own {
                let (space, key) = (at.0, String::from_utf8_lossy(&at.1));
                notes.push(format!("record {space:?}/{key} was put back as of version {version}"));
            }
            kept.insert(at, (version, record));
        }
    }
    for ((space, key), (version, record)) in kept {
        match record {
            Some(record) => rows.point.records.push((space, key, record)),
            None => rows.point.versions.push((space, key, version)),
        }
    }
    rows.point.epoch = epoch.max(other_epoch);
    rows.log = log.into_values().collect();
}

/// Takes along what can be made anew, as far as it can be read.
async fn copy_derived(from: &Arc<dyn Sweep>, to: &Arc<dyn Sweep>) -> Result<(), Error> {
    for space in DerivedSpace::ALL {
        let mut at: Option<Vec<u8>> = None;
        loop {
            let page = match from.derived_scan(space, &[], at.as_deref(), false, PAGE).await {
                Ok(page) => page,
                Err(error) if error.is_damage() => break,
                Err(error) => return Err(error.into()),
            };
            let Some((last, _)) = page.last() else { break };
            let mut next = last.to_vec();
            next.push(0);
            at = Some(next);
            let rows = page.into_iter().map(|(key, value)| DerivedWrite { space, key, value: Some(value) });
            to.put_derived(rows.collect()).await?;
        }
    }
    Ok(())
}
