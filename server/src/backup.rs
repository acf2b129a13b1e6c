//! `lochan-server backup`, `verify`, `restore` and `repair`.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, bail, ensure};
use lochan_storage::{StoreConfig, Sweep};
use lochan_storage_engine::backup::{self, Repaired, Source, Verified};
use lochan_storage_engine::fsck::Depth;

use crate::config::{self, Config};
use crate::control::{self, Counts, Request, TakeBackup};
use crate::vault::Place;
use crate::{fsck, wiring};

/// What folders beside the store are called while they are made.
const RESTORING: &str = "restoring";
const SALVAGING: &str = "salvaging";
const REPAIRED: &str = "repaired";
/// Lines of a report about a backup or repair; more are counted.
const LINES_MAX: usize = 200;

/// Takes a backup: through the server if one runs, else from the store itself.
pub async fn take(config: &Config, to: &str, mib_per_second: Option<u32>) -> anyhow::Result<String> {
    let limit = mib_per_second.unwrap_or(config.backup.mib_per_second);
    // The server may stand in another folder.
    let to = config::absolute(to);
    if let Some(folder) = to.strip_prefix("file://") {
        refuse_own(&config.store.data_dir, Path::new(folder))?;
    }
    let request = TakeBackup {
        to,
        bytes_per_second: u64::from(limit) << 20,
        s3: config.backup.s3.as_ref().map(Into::into),
    };
    let told = |counts: Counts| {
        tracing::info!(objects = counts.objects, bytes = counts.bytes, "copying");
    };
    let wish = Request::Backup(request.clone());
    let counts = match control::ask(&config.store.data_dir, &wish, &mut { told }).await? {
        Some(counts) => counts,
        None => {
            let store = wiring::open_existing_store(&config.store).await?;
            control::take(&store, &request, told).await?
        }
    };
    let Counts { objects, bytes, references, log_entries, records } = counts;
    Ok(format!(
        "copied {objects} objects of {bytes} bytes that were not there yet; the backup holds {references} references, \
         {log_entries} log entries and {records} records\n"
    ))
}

/// A backup among the files that it is to save would be lost with them.
fn refuse_own(data_dir: &Path, to: &Path) -> anyhow::Result<()> {
    let own = real(data_dir);
    ensure!(
        !real(to).starts_with(&own),
        "{} lies in the data folder {}, with which the backup would be lost: choose a place outside of it",
        to.display(),
        own.display()
    );
    Ok(())
}

/// Where a path leads to, through links as far as it is there.
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for at in path.ancestors() {
        if let Ok(found) = at.canonicalize() {
            return missing.iter().rev().fold(found, |found, name| found.join(name));
        }
        missing.extend(at.file_name());
    }
    path.to_owned()
}

/// Verifies a backup. Returns the report, and whether all is well.
pub async fn verify(config: &Config, from: &str) -> anyhow::Result<(String, bool)> {
    let place = Place::open(from, config.backup.s3.clone())?;
    let Verified { taken, objects, bytes, references, log_entries, records, unfinished, findings } =
        backup::verify(&place).await?;
    let mut text = String::new();
    list(&mut text, &findings);
    let taken =
        chrono::DateTime::from_timestamp_micros(taken).map(|time| time.to_rfc3339()).unwrap_or_default();
    let _ = writeln!(
        text,
        "the backup of {taken} holds {objects} objects of {bytes} bytes, {references} references, {log_entries} log \
         entries and {records} records"
    );
    if let Some(unfinished) = unfinished {
        let _ = writeln!(text, "a later run is under way or was cut off: {unfinished}");
    }
    let is_sound = findings.is_empty();
    text.push_str(if is_sound { "sound\n" } else { "DAMAGED\n" });
    Ok((text, is_sound))
}

/// Puts a backup back into a data folder that holds no store.
pub async fn restore(config: &Config, from: &str) -> anyhow::Result<String> {
    let place = Place::open(from, config.backup.s3.clone())?;
    let folder = wiring::store_folder(&config.store);
    ensure!(!folder.exists(), "there is a store in {} already", folder.display());
    // Before a store is made that would have nothing to hold.
    backup::manifest(&place).await?;
    let left = left_beside(&folder)?;
    // Made aside, so that what a cut-off restore leaves behind is no store.
    let aside = beside(&folder, RESTORING)?;
    let fresh = StoreConfig { path: aside.clone(), ..wiring::store_config(&config.store) };
    let store = wiring::open_store(fresh).await?;
    let restored = backup::restore(&place, &store).await?;
    let report = fsck::of(Arc::clone(&store), Depth::Heads).await?;
    drop(store);
    if !report.is_sound() {
        bail!("what was put back into {} is not sound:\n{}", aside.display(), fsck::show(&report));
    }
    put_in_place(&aside, &folder)?;
    let backup::Restored { objects, references, log_entries, records } = restored;
    Ok(format!(
        "put back {objects} objects, {references} references, {log_entries} log entries and {records} records into {}; \
         verified\n{left}",
        folder.display()
    ))
}

