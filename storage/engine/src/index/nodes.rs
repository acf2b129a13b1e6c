//! Loading nodes through a bounded cache.

use std::sync::Arc;

use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{DerivedSpace, Store};
use quick_cache::Weighter;

use super::node::{Link, Node};
use crate::{
    cache::{self, Cache},
    error::Error,
};

#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<ObjectId, Arc<Node>> for ByBytes {
    fn weight(&self, _: &ObjectId, node: &Arc<Node>) -> u64 {
        node.weight() as u64
    }
}

/// Stored nodes, and the ones in use kept in memory up to a bound of bytes.
pub struct Nodes {
    store: Arc<dyn Store>,
    cache: Cache<ObjectId, Arc<Node>, ByBytes>,
}

impl Nodes {
    /// Nodes of `store`, keeping about `cache_bytes` of them in memory.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, cache_bytes: u64) -> Self {
        // The estimate of items only sizes the table; it grows with use.
        Self { store, cache: cache::weighted(1_024, cache_bytes, ByBytes) }
    }

    /// The node behind a link.
    ///
    /// A node that is missing or damaged in the store is [`Error::IndexNode`]: the caller rebuilds the index from
    /// operations.
    pub async fn load(&self, link: &Link) -> Result<Arc<Node>, Error> {
        if let Some(node) = &link.fresh {
            return Ok(node.clone());
        }
        if let Some(node) = self.cache.get(&link.id) {
            return Ok(node);
        }
        let node = Arc::new(self.read(link.id).await?);
        self.cache.insert(link.id, node.clone());
        Ok(node)
    }

    async fn read(&self, id: ObjectId) -> Result<Node, Error> {
        let bytes = self.store.derived(DerivedSpace::Node, id.as_bytes()).await?;
        let bytes = bytes.ok_or(Error::IndexNode(id))?;
        if ObjectId::of(ObjectKind::IndexNode, &bytes) != id {
            return Err(Error::IndexNode(id));
        }
        Node::decode(&bytes).map_err(|_| Error::IndexNode(id))
    }

    /// Keeps a node that has just been stored.
    pub(crate) fn keep(&self, id: ObjectId, node: Arc<Node>) {
        self.cache.insert(id, node);
    }
}
