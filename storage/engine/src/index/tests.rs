//! The index against an ordered map.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use lochan_storage_model::{Content, ContentId, ContentKey, Entry, IndexKey, SystemPath};
use lochan_storage_odb::{Store, memory::Memory};
use proptest::prelude::*;

use super::*;

fn nodes() -> (Arc<Memory>, Nodes) {
    let store = Arc::new(Memory::default());
    (store.clone(), Nodes::new(store, 1 << 20))
}

fn key(n: u32) -> IndexKey {
    if n % 7 == 3 {
        SystemPath::new(["p".to_owned(), format!("{n:05}")]).unwrap().index_key()
    } else {
        ContentKey::new([format!("n{}", n % 13), format!("t{n:05}")]).unwrap().index_key()
    }
}

fn entry(n: u32) -> Entry {
    Entry::of(ContentId::from_bytes([n as u8; 16]), &Content::System(format!("{n}").into_bytes())).0
}

type Model = BTreeMap<IndexKey, Entry>;

fn edits(changes: &[(u32, Option<u32>)]) -> Vec<Edit> {
    let map: BTreeMap<IndexKey, Option<Entry>> =
        changes.iter().map(|(k, v)| (key(*k), v.map(entry))).collect();
    map.into_iter().map(|(key, entry)| Edit { key, entry }).collect()
}

fn apply(model: &mut Model, edits: &[Edit]) {
    for edit in edits {
        match &edit.entry {
            Some(entry) => model.insert(edit.key.clone(), entry.clone()),
            None => model.remove(&edit.key),
        };
    }
}

async fn built(nodes: &Nodes, model: &Model) -> Tree {
    let all: Vec<Edit> =
        model.iter().map(|(key, entry)| Edit { key: key.clone(), entry: Some(entry.clone()) }).collect();
    Tree::default().edit(nodes, &all).await.unwrap()
}

