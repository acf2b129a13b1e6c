//! Lines of writers: commits to one table of one branch wait for each other before anything is written, so that inside
//! one server none of them writes a file in vain.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lochan_storage_model::{ContentKey, RefName};
use tokio::sync::OwnedMutexGuard;

use crate::error::Error;

/// Longest wait for one's turn; below the time after which a write counts as not admitted.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// When to come back after waiting in vain.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Lines at once; more than writes can be at work.
const LINES_MAX: usize = 16_384;

type Key = (RefName, ContentKey);
type Turn = Arc<tokio::sync::Mutex<()>>;

/// The lines. A line exists while somebody stands in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<HashMap<Key, Turn>>>);

/// One's turn in some lines; given up on drop.
#[derive(Debug)]
pub(crate) struct Turns(Vec<Held>);

#[derive(Debug)]
struct Held {
    lines: Lines,
    key: Key,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Lines {
    /// Waits for the turn in the lines of all keys, taken in key order so that two writers never wait for each other.
    pub(crate) async fn wait(&self, branch: &RefName, keys: &[ContentKey]) -> Result<Turns, Error> {
        let mut keys: Vec<Key> = keys.iter().map(|key| (branch.clone(), key.clone())).collect();
        keys.sort();
        keys.dedup();
        let waiting = async {
            let mut turns = Turns(Vec::with_capacity(keys.len()));
            for key in keys {
                turns.0.push(self.one(key).await?);
            }
            Ok(turns)
        };
        tokio::time::timeout(WAIT_MAX, waiting).await.unwrap_or(Err(Error::Busy { retry_after: RETRY_AFTER }))
    }

    async fn one(&self, key: Key) -> Result<Held, Error> {
        // Made before the wait, so that a wait cut short leaves no empty line behind.
        let mut held = Held { lines: self.clone(), key: key.clone(), guard: None };
        let turn = {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() >= LINES_MAX && !lines.contains_key(&key) {
                return Err(Error::Busy { retry_after: RETRY_AFTER });
            }
            lines.entry(key).or_default().clone()
        };
        held.guard = Some(turn.lock_owned().await);
        Ok(held)
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut lines = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.guard = None;
        // Only the map itself still holds it: nobody stands in the line.
        if lines.get(&self.key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            lines.remove(&self.key);
        }
    }
}
