//! Loading commits through a bounded cache.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lochan_storage_model::{Commit, CommitId, ObjectKind, commit::Header};
use lochan_storage_odb::{Store, StoreError};
use quick_cache::Weighter;

use crate::{
    cache::{self, Cache},
    error::Error,
};

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<CommitId, (Arc<Commit>, u32)> for ByBytes {
    fn weight(&self, _: &CommitId, commit: &(Arc<Commit>, u32)) -> u64 {
        u64::from(commit.1)
    }
}

/// Stored commits, and the ones in use kept in memory up to a bound of bytes.
pub struct Commits {
    store: Arc<dyn Store>,
    cache: Cache<CommitId, (Arc<Commit>, u32), ByBytes>,
    /// Commits of batches that are not durable yet. The store has none of them, and later commits of the same batch stand
    /// on them, so no bound of the cache may take them away.
    unsynced: Mutex<HashMap<CommitId, Arc<Commit>>>,
}

impl Commits {
    /// Commits of `store`, keeping about `cache_bytes` of them in memory.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, cache_bytes: u64) -> Self {
        Self { store, cache: cache::weighted(1_024, cache_bytes, ByBytes), unsynced: Mutex::default() }
    }

    /// The commit, or [`Error::CommitNotFound`]. The empty state is no commit.
    pub async fn load(&self, id: CommitId) -> Result<Arc<Commit>, Error> {
        self.find(id).await?.ok_or(Error::CommitNotFound(id))
    }

    /// The commit, or `None`.
    pub async fn find(&self, id: CommitId) -> Result<Option<Arc<Commit>>, Error> {
        if let Some((commit, _)) = self.cache.get(&id) {
            return Ok(Some(commit));
        }
        if id.is_no_ancestor() {
            return Ok(None);
        }
        if let Some(commit) = self.unsynced().get(&id) {
            return Ok(Some(commit.clone()));
        }
        let Some(bytes) = self.store.object(ObjectKind::Commit, id.object()).await? else { return Ok(None) };
        let commit =
            Commit::decode(&bytes).map_err(|e| StoreError::undecodable(format!("commit {id}"), &e))?;
        let commit = Arc::new(commit);
        self.keep(id, commit.clone(), bytes.len());
        Ok(Some(commit))
    }

    /// The header of a commit.
    pub(crate) async fn header(&self, id: CommitId) -> Result<Header, Error> {
        Ok(self.load(id).await?.header.clone())
    }

    /// Depth along first parents; 0 for the empty state.
    pub async fn depth(&self, id: CommitId) -> Result<u64, Error> {
        if id.is_no_ancestor() { Ok(0) } else { Ok(self.load(id).await?.header.depth) }
    }

    /// Forgets a commit that did not become durable.
    pub(crate) fn forget(&self, id: CommitId) {
        self.unsynced().remove(&id);
        self.cache.remove(&id);
    }

    /// Keeps a commit that was just made and is not durable yet, until [`Commits::synced`] or [`Commits::forget`].
    pub(crate) fn keep_unsynced(&self, id: CommitId, commit: Arc<Commit>, size: usize) {
        self.unsynced().insert(id, commit.clone());
        self.keep(id, commit, size);
    }

    /// Told that a commit is durable.
    pub(crate) fn synced(&self, id: CommitId) {
        self.unsynced().remove(&id);
    }

    fn unsynced(&self) -> MutexGuard<'_, HashMap<CommitId, Arc<Commit>>> {
        // Single insertions and removals leave nothing half done.
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a commit for a while; `size` is that of its bytes.
    pub(crate) fn keep(&self, id: CommitId, commit: Arc<Commit>, size: usize) {
        // Decoded commits take roughly twice their bytes and some hundred for the parts.
        let weight = u32::try_from(size * 2 + 400).unwrap_or(u32::MAX);
        self.cache.insert(id, (commit, weight));
    }
}