async fn listed(nodes: &Nodes, tree: &Tree, range: &Range) -> Vec<(IndexKey, Entry)> {
    let mut scan = Scan::new(tree, nodes, range).await.unwrap();
    let mut out = Vec::new();
    while let Some(item) = scan.next(nodes).await.unwrap() {
        out.push((item.key.clone(), item.entry.clone()));
    }
    out
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn changes(max: usize) -> impl Strategy<Value = Vec<Vec<(u32, Option<u32>)>>> {
    let change = (0u32..600, prop::option::weighted(0.65, 0u32..50));
    prop::collection::vec(prop::collection::vec(change, 0..max), 0..12)
}

/// Some fifty keys each of level 0, 1, 2, and all of higher levels among the first numbers.
static KEYS_OF_MANY_LEVELS: LazyLock<Vec<IndexKey>> = LazyLock::new(|| {
    let mut of_level = [0; 16];
    (0..100_000)
        .map(key)
        .filter(|key| {
            let level = usize::from(node::level_of(key));
            of_level[level] += 1;
            level > 2 || of_level[level] <= 50
        })
        .collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Same entries, same root, however they came in; reads equal the model's.
    #[test]
    fn equals_the_map(batches in changes(120)) {
        run(async {
            let (_, nodes) = nodes();
            let mut model = Model::new();
            let mut tree = Tree::default();
            for batch in &batches {
                let batch = edits(batch);
                tree = tree.edit(&nodes, &batch).await.unwrap();
                apply(&mut model, &batch);
                prop_assert_eq!(tree.id(), built(&nodes, &model).await.id());
                prop_assert_eq!(tree.count(), model.len() as u64);
            }
            let all = listed(&nodes, &tree, &Range::all()).await;
            prop_assert_eq!(all, model.clone().into_iter().collect::<Vec<_>>());
            let content = listed(&nodes, &tree, &Range::content()).await;
            prop_assert!(content.iter().all(|(key, _)| key.is_content()));
            let system = listed(&nodes, &tree, &Range::system()).await;
            prop_assert_eq!(content.len() + system.len(), model.len());
            for n in 0..600 {
                let found = tree.get(&nodes, &key(n)).await.unwrap();
                prop_assert_eq!(found.as_ref(), model.get(&key(n)));
            }
            Ok(())
        })?;
    }

    /// One edit at a time gives the same root as all at once.
    #[test]
    fn single_edits_equal_bulk(batches in changes(40)) {
        run(async {
            let (_, nodes) = nodes();
            let mut model = Model::new();
            let mut tree = Tree::default();
            for change in batches.iter().flatten() {
                let one = edits(&[*change]);
                tree = tree.edit(&nodes, &one).await.unwrap();
                apply(&mut model, &one);
            }
            prop_assert_eq!(tree.id(), built(&nodes, &model).await.id());
            Ok(())
        })?;
    }

    /// Boundaries of every level come and go, also before the first key and in single edits of small trees.
    #[test]
    fn high_boundaries_come_and_go(
        batches in prop::collection::vec(prop::collection::vec((0usize..250, any::<bool>()), 1..20), 1..25),
    ) {
        run(async {
            let keys = &*KEYS_OF_MANY_LEVELS;
            let (_, nodes) = nodes();
            let mut model = Model::new();
            let mut tree = Tree::default();
            for batch in &batches {
                let map: BTreeMap<IndexKey, Option<Entry>> = batch
                    .iter()
                    .filter_map(|(at, put)| Some((keys.get(*at)?.clone(), put.then(|| entry(1)))))
                    .collect();
                let batch: Vec<Edit> = map.into_iter().map(|(key, entry)| Edit { key, entry }).collect();
                tree = tree.edit(&nodes, &batch).await.unwrap();
                apply(&mut model, &batch);
                prop_assert_eq!(tree.id(), built(&nodes, &model).await.id());
                prop_assert_eq!(tree.count(), model.len() as u64);
            }
            Ok(())
        })?;
    }

    /// A diff equals the difference of the maps, in every range.
    #[test]
    fn diff_equals_the_maps(first in changes(200), second in changes(30), from in 0u32..600, to in 0u32..600) {
        run(async {
            let (_, nodes) = nodes();
            let mut a = Model::new();
            for batch in &first { apply(&mut a, &edits(batch)); }
            let mut b = a.clone();
            for batch in &second { apply(&mut b, &edits(batch)); }
            let (left, right) = (built(&nodes, &a).await, built(&nodes, &b).await);
            let (start, end) = (key(from.min(to)), key(from.max(to)));
            for range in [
                Range::all(), Range::content(), Range::system(),
                Range { start: start.as_bytes().to_vec(), end: Some(end.as_bytes().to_vec()) },
            ] {
                let mut diff = Diff::new(&left, &right, &nodes, &range).await.unwrap();
                let mut found = Vec::new();
                while let Some(entry) = diff.next(&nodes).await.unwrap() { found.push(entry); }
                let mut expected = Vec::new();
                for key in a.keys().chain(b.keys()).collect::<std::collections::BTreeSet<_>>() {
                    if a.get(key) != b.get(key) && range.contains(key) {
                        expected.push(DiffEntry { key: key.clone(), from: a.get(key).cloned(), to: b.get(key).cloned() });
                    }
                }
                prop_assert_eq!(found, expected);
            }
            Ok(())
        })?;
    }

    /// A stored tree reads the same after everything in memory is gone.
    #[test]
    fn saved_trees_read_back(batches in changes(150), later in changes(20)) {
        run(async {
            let (store, nodes) = nodes();
            let mut model = Model::new();
            for batch in &batches { apply(&mut model, &edits(batch)); }
            let tree = built(&nodes, &model).await;
            let unsaved = Unsaved::of(&tree);
            for rows in unsaved.rows() { store.put_derived(rows).await.unwrap(); }
            let mut newer = tree.clone();
            for batch in &later {
                let batch = edits(batch);
                newer = newer.edit(&nodes, &batch).await.unwrap();
                apply(&mut model, &batch);
            }
            let saved = unsaved.saved(&nodes);
            let newer = forget_saved(&newer, &saved);
            let cold = Nodes::new(store.clone(), 1 << 20);
            prop_assert_eq!(listed(&cold, &newer, &Range::all()).await, model.into_iter().collect::<Vec<_>>());
            let Some(root) = forget_saved(&tree, &saved).root().cloned() else { return Ok(()) };
            prop_assert!(root.fresh.is_none());
            let again = Link::decode_root(root.id, &root.encode_root()).unwrap();
            let reopened = Tree::from_root(Some(again));
            prop_assert_eq!(listed(&cold, &reopened, &Range::all()).await.len() as u64, tree.count());
            Ok(())
        })?;
    }
}

#[test]
fn format_is_fixed() {
    run(async {
        let (_, nodes) = nodes();
        let model: Model = (0..40).map(|n| (key(n), entry(n))).collect();
        let tree = built(&nodes, &model).await;
        assert_eq!(
            Tree::empty_id().to_string(),
            include_str!("../golden/index-empty-v1.id").trim(),
            "root of the empty index"
        );
        assert_eq!(
            tree.id().to_string(),
            include_str!("../golden/index-40-v1.id").trim(),
            "root of forty entries"
        );
    });
}

#[test]
fn an_edit_of_a_large_tree_touches_one_path() {
    run(async {
        let (store, nodes) = nodes();
        let model: Model = (0..20_000).map(|n| (key(n), entry(n))).collect();
        let tree = built(&nodes, &model).await;
        let unsaved = Unsaved::of(&tree);
        for rows in unsaved.rows() {
            store.put_derived(rows).await.unwrap();
        }
        let tree = forget_saved(&tree, &unsaved.saved(&nodes));
        let edited = tree.edit(&nodes, &edits(&[(777, Some(1))])).await.unwrap();
        let fresh: usize = Unsaved::of(&edited).rows().map(|rows| rows.len()).sum();
        assert!(fresh <= 6, "{fresh} nodes");
    });
}
