//! The folder of a store: its manifest, its lock, and how it comes into being.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use chrono::{SecondsFormat, Utc};
use fs2::FileExt;
use lochan_storage_odb::StoreError;
use uuid::Uuid;

use crate::journal;

/// Format version that this program writes, and the newest it reads.
pub const FORMAT: u32 = 3;
/// The first format with a journal.
const FORMAT_WITH_JOURNAL: u32 = 3;

const MANIFEST: &str = "MANIFEST";
const LOCK: &str = "LOCK";
const ENGINE: &str = "sled";
/// Folder of the engine's own files.
const ENGINE_FOLDER: &str = "sled";
/// Digits of the check sum of a manifest.
const CHECK_DIGITS: usize = 16;
/// Largest manifest or lock file, in bytes.
const TEXT_BYTES_MAX: u64 = 16 * 1024;

/// What a store says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Format version of its rows.
    pub format: u32,
    /// Engine that keeps them.
    pub engine: String,
    /// When it was made, as text (RFC 3339).
    pub created: String,
    /// Identity of the repository, kept for ever.
    pub repository: Uuid,
    /// Identity of this folder alone. All zeros in a store of format 1.
    pub instance: Uuid,
}

/// A folder that this process holds.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    manifest: Mutex<Manifest>,
    /// Holds the lock.
    lock: File,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Closing it would not do: a child process that is being started has it open too, until it executes its program.
        let _ = FileExt::unlock(&self.lock);
    }
}

impl Folder {
    /// Takes the folder at `path`; an absent or empty one is made first by `fill`, which gets the engine's folder.
    pub(crate) fn open(
        path: &Path,
        fill: impl FnOnce(&Path) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        if is_absent_or_empty(path)? {
            create(path, fill)?;
        }
        // Nothing is written into a folder before it is known to be a store.
        let manifest = read_manifest(path)?;
        let lock = take_lock(path)?;
        // Whoever made the store may have been killed before its name was durable.
        sync_names(path).map_err(|error| failed("sync", path, &error))?;
        Ok(Self { path: path.to_owned(), manifest: Mutex::new(manifest), lock })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the store says about itself.
    pub(crate) fn manifest(&self) -> Manifest {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the manifest: whole or not at all, through a power cut.
    pub(crate) fn set_manifest(&self, manifest: Manifest) -> Result<(), StoreError> {
        let (file, aside) = (self.path.join(MANIFEST), self.path.join(format!("{MANIFEST}.new")));
        write_synced(&aside, &manifest.to_string())
            .and_then(|()| fs::rename(&aside, &file))
            .and_then(|()| sync_folder(&self.path))
            .map_err(|error| failed("write", &file, &error))?;
        *self.manifest.lock().unwrap_or_else(PoisonError::into_inner) = manifest;
        Ok(())
    }

    /// Beginning of the identity of this folder, which its journal names.
    pub(crate) fn store(&self) -> [u8; 8] {
        let instance = self.manifest().instance.into_bytes();
        instance.first_chunk().copied().unwrap_or_default()
    }

    /// The files of the journal. A store of a format without one gets them, and one that is damaged anyway.
    pub(crate) fn journal(&self, is_damaged: bool) -> Result<journal::Files, StoreError> {
        if is_damaged || self.manifest().format < FORMAT_WITH_JOURNAL {
            journal::Files::create(&self.path)
                .and_then(|()| sync_folder(&self.path))
                .map_err(|error| failed("make a journal in", &self.path, &error))?;
        }
        journal::Files::open(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Corrupt {
                what: self.path.display().to_string(),
                detail: "a file of the journal is missing; it may have held what was acknowledged last"
                    .into(),
            },
            _ => failed("open the journal in", &self.path, &error),
        })
    }

    /// The file of the lock once more, as a child process has it.
    #[cfg(test)]
    pub(crate) fn second_lock(&self) -> File {
        self.lock.try_clone().unwrap()
    }

    /// Folder of the engine's own files.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE_FOLDER)
    }
}

