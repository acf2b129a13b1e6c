//! The library that is preloaded, and the file through which it is told what to do.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

const SOURCE: &str = include_str!("../../preload/faults.c");
/// Size of the file of control, in bytes; more than `struct control`.
const CONTROL_BYTES: u64 = 4096;

/// Builds the library into `folder` with the system's C compiler.
pub fn build(folder: &Path) -> Result<PathBuf> {
    let (source, library) = (folder.join("faults.c"), folder.join("faults.so"));
    std::fs::write(&source, SOURCE)?;
    let output = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-lpthread")
        .output()
        .context("a C compiler called cc is needed")?;
    if !output.status.success() {
        bail!("cc: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(library)
}

/// Kinds of calls that can be struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// `open` and its kin.
    Open,
    /// `write`, `pwrite` and their kin.
    Write,
    /// `ftruncate`.
    Truncate,
    /// `rename`.
    Rename,
    /// `unlink`.
    Unlink,
    /// `mkdir`.
    MakeFolder,
    /// `fsync` and `fdatasync`.
    Sync,
    /// `sync_file_range`.
    Range,
    /// Writes and syncs.
    WriteOrSync,
}

impl Calls {
    /// The kinds by themselves.
    pub const KINDS: [Self; 8] = [
        Self::Open,
        Self::Write,
        Self::Truncate,
        Self::Rename,
        Self::Unlink,
        Self::MakeFolder,
        Self::Sync,
        Self::Range,
    ];

    const fn mask(self) -> u32 {
        match self {
            Self::Open => 1 << 1,
            Self::Write => 1 << 2,
            Self::Truncate => 1 << 3,
            Self::Rename => 1 << 4,
            Self::Unlink => 1 << 5,
            Self::MakeFolder => 1 << 6,
            Self::Sync => 1 << 8,
            Self::Range => 1 << 10,
            Self::WriteOrSync => 1 << 2 | 1 << 8,
        }
    }
}

/// What happens to the call that is struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It fails with this error number.
    Fail(u32),
    /// It writes only so many bytes.
    Short(u32),
    /// It waits first, in milliseconds.
    Delay(u32),
    /// The process stops (SIGSTOP).
    Stop,
    /// The process is killed (SIGKILL).
    Kill,
}

/// Which call is struck and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strike {
    /// Which are counted.
    pub calls: Calls,
    /// The first one is 1; 0 for none, which only counts.
    pub nth: u64,
    /// What happens.
    pub action: Action,
    /// All later ones too.
    pub is_lasting: bool,
    /// After a failed sync: 0 nothing is lost, 1 everything that it should have kept, 2 some pages of it.
    pub lose: u32,
    /// For the choice of those pages.
    pub seed: u64,
    /// How much later a call that fails or is short returns, in milliseconds: others then wait for it already.
    pub late_ms: u32,
}

/// The file of control of one process.
#[derive(Debug)]
pub struct Control(File);

impl Control {
    fn create(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        file.set_len(CONTROL_BYTES)?;
        Ok(Self(file))
    }

    /// Strikes from now on, counting from 0 again.
    pub fn strike(&self, strike: &Strike) -> Result<()> {
        let (action, argument) = match strike.action {
            Action::Fail(number) => (1, number),
            Action::Short(bytes) => (2, bytes),
            Action::Delay(ms) => (3, ms),
            Action::Stop => (4, 0),
            Action::Kill => (5, 0),
        };
        self.calm()?;
        self.put(8, &strike.nth.to_le_bytes())?;
        self.put(16, &u32::to_le_bytes(action))?;
        self.put(20, &argument.to_le_bytes())?;
        self.put(24, &u32::from(strike.is_lasting).to_le_bytes())?;
        self.put(28, &strike.lose.to_le_bytes())?;
        self.put(32, &strike.seed.to_le_bytes())?;
        self.put(40, &[0; 16])?;
        self.put(76, &strike.late_ms.to_le_bytes())?;
        self.put(4, &strike.calls.mask().to_le_bytes())
    }

    /// Strikes no more.
    pub fn calm(&self) -> Result<()> {
        self.put(4, &[0; 4])
    }

    /// What the disk says to have left, in bytes; 0 for the truth.
    pub fn set_free(&self, bytes: u64) -> Result<()> {
        self.put(56, &bytes.to_le_bytes())
    }

    /// Lets so many bytes be written before the disk is full; `None` for any number.
    pub fn set_room(&self, bytes: Option<u64>) -> Result<()> {
        self.put(64, &bytes.unwrap_or_default().to_le_bytes())?;
        self.put(72, &u32::from(bytes.is_some()).to_le_bytes())
    }

    /// Calls counted since [`Control::strike`], and those struck.
    pub fn counted(&self) -> Result<(u64, u64)> {
        let mut words = [0; 16];
        self.0.read_exact_at(&mut words, 40)?;
        let (seen, struck) = words.split_at(8);
        Ok((u64::from_le_bytes(seen.try_into()?), u64::from_le_bytes(struck.try_into()?)))
    }

    fn put(&self, at: u64, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all_at(bytes, at)?)
    }
}

/// The library and the files of one program under test.
#[derive(Debug)]
pub struct Preload {
    library: PathBuf,
    /// The folder that is recorded; absolute.
    pub data: PathBuf,
    /// Where the program's marks go.
    pub marks: PathBuf,
    /// The record.
    pub record: PathBuf,
    control: PathBuf,
}

impl Preload {
    /// Everything in `folder`, which is absolute: the data in `folder/data`.
    pub fn new(library: &Path, folder: &Path) -> Result<Self> {
        let data = folder.join("data");
        std::fs::create_dir_all(&data)?;
        Ok(Self {
            library: library.to_owned(),
            data,
            marks: folder.join("marks"),
            record: folder.join("record"),
            control: folder.join("control"),
        })
    }

    /// Prepares a program to run with the library; recording if wanted.
    pub fn prepare(&self, command: &mut Command, is_recorded: bool) -> Result<Control> {
        let control = Control::create(&self.control)?;
        command
            .env("LD_PRELOAD", &self.library)
            .env("LOCHAN_FAULTS_FOLDER", &self.data)
            .env("LOCHAN_FAULTS_MARKS", &self.marks)
            .env("LOCHAN_FAULTS_CONTROL", &self.control);
        if is_recorded {
            command.env("LOCHAN_FAULTS_RECORD", &self.record);
        }
        Ok(control)
    }
}
