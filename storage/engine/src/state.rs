//! Indexes of commits: finding them in memory, from a checkpoint, or from operations.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use lochan_storage_model::{
    Clock, Commit, CommitId, Content, ContentKey, Entry, IndexKey, ObjectKind, RefName, Rng, SystemPath,
    Value,
};
use lochan_storage_odb::{DerivedSpace, Reference, Store, StoreError};

use crate::{
    cache::{self, Cache},
    engine::Options,
    error::Error,
    graph::Commits,
    index::{Diff, DiffEntry, Edit, Item, Link, Nodes, Range, Scan, Tree},
    merge::Rules,
};

/// An index rebuilt over more edits than this counts as a large one.
const REBUILT_EDITS: usize = 1_024;
/// Large rebuilt indexes kept at hand.
const REBUILT_KEPT: usize = 8;

/// Everything the engine's parts share.
pub struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) commits: Commits,
    pub(crate) nodes: Nodes,
    pub(crate) trees: Cache<CommitId, Indexed>,
    /// Indexes rebuilt over many operations: each holds many nodes that no other shares.
    rebuilt: Cache<CommitId, Indexed>,
    pub(crate) rules: Rules,
    pub(crate) options: Options,
}

/// A reference and the index it points at, read together.
#[derive(Debug, Clone)]
pub struct Head {
    /// The reference.
    pub reference: Reference,
    /// Its index.
    pub tree: Tree,
}

/// An index in memory, and how far it is from a checkpoint.
#[derive(Debug, Clone, Default)]
pub(crate) struct Indexed {
    pub(crate) tree: Tree,
    pub(crate) pending: Pending,
}

/// What lies between a commit and the checkpoint its index was rebuilt from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pending {
    /// Commits.
    pub commits: u64,
    /// Their operations.
    pub operations: u64,
}