/// Reads the manifest of the store in `path`; refuses a folder that is none, and a store of a newer format.
pub fn read_manifest(path: &Path) -> Result<Manifest, StoreError> {
    let file = path.join(MANIFEST);
    let text = match File::open(&file) {
        Ok(opened) => read_text(&opened).map_err(|error| failed("read", &file, &error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Open(format!(
                "{} holds files but no store of this program: it has no {MANIFEST}; name an empty or absent folder",
                path.display()
            )));
        }
        Err(error) => return Err(failed("read", &file, &error)),
    };
    let field = |name: &str| {
        text.lines()
            .filter_map(|line| line.split_once('='))
            .find(|(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim().to_owned())
            .ok_or_else(|| StoreError::Open(format!("{} does not say {name}", file.display())))
    };
    let bad = |name: &str| StoreError::Open(format!("{} has no valid {name}", file.display()));
    if let Some((body, check)) = text.rsplit_once("check = ")
        && check.trim_end() != check_of(body)
    {
        return Err(StoreError::Corrupt {
            what: file.display().to_string(),
            detail: "its text does not fit its check sum".into(),
        });
    }
    let format: u32 = field("format")?.parse().map_err(|_| bad("format"))?;
    if format == 0 {
        return Err(bad("format"));
    }
    if format > FORMAT {
        return Err(StoreError::Open(format!(
            "the store in {} has format {format}, but this program reads up to format {FORMAT}; use a newer release",
            path.display()
        )));
    }
    let engine = field("engine")?;
    if engine != ENGINE {
        return Err(StoreError::Open(format!(
            "the store in {} is kept by the engine '{engine}', not by '{ENGINE}'",
            path.display()
        )));
    }
    let repository = field("repository")?.parse().map_err(|_| bad("repository"))?;
    let instance = match format {
        1 => Uuid::nil(),
        _ => {
            // Without its check a manifest of this format is cut off.
            field("check")?;
            field("instance")?.parse().map_err(|_| bad("instance"))?
        }
    };
    Ok(Manifest { format, engine, created: field("created")?, repository, instance })
}

/// Copies a store that nobody holds, for something to be saved from the copy: the engine's settings are left out, which it
/// makes anew, and a manifest that cannot be read is replaced by one of `repository`.
pub fn copy_damaged(from: &Path, to: &Path, repository: [u8; 16]) -> Result<(), StoreError> {
    let _held = take_lock(from)?;
    copy_files(from, to).map_err(|error| failed("copy", from, &error))?;
    if read_manifest(to).is_err() {
        let created = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let (repository, instance) = (Uuid::from_bytes(repository), Uuid::new_v4());
        let manifest = Manifest { format: FORMAT, engine: ENGINE.into(), created, repository, instance };
        let file = to.join(MANIFEST);
        write_synced(&file, &manifest.to_string()).map_err(|error| failed("write", &file, &error))?;
    }
    Ok(())
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if path.is_dir() {
            copy_files(&path, &to.join(name))?;
        } else if name != LOCK && !(name == "conf" && from.ends_with(ENGINE_FOLDER)) {
            fs::copy(path, to.join(name))?;
        }
    }
    Ok(())
}

/// Syncs what the engine does not: its main file, its configuration, its large values, the folder itself.
pub(crate) fn sync_engine(engine: &Path) -> io::Result<()> {
    for name in ["db", "conf"] {
        File::open(engine.join(name))?.sync_all()?;
    }
    sync_blobs(&engine.join("blobs"))?;
    File::open(engine)?.sync_all()
}

/// Syncs the files of large pieces and their folder, if there is one.
pub(crate) fn sync_blobs(blobs: &Path) -> io::Result<()> {
    if !blobs.is_dir() {
        return Ok(());
    }
    for blob in fs::read_dir(blobs)? {
        match File::open(blob?.path()) {
            Ok(blob) => blob.sync_all()?,
            // The engine has thrown it away since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    File::open(blobs)?.sync_all()
}

fn is_absent_or_empty(path: &Path) -> Result<bool, StoreError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(failed("list", path, &error)),
    }
}

