//! Putting one file in place: aside, synced, then under its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a file that are synced at once, at most, unless the folder knows no links: whoever syncs something else on the same
/// disk meanwhile, as commits do, waits for all of them.
const SYNCED_AT_ONCE_BYTES: usize = 256 * 1024;

/// Whether an object may already be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It must not be: `AlreadyExists` otherwise.
    New,
    /// It is replaced.
    Replace,
}

/// Writes `bytes` to `path`, whose folder must exist. On an error nothing of this call is left behind
/// (short of a crash, which can leave a `.lochan-*.part` file). The caller syncs `folder`.
pub(crate) fn put(folder: &Path, path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let aside = Aside::write(folder, bytes)?;
    match mode {
        Mode::Replace => {
            fs::rename(&aside.path, path)?;
            aside.keep();
            Ok(())
        }
        Mode::New => match fs::hard_link(&aside.path, path) {
            Ok(()) => Ok(()),
            Err(error) if links_are_unknown(&error) => put_without_links(path, bytes),
            Err(error) => Err(error),
        },
    }
}

/// Writes, reads back and removes a small file, without syncing it.
pub(crate) fn probe(folder: &Path) -> io::Result<()> {
    let path = fresh_name(folder);
    fs::write(&path, b"probe")?;
    let read = fs::read(&path);
    fs::remove_file(&path)?;
    match read? == b"probe" {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidData, "a probe file came back different")),
    }
}

/// Creates the file under its final name at once. Some network file systems know no hard links; there
/// a crash can leave a short file, which the name's exclusiveness still protects from other writers.
fn put_without_links(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // The failure is what the caller must see; a name left behind is found again by it.
        let _ = fs::remove_file(path);
    }
    written
}

fn links_are_unknown(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied | ErrorKind::TooManyLinks)
}

/// A synced file under a name nobody looks for, removed when dropped.
struct Aside {
    path: PathBuf,
    kept: bool,
}

impl Aside {
    fn write(folder: &Path, bytes: &[u8]) -> io::Result<Aside> {
        let path = fresh_name(folder);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let aside = Aside { path, kept: false };
        let mut pieces = bytes.chunks(SYNCED_AT_ONCE_BYTES).peekable();
        while let Some(piece) = pieces.next() {
            file.write_all(piece)?;
            if pieces.peek().is_some() {
                file.sync_data()?;
            }
        }
        File::sync_all(&file)?;
        Ok(aside)
    }

    /// The file has got another name; there is nothing to remove.
    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A name in `folder` that neither this process nor another running one will pick.
fn fresh_name(folder: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    folder.join(format!(".lochan-{:x}-{nanos:x}-{number:x}.part", process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_links_a_name_is_still_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        put_without_links(&path, b"one").unwrap();
        assert_eq!(put_without_links(&path, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }

    #[test]
    fn nothing_is_left_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        put(folder.path(), &path, b"one", Mode::New).unwrap();
        put(folder.path(), &path, b"two", Mode::New).unwrap_err();
        let three = vec![3; 2 * SYNCED_AT_ONCE_BYTES + 1];
        put(folder.path(), &path, &three, Mode::Replace).unwrap();
        probe(folder.path()).unwrap();
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["x"]);
        assert_eq!(fs::read(&path).unwrap(), three);
    }
}
