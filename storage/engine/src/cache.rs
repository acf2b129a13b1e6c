//! The bounded caches. What they let go follows from what was asked of them, never from the machine or from chance, so
//! that a run can be replayed.

use std::hash::{BuildHasherDefault, Hash, Hasher};

use quick_cache::{
    OptionsBuilder, UnitWeighter, Weighter,
    sync::{self, DefaultLifecycle},
};

/// Shards of a cache, each with a lock of its own.
const SHARDS: usize = 16;

/// A cache by id, of one weight per item unless said otherwise.
pub(crate) type Cache<K, V, W = UnitWeighter> = sync::Cache<K, V, W, ById>;

/// Sorts ids into tables by their own bytes.
pub(crate) type ById = BuildHasherDefault<IdHasher>;

/// A cache of about `items`.
pub(crate) fn counted<K: Eq + Hash, V: Clone>(items: usize) -> Cache<K, V> {
    weighted(items, items as u64, UnitWeighter)
}

/// A cache of about `weight`; `items` only sizes its tables at first.
pub(crate) fn weighted<K, V, W>(items: usize, weight: u64, weighter: W) -> Cache<K, V, W>
where
    K: Eq + Hash,
    V: Clone,
    W: Weighter<K, V> + Clone,
{
    let mut options = OptionsBuilder::new();
    options.shards(SHARDS).estimated_items_capacity(items).weight_capacity(weight);
    #[expect(clippy::expect_used, reason = "everything that has no default is set above")]
    let options = options.build().expect("complete options");
    sync::Cache::with_options(options, weighter, ById::default(), DefaultLifecycle::default())
}

/// An id is a hash already: its first bytes are as good as any.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(self.0, |first| u64::from_le_bytes(*first));
    }

    /// The length of an id tells nothing.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
