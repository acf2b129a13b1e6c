//! Which commits changed a key.
//!
//! ```text
//! of each checkpoint   head row   key = commit id 32                                  value = 1 · id of the checkpoint below 32
//!                      block      key = commit id 32 · hash 8 · number u32 big-endian   value = (hash 8 · depth u64 big-endian)*
//! ```
//!
//! A block holds hashes of keys (the first eight bytes of BLAKE3) with the depths of the commits that changed them, in
//! order; the hash in its row key is its first. Rows are written with a checkpoint, for the commits since the one before;
//! what is newer is read from the commits themselves. So a commit pays next to nothing for them, and a crash loses none
//! that the next checkpoint does not write again. The commits tell a collision of hashes.

use bytes::Bytes;
use lochan_storage_model::{Commit, CommitId, IndexKey, ObjectId};
use lochan_storage_odb::{DerivedSpace, DerivedWrite};

use super::LogEntry;
use crate::{engine::Engine, error::Error, index::Tree, state::Core};

/// Format version of head rows.
const FORMAT: u8 = 1;
/// Entries in a block: 2 KiB.
const BLOCK_ENTRIES: usize = 128;
/// Rows written in one piece.
const ROWS_PER_WRITE: usize = 32;
/// Bytes of a row key in front of a block's hash.
const COMMIT_BYTES: usize = 32;

type Hash = [u8; 8];

fn hash_of(key: &IndexKey) -> Hash {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(key.as_bytes()).as_bytes();
    [a, b, c, d, e, f, g, h]
}

/// The rows of all commits from `commit` down to the nearest checkpoint below it, in pieces; the head row last.
pub(crate) async fn history_rows(core: &Core, commit: CommitId) -> Result<Vec<Vec<DerivedWrite>>, Error> {
    let mut entries: Vec<(Hash, u64)> = Vec::new();
    let mut at = commit;
    while !at.is_no_ancestor() {
        let loaded = core.commits.load(at).await?;
        if at != commit && is_checkpoint(core, at, &loaded.header.root).await? {
            break;
        }
        let depth = loaded.header.depth;
        entries.extend(loaded.operations.iter().map(|operation| (hash_of(operation.key()), depth)));
        at = loaded.header.parent();
    }
    entries.sort_unstable();
    let mut rows: Vec<DerivedWrite> = Vec::with_capacity(entries.len() / BLOCK_ENTRIES + 2);
    for (number, block) in entries.chunks(BLOCK_ENTRIES).enumerate() {
        let mut key = Vec::with_capacity(COMMIT_BYTES + 12);
        key.extend_from_slice(commit.as_bytes());
        key.extend(block.first().map(|(hash, _)| *hash).unwrap_or_default());
        key.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
        let mut value = Vec::with_capacity(block.len() * 16);
        for (hash, depth) in block {
            value.extend_from_slice(hash);
            value.extend_from_slice(&depth.to_be_bytes());
        }
        rows.push(DerivedWrite {
            space: DerivedSpace::KeyHistory,
            key: key.into(),
            value: Some(value.into()),
        });
    }
    let mut head = vec![FORMAT];
    head.extend_from_slice(at.as_bytes());
    let key = Bytes::copy_from_slice(commit.as_bytes());
    rows.push(DerivedWrite { space: DerivedSpace::KeyHistory, key, value: Some(head.into()) });
    let mut pieces = Vec::with_capacity(rows.len() / ROWS_PER_WRITE + 1);
    let mut rows = rows.into_iter();
    loop {
        let piece: Vec<DerivedWrite> = rows.by_ref().take(ROWS_PER_WRITE).collect();
        if piece.is_empty() {
            return Ok(pieces);
        }
        pieces.push(piece);
    }
}

async fn is_checkpoint(core: &Core, id: CommitId, root: &ObjectId) -> Result<bool, Error> {
    Ok(*root != Tree::empty_id()
        && core.store.derived(DerivedSpace::Checkpoint, id.as_bytes()).await?.is_some())
}

/// The checkpoint below, if the history of this one is stored whole.
async fn below(core: &Core, id: CommitId) -> Result<Option<CommitId>, Error> {
    let row = core.store.derived(DerivedSpace::KeyHistory, id.as_bytes()).await?;
    // A damaged row is none: the commits are the truth.
    Ok(row
        .and_then(|row| match row.split_first() {
            Some((&FORMAT, id)) => <[u8; 32]>::try_from(id).ok(),
            _ => None,
        })
        .map(|id| CommitId::new(ObjectId::from_bytes(id))))
}

/// Depths at which a key of this hash was changed, between a checkpoint and the one below it, deepest last.
async fn depths(core: &Core, checkpoint: CommitId, hash: Hash) -> Result<Vec<u64>, Error> {
    let mut found = Vec::new();
    let mut from = checkpoint.as_bytes().to_vec();
    from.extend_from_slice(&hash);
    from.extend_from_slice(&[0xff; 4]);
    loop {
        let rows = core
            .store
            .derived_scan(DerivedSpace::KeyHistory, checkpoint.as_bytes(), Some(&from), true, 1)
            .await?;
        let Some((key, block)) = rows.into_iter().next() else { break };
        let Some(first) = key.get(COMMIT_BYTES..COMMIT_BYTES + 8) else { break };
        let matching = block.chunks_exact(16).filter_map(|entry| {
            let (own, depth) = entry.split_first_chunk::<8>()?;
            (*own == hash).then(|| depth.first_chunk::<8>().map(|depth| u64::from_be_bytes(*depth)))?
        });
        found.extend(matching);
        // Only where a block begins with the hash may the one before it end with it.
        if first != hash {
            break;
        }
        from = before(&key);
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

impl Engine {
    /// At most `limit` commits on the first-parent chain of `start` (itself included) that changed `key`, newest first.
    /// To go on, start at the parent of the last one. Costs the commits since the last checkpoint, a row or two for each
    /// checkpoint below, then O(log) for each commit found.
    pub async fn key_history(
        &self,
        start: CommitId,
        key: &IndexKey,
        limit: usize,
    ) -> Result<Vec<LogEntry>, Error> {
        let core = &self.core;
        let hash = hash_of(key);
        let mut found = Vec::new();
        let mut at = start;
        while found.len() < limit && !at.is_no_ancestor() {
            let Some(next) = below(core, at).await? else {
                let commit = core.commits.load(at).await?;
                let parent = commit.header.parent();
                if touches(&commit, key) {
                    found.push(LogEntry { id: at, commit });
                }
                at = parent;
                continue;
            };
            // A checkpoint that was stored twice, the first time before there was one below it, has rows that reach further.
            let covered = core.commits.depth(next).await?;
            let mut depths = depths(core, at, hash).await?;
            depths.dedup();
            for depth in depths.into_iter().filter(|depth| *depth > covered) {
                let id = core.commits.ancestor_at(at, depth).await?;
                let commit = core.commits.load(id).await?;
                if touches(&commit, key) {
                    found.push(LogEntry { id, commit });
                    if found.len() >= limit {
                        return Ok(found);
                    }
                }
            }
            at = next;
        }
        Ok(found)
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