/// Makes a new store of what is sound in a damaged one and of what a backup or another copy holds, and puts it in its
/// place. Returns the report, and whether all is well.
pub async fn repair(config: &Config, from: &str) -> anyhow::Result<(String, bool)> {
    ensure!(
        config.store.engine == lochan_storage::Engine::Sled,
        "only a store that is kept in files can be repaired"
    );
    let folder = wiring::store_folder(&config.store);
    ensure!(folder.is_dir(), "there is no store in {}", folder.display());
    let replica = Path::new(from).join(wiring::STORE_FOLDER);
    let place;
    let (source, repository) = if replica.is_dir() {
        let settings = StoreConfig { path: replica, ..wiring::store_config(&config.store) };
        let store = wiring::open_store(settings).await?;
        let repository = store.identity().repository;
        (Source::Replica(store), repository)
    } else {
        place = Place::open(from, config.backup.s3.clone())?;
        let manifest = backup::manifest(&place).await?;
        let repository = manifest.identity.repository;
        (Source::Backup(&place, Box::new(manifest)), repository)
    };
    let left = left_beside(&folder)?;
    let copy = beside(&folder, SALVAGING)?;
    let aside = beside(&folder, REPAIRED)?;
    let damaged = wiring::open_damaged_store(&config.store, &copy, repository).await?;
    ensure!(
        damaged.identity().repository == repository,
        "{from} holds another repository than {}",
        folder.display()
    );
    let fresh = StoreConfig { path: aside.clone(), ..wiring::store_config(&config.store) };
    let fresh: Arc<dyn Sweep> = wiring::open_store(fresh).await?;
    let repaired = backup::repair(&damaged, &source, &fresh).await?;
    drop(damaged);
    let report = fsck::of(Arc::clone(&fresh), Depth::Full).await?;
    drop(fresh);
    std::fs::remove_dir_all(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
    let Repaired { kept, put_back, notes } = repaired;
    let mut text = String::new();
    list(&mut text, &notes);
    let kept_aside = beside(&folder, "damaged")?;
    std::fs::rename(&folder, &kept_aside)
        .with_context(|| format!("cannot set {} aside", folder.display()))?;
    put_in_place(&aside, &folder)?;
    let _ = writeln!(
        text,
        "{kept} objects were sound and {put_back} were put back; the old files are in {}",
        kept_aside.display()
    );
    text.push_str(&left);
    text.push_str(&fsck::show(&report));
    Ok((text, report.is_sound()))
}

fn list(text: &mut String, lines: &[String]) {
    for line in lines.iter().take(LINES_MAX) {
        let _ = writeln!(text, "{line}");
    }
    if lines.len() > LINES_MAX {
        let _ = writeln!(text, "and {} more", lines.len() - LINES_MAX);
    }
}

/// A folder beside the store that is not there yet.
fn beside(folder: &Path, what: &str) -> anyhow::Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).context("clock before 1970")?.as_secs();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let path = folder.with_file_name(format!("{name}.{what}-{seconds}-{}", std::process::id()));
    ensure!(!path.exists(), "{} is there already", path.display());
    Ok(path)
}

/// A line for each folder that runs which were cut off have left beside the store; empty if there is none.
fn left_beside(folder: &Path) -> anyhow::Result<String> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(String::new()) };
    let name = name.to_string_lossy();
    let begins = [RESTORING, SALVAGING, REPAIRED].map(|what| format!("{name}.{what}-"));
    let mut text = String::new();
    if parent.is_dir() {
        let failed = || format!("cannot look into {}", parent.display());
        for entry in std::fs::read_dir(parent).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            let found = entry.file_name();
            if begins.iter().any(|begin| found.to_string_lossy().starts_with(begin)) {
                let path = entry.path();
                let _ = writeln!(
                    text,
                    "{} was left by a run that was cut off, if none is under way, and can be removed",
                    path.display()
                );
            }
        }
    }
    Ok(text)
}

/// Renames a store that is closed into its place, durably.
fn put_in_place(aside: &Path, folder: &Path) -> anyhow::Result<()> {
    std::fs::rename(aside, folder).with_context(|| format!("cannot put {} in place", folder.display()))?;
    let parent = folder.parent().context("the store has no folder above it")?;
    std::fs::File::open(parent)?.sync_all().with_context(|| format!("cannot sync {}", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;

    fn settings(data_dir: &Path) -> Config {
        let vars = [("LOCHAN__STORE__DATA_DIR".to_owned(), data_dir.to_str().unwrap().to_owned())];
        config::load(None, vars, Layer::new()).unwrap().config
    }

    #[tokio::test]
    async fn a_backup_lies_outside_of_what_it_saves_and_leftovers_of_a_restore_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let config = settings(&data);
        let store = wiring::store_config(&config.store);
        std::fs::create_dir(&data).unwrap();
        drop(wiring::open_store(store).await.unwrap());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&data, &link).unwrap();
        for own in [data.clone(), data.join("store"), data.join("not/yet/there"), link.join("backup")] {
            for to in [own.display().to_string(), format!("file://{}", own.display())] {
                let error = format!("{:#}", take(&config, &to, None).await.unwrap_err());
                assert!(error.contains("outside of it"), "{to}: {error}");
            }
        }
        assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
        let backup = folder.path().join("data-backup").display().to_string();
        take(&config, &backup, None).await.unwrap();

        let other = folder.path().join("other");
        let nowhere = folder.path().join("nowhere").display().to_string();
        assert!(restore(&settings(&other), &nowhere).await.is_err());
        assert!(!other.exists(), "nothing is made where there is no backup");
        let left = other.join("store.restoring-1-2");
        std::fs::create_dir_all(&left).unwrap();
        let told = restore(&settings(&other), &backup).await.unwrap();
        assert!(told.lines().any(|line| line.contains(left.to_str().unwrap())), "{told}");
        assert_eq!(told.lines().count(), 2, "{told}");
    }
}
