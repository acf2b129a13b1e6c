//! Which commits changed a key.
//!
//! ```text
//! row key = first 16 bytes of BLAKE3(index key) · depth u64 big-endian · first 8 bytes of the commit id
//! row value = commit id
//! ```
//!
//! Rows are only looked up by exact key, and embedded engines like short keys; the commit itself tells a collision.
//! Rows are written with a checkpoint, for the commits since the one before; what is newer is read from the commits
//! themselves. So a commit pays nothing for them, and a crash loses none that the next checkpoint does not write again.

use bytes::Bytes;
use lochan_storage_model::{Commit, CommitId, IndexKey, ObjectId};
use lochan_storage_odb::{DerivedSpace, DerivedWrite};

use super::LogEntry;
use crate::{engine::Engine, error::Error, index::Tree, state::Core};

/// Rows written in one piece.
const ROWS_PER_WRITE: usize = 256;
/// Bytes of a key's hash in a row key.
const KEY_HASH_BYTES: usize = 16;
/// Rows read in one piece.
const ROWS_PER_READ: usize = 256;

fn row_prefix(key: &IndexKey) -> Vec<u8> {
    blake3::hash(key.as_bytes()).as_bytes().iter().take(KEY_HASH_BYTES).copied().collect()
}

/// The rows of all commits from `commit` down to the nearest checkpoint below it, in sorted pieces.
pub(crate) async fn history_rows(core: &Core, commit: CommitId) -> Result<Vec<Vec<DerivedWrite>>, Error> {
    let mut rows = Vec::new();
    let mut at = commit;
    while !at.is_no_ancestor() {
        let loaded = core.commits.load(at).await?;
        if at != commit && is_checkpoint(core, at, &loaded.header.root).await? {
            break;
        }
        for operation in &loaded.operations {
            let mut key = row_prefix(operation.key());
            key.extend_from_slice(&loaded.header.depth.to_be_bytes());
            key.extend(at.as_bytes().iter().take(8));
            let value = Some(Bytes::copy_from_slice(at.as_bytes()));
            rows.push(DerivedWrite { space: DerivedSpace::KeyHistory, key: key.into(), value });
        }
        at = loaded.header.parent();
    }
    rows.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let mut pieces = Vec::with_capacity(rows.len() / ROWS_PER_WRITE + 1);
    let mut rows = rows.into_iter();
    loop {
        let piece: Vec<DerivedWrite> = rows.by_ref().take(ROWS_PER_WRITE).collect();
        if piece.is_empty() {
            break;
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

async fn is_checkpoint(core: &Core, id: CommitId, root: &ObjectId) -> Result<bool, Error> {
    Ok(*root != Tree::empty_id()
        && core.store.derived(DerivedSpace::Checkpoint, id.as_bytes()).await?.is_some())
}

impl Engine {
    /// At most `limit` commits on the first-parent chain of `start` (itself included) that changed `key`, newest first.
    /// To go on, start at the parent of the last one. Costs the commits since the last checkpoint, then O(log) each.
    pub async fn key_history(
        &self,
        start: CommitId,
        key: &IndexKey,
        limit: usize,
    ) -> Result<Vec<LogEntry>, Error> {
        let core = &self.core;
        let mut found = Vec::new();
        let mut at = start;
        while found.len() < limit && !at.is_no_ancestor() {
            let commit = core.commits.load(at).await?;
            if is_checkpoint(core, at, &commit.header.root).await? {
                break;
            }
            let parent = commit.header.parent();
            if touches(&commit, key) {
                found.push(LogEntry { id: at, commit });
            }
            at = parent;
        }
        if at.is_no_ancestor() || found.len() >= limit {
            return Ok(found);
        }
        let prefix = row_prefix(key);
        let mut from = prefix.clone();
        from.extend_from_slice(&core.commits.depth(at).await?.to_be_bytes());
        from.extend_from_slice(&[0xff; 8]);
        loop {
            let rows = core
                .store
                .derived_scan(DerivedSpace::KeyHistory, &prefix, Some(&from), true, ROWS_PER_READ)
                .await?;
            for (_, value) in &rows {
                let Ok(bytes) = <[u8; 32]>::try_from(&value[..]) else { continue };
                let id = CommitId::new(ObjectId::from_bytes(bytes));
                // Rows of other branches stand beside ours, swept commits among them.
                let Some(commit) = core.commits.find(id).await? else { continue };
                if touches(&commit, key) && core.commits.is_ancestor(id, at).await? {
                    found.push(LogEntry { id, commit });
                    if found.len() >= limit {
                        return Ok(found);
                    }
                }
            }
            match rows.last() {
                // The bytes just before the last row read.
                Some((last, _)) if rows.len() == ROWS_PER_READ => from = before(last),
                _ => return Ok(found),
            }
        }
    }
}

fn touches(commit: &Commit, key: &IndexKey) -> bool {
    commit.operations.binary_search_by(|operation| operation.key().cmp(key)).is_ok()
}

/// The greatest row key below `key`, for keys that end in a fixed-width number.
fn before(key: &[u8]) -> Vec<u8> {
    let mut bytes = key.to_vec();
    for byte in bytes.iter_mut().rev() {
        let borrow = *byte == 0;
        *byte = byte.wrapping_sub(1);
        if !borrow {
            break;
        }
    }
    bytes
}