/// Makes a whole store beside `path`, syncs it, and renames it there, so that a crash leaves a store or none.
fn create(path: &Path, fill: impl FnOnce(&Path) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| StoreError::Open(format!("{} is no folder name", path.display())))?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(|error| failed("make", parent, &error))?;
    remove_left_behind(parent, &format!("{name}.creating-"));
    let aside = parent.join(format!("{name}.creating-{}", std::process::id()));
    if aside.exists() {
        return Err(StoreError::Open(format!("{} is being made by another thread", path.display())));
    }
    let engine = aside.join(ENGINE_FOLDER);
    let made = (|| {
        fs::create_dir_all(&engine).map_err(|error| failed("make", &engine, &error))?;
        fill(&engine)?;
        sync_engine(&engine).map_err(|error| failed("sync", &engine, &error))?;
        journal::Files::create(&aside).map_err(|error| failed("make a journal in", &aside, &error))?;
        let manifest = Manifest {
            format: FORMAT,
            engine: ENGINE.into(),
            created: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            repository: Uuid::new_v4(),
            instance: Uuid::new_v4(),
        };
        for (name, text) in [(MANIFEST, manifest.to_string()), (LOCK, String::new())] {
            let file = aside.join(name);
            write_synced(&file, &text).map_err(|error| failed("write", &file, &error))?;
        }
        sync_folder(&aside).map_err(|error| failed("sync", &aside, &error))?;
        match fs::rename(&aside, path) {
            // Another process was faster; its store is opened, or its lock named.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            Err(error) => Err(failed("put in place", path, &error)),
            Ok(()) => sync_folder(parent).map_err(|error| failed("sync", parent, &error)),
        }
    })();
    if aside.exists() {
        // Best effort: what stays behind is removed by the next creation.
        let _ = fs::remove_dir_all(&aside);
    }
    made
}

/// Removes what a creation that was killed has left behind.
fn remove_left_behind(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid =
            name.to_str().and_then(|name| name.strip_prefix(prefix)).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| {
            Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{pid}")).exists()
        }) {
            // Best effort: it is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn take_lock(path: &Path) -> Result<File, StoreError> {
    let file = path.join(LOCK);
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&file)
        .map_err(|error| failed("open", &file, &error))?;
    if let Err(error) = lock.try_lock_exclusive() {
        if error.kind() != fs2::lock_contended_error().kind() {
            return Err(failed("lock", &file, &error));
        }
        let holder = read_text(&lock).unwrap_or_default();
        let holder = holder.trim();
        let holder = if holder.is_empty() { "another process" } else { holder };
        return Err(StoreError::Open(format!("the store in {} is in use by {holder}", path.display())));
    }
    let text = format!(
        "process {} (started {})\n",
        std::process::id(),
        Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
    );
    lock.set_len(0)
        .and_then(|()| lock.rewind())
        .and_then(|()| lock.write_all(text.as_bytes()))
        .map_err(|error| failed("write", &file, &error))?;
    Ok(lock)
}

impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { format, engine, created, repository, instance } = self;
        let body = format!(
            "format = {format}\nengine = {engine}\ncreated = {created}\nrepository = {repository}\ninstance = {instance}\n"
        );
        writeln!(f, "{body}check = {}", check_of(&body))
    }
}

fn check_of(body: &str) -> String {
    blake3::hash(body.as_bytes()).to_hex().chars().take(CHECK_DIGITS).collect()
}

fn read_text(file: &File) -> io::Result<String> {
    let mut text = String::new();
    file.take(TEXT_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn write_synced(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Syncs the names in `path`, its own and that of the folder around it, as far as they may be opened.
fn sync_names(path: &Path) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    for folder in path.ancestors().take(3) {
        match sync_folder(folder) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && folder != path => {}
            synced => synced?,
        }
    }
    Ok(())
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn failed(what: &str, path: &Path, error: &io::Error) -> StoreError {
    StoreError::Open(format!("cannot {what} {}: {error}", path.display()))
}
