//! Whether a backup is whole: every file, every object, and that nothing is named that is not there.

use std::collections::HashSet;

use lochan_storage_model::{Commit, CommitId, Micros, ObjectId, ObjectKind};

use super::{Error, UNFINISHED, Vault, read};
use crate::fsck::named_by;

/// What a backup holds, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// When its point was taken.
    pub taken: Micros,
    /// Objects, all of them hashed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// References.
    pub references: u64,
    /// Log entries.
    pub log_entries: u64,
    /// Records.
    pub records: u64,
    /// A later run was begun and not finished; this is what it said.
    pub unfinished: Option<String>,
    /// Everything wrong, a line each.
    pub findings: Vec<String>,
}

/// Verifies the backup in a vault. An error means that there is none; a damaged one has findings.
pub async fn verify(vault: &dyn Vault) -> Result<Verified, Error> {
    let manifest = super::manifest(vault).await?;
    let mut verified = Verified { taken: manifest.taken, ..Verified::default() };
    let unfinished = vault.read(UNFINISHED).await?;
    verified.unfinished = unfinished.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
    let mut present: HashSet<(ObjectKind, ObjectId)> = HashSet::new();
    let mut wanted: Vec<(String, ObjectKind, ObjectId)> = Vec::new();
    for named in &manifest.packs {
        let objects = match read::pack(vault, named).await {
            Ok(objects) => objects,
            Err(Error::Vault(error)) => return Err(error.into()),
            Err(error) => {
                verified.findings.push(error.to_string());
                continue;
            }
        };
        for object in objects {
            verified.objects += 1;
            verified.bytes += object.bytes.len() as u64;
            present.insert((object.kind, object.id));
            if object.kind == ObjectKind::Commit {
                match Commit::decode(&object.bytes) {
                    Ok(commit) => {
                        let needed = named_by(&commit).into_iter();
                        wanted.extend(needed.map(|(kind, id)| (format!("commit {}", object.id), kind, id)));
                    }
                    Err(error) => verified.findings.push(format!("commit {}: {error}", object.id)),
                }
            }
        }
    }
    match read::all_rows(vault, &manifest).await {
        Ok(rows) => {
            let commit = |id: CommitId| (ObjectKind::Commit, id.object());
            for reference in rows.point.references.iter().filter(|r| !r.target.is_no_ancestor()) {
                let (kind, id) = commit(reference.target);
                wanted.push((format!("reference {}", reference.name), kind, id));
            }
            for entry in &rows.log {
                if let Some(target) = entry.new.filter(|target| !target.is_no_ancestor()) {
                    let (kind, id) = commit(target);
                    wanted.push((format!("entry {} of the log of {}", entry.number, entry.name), kind, id));
                }
            }
            verified.references = rows.point.references.len() as u64;
            verified.log_entries = rows.log.len() as u64;
            verified.records = rows.point.records.len() as u64;
        }
        Err(Error::Vault(error)) => return Err(error.into()),
        Err(error) => verified.findings.push(error.to_string()),
    }
    for (who, kind, id) in wanted {
        if !present.contains(&(kind, id)) {
            verified.findings.push(format!("{who} needs the {kind:?} {id}, which is missing"));
        }
    }
    Ok(verified)
}