impl Core {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        rules: Rules,
        options: Options,
    ) -> Self {
        Self {
            commits: Commits::new(store.clone(), options.commit_cache_bytes),
            nodes: Nodes::new(store.clone(), options.node_cache_bytes),
            trees: cache::counted(options.trees_kept),
            rebuilt: cache::counted(REBUILT_KEPT),
            store,
            clock,
            rng,
            rules,
            options,
        }
    }

    /// The reference, or [`Error::ReferenceNotFound`].
    pub(crate) async fn reference(&self, name: &RefName) -> Result<Reference, Error> {
        self.store.reference(name).await?.ok_or_else(|| Error::ReferenceNotFound(name.to_string()))
    }

    /// The head of a reference.
    pub(crate) async fn head(&self, name: &RefName) -> Result<Head, Error> {
        let reference = self.reference(name).await?;
        let tree = self.tree(reference.target).await?;
        Ok(Head { reference, tree })
    }

    /// The index of a commit.
    pub(crate) async fn tree(&self, commit: CommitId) -> Result<Tree, Error> {
        Ok(self.indexed(commit).await?.tree)
    }

    /// The index of a commit, and how far it is from a checkpoint.
    pub(crate) async fn indexed(&self, commit: CommitId) -> Result<Indexed, Error> {
        if commit.is_no_ancestor() {
            return Ok(Indexed::default());
        }
        match self.kept(commit) {
            Some(found) => Ok(found),
            None => self.replay(commit, true).await,
        }
    }

    /// Lets go of all indexes in memory.
    pub(crate) fn forget_indexes(&self) {
        self.trees.clear();
        self.rebuilt.clear();
    }

    /// The index of a commit if it is in memory.
    fn kept(&self, commit: CommitId) -> Option<Indexed> {
        self.trees.get(&commit).or_else(|| self.rebuilt.get(&commit))
    }

    /// The index of a commit rebuilt from the nearest index in memory or checkpoint, or, without `shortcuts`, from its
    /// operations alone.
    pub(crate) async fn replay(&self, commit: CommitId, shortcuts: bool) -> Result<Indexed, Error> {
        let mut net: BTreeMap<IndexKey, Option<Entry>> = BTreeMap::new();
        let mut pending = Pending::default();
        let mut at = commit;
        let base = loop {
            if at.is_no_ancestor() {
                break Tree::default();
            }
            if shortcuts && let Some(found) = self.kept(at) {
                pending.commits += found.pending.commits;
                pending.operations += found.pending.operations;
                break found.tree;
            }
            let loaded = self.commits.load(at).await?;
            if shortcuts && let Some(tree) = self.checkpoint(at, &loaded).await? {
                break tree;
            }
            for operation in &loaded.operations {
                net.entry(operation.key().clone()).or_insert_with(|| operation.entry().cloned());
            }
            pending.commits += 1;
            pending.operations += loaded.operations.len() as u64;
            at = loaded.header.parent();
        };
        let edits: Vec<Edit> = net.into_iter().map(|(key, entry)| Edit { key, entry }).collect();
        let tree = match base.edit(&self.nodes, &edits).await {
            // A checkpoint has outlived its nodes. Boxed, for a rebuild replays in turn, though without shortcuts.
            Err(Error::IndexNode(_)) if shortcuts => {
                Box::pin(self.rebuild(at)).await?.edit(&self.nodes, &edits).await?
            }
            tree => tree?,
        };
        let root = self.commits.load(commit).await?.header.root;
        if tree.id() != root {
            let detail = format!("its operations give the index root {} instead of {root}", tree.id());
            return Err(Error::corrupt(format!("commit {commit}"), detail));
        }
        let found = Indexed { tree, pending };
        let kept = if edits.len() > REBUILT_EDITS { &self.rebuilt } else { &self.trees };
        kept.insert(commit, found.clone());
        Ok(found)
    }

    async fn checkpoint(&self, id: CommitId, commit: &Commit) -> Result<Option<Tree>, Error> {
        if commit.header.root == Tree::empty_id() {
            return Ok(Some(Tree::default()));
        }
        let Some(row) = self.store.derived(DerivedSpace::Checkpoint, id.as_bytes()).await? else {
            return Ok(None);
        };
        // A damaged row is no checkpoint: the operations are the truth.
        let Ok(link) = Link::decode_root(commit.header.root, &row) else { return Ok(None) };
        match self.nodes.load(&link).await {
            // The row is vouched for by no hash, the node is.
            Ok(node) => Ok(link.fits(&node).then(|| Tree::from_root(Some(link)))),
            Err(Error::IndexNode(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Rebuilds an index whose stored nodes are damaged, from operations alone, and stores it anew.
    pub(crate) async fn rebuild(&self, commit: CommitId) -> Result<Tree, Error> {
        if commit.is_no_ancestor() {
            // What failed was another index: of a head that has moved since, or of the other side of a diff.
            return Ok(Tree::default());
        }
        tracing::warn!(commit.id = %commit, "an index node is missing or damaged, rebuilding the index from operations");
        let tree = self.replay(commit, false).await?.tree;
        let tree = match crate::writer::store_checkpoint(self, commit, &tree).await {
            Ok(saved) => crate::index::forget_saved(&tree, &saved),
            // Reads go on where writes are refused: the index stays in memory.
            Err(error) => {
                tracing::warn!(commit.id = %commit, error = %error, "a rebuilt index was not stored");
                tree
            }
        };
        self.rebuilt.remove(&commit);
        self.trees.insert(commit, Indexed { tree: tree.clone(), pending: Pending::default() });
        Ok(tree)
    }

    /// The content of an entry.
    pub(crate) async fn content(&self, entry: &Entry) -> Result<Content, Error> {
        let content = match &entry.value {
            Value::Inline(bytes) => Content::decode(entry.content_type, bytes),
            Value::Stored(id) => {
                let bytes = self.store.object(ObjectKind::Value, *id).await?;
                let bytes = bytes.ok_or_else(|| Error::corrupt(format!("value {id}"), "it is missing"))?;
                Content::decode(entry.content_type, &bytes)
            }
        };
        content.map_err(|error| StoreError::undecodable("a content", &error).into())
    }
}

/// The state at a commit. Heals itself: where a stored node is damaged, the index is rebuilt from operations.
#[derive(Clone)]
pub struct State {
    core: Arc<Core>,
    commit: CommitId,
    tree: Tree,
}

impl State {
    pub(crate) const fn new(core: Arc<Core>, commit: CommitId, tree: Tree) -> Self {
        Self { core, commit, tree }
    }

    /// The commit.
    #[must_use]
    pub const fn commit(&self) -> CommitId {
        self.commit
    }

    /// The index.
    #[must_use]
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The entry of a key of either domain.
    pub async fn entry(&self, key: &IndexKey) -> Result<Option<Entry>, Error> {
        match self.tree.get(&self.core.nodes, key).await {
            Err(Error::IndexNode(_)) => {
                self.core.rebuild(self.commit).await?.get(&self.core.nodes, key).await
            }
            found => found,
        }
    }

    /// The content of a key, with its entry.
    pub async fn content(&self, key: &ContentKey) -> Result<Option<(Entry, Content)>, Error> {
        let Some(entry) = self.entry(&key.index_key()).await? else { return Ok(None) };
        let content = self.core.content(&entry).await?;
        Ok(Some((entry, content)))
    }

    /// The canonical JSON of a value of the system map.
    pub async fn system(&self, path: &SystemPath) -> Result<Option<Vec<u8>>, Error> {
        let Some(entry) = self.entry(&path.index_key()).await? else { return Ok(None) };
        match self.core.content(&entry).await? {
            Content::System(json) => Ok(Some(json)),
            _ => Err(Error::corrupt(format!("system value {path}"), "it is a content")),
        }
    }

    /// The content of an entry read from this state.
    pub async fn content_of(&self, entry: &Entry) -> Result<Content, Error> {
        self.core.content(entry).await
    }

    /// The entries of a range, in key order.
    pub async fn entries(&self, range: &Range) -> Result<Entries, Error> {
        let scan = match Scan::new(&self.tree, &self.core.nodes, range).await {
            Err(Error::IndexNode(_)) => {
                Scan::new(&self.core.rebuild(self.commit).await?, &self.core.nodes, range).await?
            }
            scan => scan?,
        };
        Ok(Entries { state: self.clone(), scan, rest: range.clone() })
    }

    /// The keys of a range that differ from `to`, in key order.
    pub async fn diff(&self, to: &Self, range: &Range) -> Result<Changes, Error> {
        let mut changes = Changes {
            from: self.clone(),
            to: to.clone(),
            diff: Diff::new(&Tree::default(), &Tree::default(), &self.core.nodes, range).await?,
            rest: range.clone(),
        };
        match Diff::new(&self.tree, &to.tree, &self.core.nodes, range).await {
            Err(Error::IndexNode(_)) => changes.heal().await?,
            diff => changes.diff = diff?,
        }
        Ok(changes)
    }
}

/// Entries of a range.
pub struct Entries {
    state: State,
    scan: Scan,
    rest: Range,
}

impl Entries {
    /// The next entry.
    pub async fn next(&mut self) -> Result<Option<Arc<Item>>, Error> {
        let nodes = &self.state.core.nodes;
        let item = match self.scan.next(nodes).await {
            Err(Error::IndexNode(_)) => {
                let tree = self.state.core.rebuild(self.state.commit).await?;
                self.scan = Scan::new(&tree, nodes, &self.rest).await?;
                self.scan.next(nodes).await?
            }
            item => item?,
        };
        if let Some(item) = &item {
            self.rest.start = after(&item.key);
        }
        Ok(item)
    }
}

/// Keys that differ between two states.
pub struct Changes {
    from: State,
    to: State,
    diff: Diff,
    rest: Range,
}

impl Changes {
    /// The next key that differs.
    pub async fn next(&mut self) -> Result<Option<DiffEntry>, Error> {
        let entry = match self.diff.next(&self.from.core.nodes).await {
            Err(Error::IndexNode(_)) => {
                self.heal().await?;
                self.diff.next(&self.from.core.nodes).await?
            }
            entry => entry?,
        };
        if let Some(entry) = &entry {
            self.rest.start = after(&entry.key);
        }
        Ok(entry)
    }

    /// All of them.
    pub async fn all(mut self) -> Result<Vec<DiffEntry>, Error> {
        let mut all = Vec::new();
        while let Some(entry) = self.next().await? {
            all.push(entry);
        }
        Ok(all)
    }

    async fn heal(&mut self) -> Result<(), Error> {
        let core = self.from.core.clone();
        let from = core.rebuild(self.from.commit).await?;
        let to = core.rebuild(self.to.commit).await?;
        self.diff = Diff::new(&from, &to, &core.nodes, &self.rest).await?;
        Ok(())
    }
}

/// The first key bytes behind a key.
fn after(key: &IndexKey) -> Vec<u8> {
    let mut bytes = key.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// Ids of nodes that are stored now.
pub(crate) type Saved = HashSet<lochan_storage_model::ObjectId>;
