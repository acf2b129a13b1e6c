//! What a store is opened with.

use std::path::PathBuf;

/// Page cache of sled when nothing else is asked for, in bytes. Filled on use, not up front.
pub const CACHE_BYTES_DEFAULT: u64 = 64 * 1024 * 1024;
/// Free space that the disk must have for a write to be taken, in bytes: more than the largest batch writes several
/// times over. On small disks a twentieth of the disk.
pub const RESERVE_BYTES_DEFAULT: u64 = 128 * 1024 * 1024;
/// Log between two snapshots of the engine, which a start has to read, in bytes: a tenth of a second, about.
pub const REPLAY_BYTES_DEFAULT: u64 = 128 * 1024 * 1024;
/// Smallest page cache, in bytes.
pub(crate) const CACHE_BYTES_MIN: u64 = 1024 * 1024;

/// When a commit returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once its bytes are synced: survives a power cut.
    #[default]
    Fsync,
    /// Once the operating system has its bytes: survives the end of the process, not of the machine.
    Os,
}

/// Configuration of a store.
#[derive(Debug, Clone)]
pub struct SledConfig {
    /// Folder of the store; made if absent.
    pub path: PathBuf,
    /// Page cache of sled, in bytes.
    pub cache_bytes: u64,
    /// When a commit returns.
    pub durability: Durability,
    /// Free space below which writes are refused as [`lochan_storage_odb::StoreError::Full`], in bytes; at most a
    /// twentieth of the disk. 0 for none.
    pub reserve_bytes: u64,
    /// Log of the engine that a start has to read, about, in bytes; more where a snapshot is longer than an eighth of that. 0 for
    /// whatever was written since the last start. Whole segments of 512 KiB count.
    pub replay_bytes: u64,
}

impl SledConfig {
    /// The defaults for a folder.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            cache_bytes: CACHE_BYTES_DEFAULT,
            durability: Durability::Fsync,
            reserve_bytes: RESERVE_BYTES_DEFAULT,
            replay_bytes: REPLAY_BYTES_DEFAULT,
        }
    }
}
