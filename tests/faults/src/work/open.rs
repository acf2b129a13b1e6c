//! Opening what the work is done on.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::{Result, bail};
use lochan_storage::{StoreConfig, StoreError, Sweep};
use lochan_storage_engine::{Engine, Options, merge::Rules};
use lochan_storage_model::{
    ContentKey, RefName,
    ports::{SystemClock, SystemRng},
};
use lochan_storage_odb::{Store, Writes};

/// Folder of the store in the data folder.
const STORE: &str = "store";
/// Commits between two checkpoints: few, so that a short run has many.
const CHECKPOINT_COMMITS: u64 = 40;
/// Log between two snapshots of the store: as little as can be, so that a short run has several.
const REPLAY_BYTES: u64 = 512 * 1024;
/// Longest wait for a store to take writes again.
const RESUME_WAIT_MAX: Duration = Duration::from_secs(30);
const RESUME_PAUSE: Duration = Duration::from_millis(5);

/// Opens the store of a data folder.
pub(super) fn open_store(data: &Path) -> Result<Arc<dyn Sweep>, StoreError> {
    // The page cache is small, so that pages are read from the file.
    let config = StoreConfig {
        cache_bytes: 1 << 20,
        replay_bytes: REPLAY_BYTES,
        ..StoreConfig::new(data.join(STORE))
    };
    lochan_storage::open(&config)
}

/// Opens the store of a data folder whose engine was stopped a moment ago in this process: one of its tasks may still hold
/// the store, and is given the time to end.
pub(super) async fn open_again(data: &Path) -> Result<Arc<dyn Sweep>, StoreError> {
    let begun = std::time::Instant::now();
    let own = format!("in use by process {} ", std::process::id());
    loop {
        match open_store(data) {
            Err(StoreError::Open(why)) if why.contains(&own) && begun.elapsed() < RESUME_WAIT_MAX => {
                tokio::time::sleep(RESUME_PAUSE).await;
            }
            opened => return opened,
        }
    }
}

/// Starts an engine on it.
pub(super) fn start_engine(store: &Arc<dyn Sweep>) -> Result<Engine> {
    let store: Arc<dyn Store> = store.clone();
    let options = Options { checkpoint_commits_min: CHECKPOINT_COMMITS, ..Options::default() };
    Ok(Engine::start(store, Arc::new(SystemClock), Arc::new(SystemRng), Rules::default(), options)?)
}

/// Waits until writes are taken again.
pub(super) async fn resumed(store: &dyn Sweep) -> Result<()> {
    let begun = std::time::Instant::now();
    while store.writes() != Writes::Allowed || store.unreadable().is_some() {
        if begun.elapsed() > RESUME_WAIT_MAX {
            bail!("writes were not taken again: {:?}", store.writes());
        }
        tokio::time::sleep(RESUME_PAUSE).await;
    }
    Ok(())
}

pub(super) fn name(text: &str) -> Result<RefName> {
    Ok(RefName::new(text)?)
}

pub(super) fn key(text: String) -> Result<ContentKey> {
    Ok(ContentKey::new([text])?)
}
