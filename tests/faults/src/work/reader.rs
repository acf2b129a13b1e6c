//! Reads beside the script: nothing that was shown may go back, whatever the disk does.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use lochan_storage::{StoreError, Sweep};
use lochan_storage_model::RefName;
use tokio::task::JoinHandle;

use super::marks::ROWS_MAX;

/// Pause between two reads: short, so that some fall between a failure and whoever notices it.
const PAUSE: Duration = Duration::from_millis(1);

/// A task that reads again and again.
pub(super) struct Reader {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Result<()>>,
}

impl Reader {
    pub(super) fn start(store: &Arc<dyn Sweep>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(read(Arc::clone(store), Arc::clone(&stop)));
        Self { stop, task }
    }

    /// Ends it; fails if it has seen something go back, or could not read.
    pub(super) async fn end(self) -> Result<()> {
        self.stop.store(true, Ordering::Release);
        self.task.await.context("the reader panicked")?
    }
}

async fn read(store: Arc<dyn Sweep>, stop: Arc<AtomicBool>) -> Result<()> {
    let mut seen: BTreeMap<RefName, u64> = BTreeMap::new();
    while !stop.load(Ordering::Acquire) {
        match store.references(None, ROWS_MAX).await {
            Ok(found) => {
                for reference in found {
                    let before = seen.insert(reference.name.clone(), reference.number).unwrap_or_default();
                    let (name, now) = (&reference.name, reference.number);
                    ensure!(before <= now, "a reader saw change {before} of {name}, then {now}");
                }
            }
            // The store is being opened anew.
            Err(StoreError::Read(_)) => {}
            Err(error) => return Err(error).context("a read beside the script"),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
