//! Making a commit of a draft, on a parent that need not be durable yet.

use std::sync::Arc;

use bytes::Bytes;
use lochan_storage_model::{Commit, CommitId, Micros, ObjectKind, Operation, Put, commit::Header};
use lochan_storage_odb::{DerivedWrite, NewObject};

use super::Draft;
use crate::{error::Error, graph::Step, index::Tree, state::Core};

/// A commit that is in memory only. Until it is durable it stands among the unsynced ones of [`crate::graph::Commits`]:
/// its maker says `synced` or `forget` in the end.
pub(crate) struct Made {
    /// Its id.
    pub(crate) id: CommitId,
    /// The commit.
    pub(crate) commit: Arc<Commit>,
    /// Its index.
    pub(crate) tree: Tree,
    /// Its bytes, behind those of the draft's objects.
    pub(crate) objects: Vec<NewObject>,
    /// Derived rows of the draft.
    pub(crate) derived: Vec<DerivedWrite>,
}

/// Makes the commit of `draft` on a parent whose index is `tree`. Its time is `time`, or one microsecond after the parent's.
pub(crate) async fn make(
    core: &Core,
    (parent, first): (CommitId, Step),
    tree: &Tree,
    draft: Draft,
    time: Micros,
) -> Result<Made, Error> {
    let tree = tree.edit(&core.nodes, &draft.edits).await?;
    let mut generation = first.generation;
    for other in &draft.merge_parents {
        generation = generation.max(core.commits.step(*other).await?.generation);
    }
    let mut parents = Vec::with_capacity(1 + draft.merge_parents.len());
    parents.push(parent);
    parents.extend(draft.merge_parents);
    let commit = Commit {
        header: Header {
            parents,
            depth: first.depth + 1,
            generation: generation + 1,
            skip: core.commits.skip_for(parent, first).await?,
            time: time.max(first.time.saturating_add(1)),
            root: tree.id(),
        },
        meta: draft.meta,
        attachments: draft.attachments,
        operations: draft
            .edits
            .into_iter()
            .map(|edit| match edit.entry {
                Some(entry) => Operation::Put(Put { key: edit.key, entry }),
                None => Operation::Delete(edit.key),
            })
            .collect(),
    };
    let bytes = Bytes::from(commit.encode());
    let id = Commit::id_of(&bytes);
    let commit = Arc::new(commit);
    // It may stand in the caches before it is durable; a failure takes it out.
    core.commits.keep_unsynced(id, commit.clone(), bytes.len());
    let mut objects = draft.objects;
    objects.push(NewObject { kind: ObjectKind::Commit, id: id.object(), bytes });
    Ok(Made { id, commit, tree, objects, derived: draft.derived })
}
