//! Opens the configured backend of the object database, and nothing more.
//!
//! The one place that knows which engines there are; everybody else sees the traits of `lochan-storage-odb`.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use lochan_storage_odb::memory::Memory;
pub use lochan_storage_odb::{StoreError, Sweep};
use lochan_storage_odb_sled::{
    CACHE_BYTES_DEFAULT, REPLAY_BYTES_DEFAULT, RESERVE_BYTES_DEFAULT, SledConfig, SledStore,
};

/// Which engine keeps the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// Files in a folder of this machine.
    #[default]
    Sled,
    /// Nothing: gone with the process. For tests.
    Memory,
}

/// When a commit is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once it is synced: survives a power cut.
    #[default]
    Fsync,
    /// Once the operating system has it: survives the end of the process, not of the machine.
    Os,
}

/// Configuration of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// Which engine.
    pub engine: Engine,
    /// Folder of its own, made if absent; unused by [`Engine::Memory`].
    pub path: PathBuf,
    /// Page cache of the engine, in bytes; filled on use.
    pub cache_bytes: u64,
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// Free space of the disk below which writes are refused as [`StoreError::Full`], in bytes; at most a twentieth of
    /// the disk. 0 for none.
    pub reserve_bytes: u64,
    /// Log of the engine that a start has to read, about, in bytes; 0 for whatever was written since the last start.
    pub replay_bytes: u64,
}

impl StoreConfig {
    /// The defaults for a folder.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            engine: Engine::default(),
            path: path.into(),
            cache_bytes: CACHE_BYTES_DEFAULT,
            durability: Durability::default(),
            reserve_bytes: RESERVE_BYTES_DEFAULT,
            replay_bytes: REPLAY_BYTES_DEFAULT,
        }
    }
}

/// Opens the store, and makes it first if its folder is absent or empty. Blocks while it does.
///
/// [`StoreError::Open`] says why not: held by another process (named), a newer format, something else in the folder.
pub fn open(config: &StoreConfig) -> Result<Arc<dyn Sweep>, StoreError> {
    match config.engine {
        Engine::Memory => Ok(Arc::new(Memory::new())),
        Engine::Sled => Ok(Arc::new(SledStore::open(&sled_config(config))?)),
    }
}

/// Copies a damaged store, which nobody holds, into the folder `copy` and opens what is left of it there. `repository` is
/// which it is, should it not say so itself any more. What cannot be opened at all is an empty store.
pub fn open_damaged(
    config: &StoreConfig,
    copy: &Path,
    repository: [u8; 16],
) -> Result<Arc<dyn Sweep>, StoreError> {
    lochan_storage_odb_sled::copy_damaged(&config.path, copy, repository)?;
    let config = SledConfig { path: copy.to_owned(), ..sled_config(config) };
    match SledStore::salvage(&config) {
        Ok(store) => Ok(Arc::new(store)),
        Err(StoreError::Open(_) | StoreError::Corrupt { .. } | StoreError::Read(_)) => {
            Ok(Arc::new(Memory::of(repository)))
        }
        Err(error) => Err(error),
    }
}

fn sled_config(config: &StoreConfig) -> SledConfig {
    let durability = match config.durability {
        Durability::Fsync => lochan_storage_odb_sled::Durability::Fsync,
        Durability::Os => lochan_storage_odb_sled::Durability::Os,
    };
    SledConfig {
        path: config.path.clone(),
        cache_bytes: config.cache_bytes,
        durability,
        reserve_bytes: config.reserve_bytes,
        replay_bytes: config.replay_bytes,
    }
}

/// A word that names no known choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownChoice {
    /// What was to be chosen.
    pub what: &'static str,
    /// The word given.
    pub found: String,
    /// The words known.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} '{}', known are: {}", self.what, self.found, self.known.join(", "))
    }
}

impl std::error::Error for UnknownChoice {}

impl Engine {
    /// The words of the configuration.
    pub const NAMES: [&'static str; 2] = ["sled", "memory"];

    /// Its word in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Memory => "memory",
        }
    }
}

impl FromStr for Engine {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "sled" => Ok(Self::Sled),
            "memory" => Ok(Self::Memory),
            _ => Err(UnknownChoice { what: "store engine", found: text.into(), known: &Self::NAMES }),
        }
    }
}

impl Durability {
    /// The words of the configuration.
    pub const NAMES: [&'static str; 2] = ["fsync", "os"];

    /// Its word in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fsync => "fsync",
            Self::Os => "os",
        }
    }
}

impl FromStr for Durability {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "fsync" => Ok(Self::Fsync),
            "os" => Ok(Self::Os),
            _ => Err(UnknownChoice { what: "durability", found: text.into(), known: &Self::NAMES }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn opens_every_engine() {
        for engine in Engine::NAMES {
            for durability in Durability::NAMES {
                let folder = tempfile::tempdir().unwrap();
                let config = StoreConfig {
                    engine: engine.parse().unwrap(),
                    durability: durability.parse().unwrap(),
                    ..StoreConfig::new(folder.path().join("a/store"))
                };
                assert_eq!((config.engine.name(), config.durability.name()), (engine, durability));
                let store = open(&config).unwrap();
                assert_eq!(store.references(None, 10).await.unwrap(), []);
                assert_eq!(store.begin_epoch().await.unwrap(), 1);
            }
        }
    }

    #[test]
    fn unknown_words_name_the_known_ones() {
        let text = "Sled".parse::<Engine>().unwrap_err().to_string();
        assert_eq!(text, "unknown store engine 'Sled', known are: sled, memory");
        assert!("none".parse::<Durability>().is_err());
    }
}
