//! Index roots, computed from operations alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::DerivedSpace;

use super::{Depth, PAGE, Report, commits::Graph};
use crate::{
    error::Error,
    index::{Cursor, Edit, Link, Tree},
    state::Core,
};

/// Commits between two words of progress.
const TOLD_EVERY: u64 = 10_000;

/// Replays every commit on its parent's index and compares roots, those of heads and checkpoints always, all of them
/// with [`Depth::Full`]; then reads the stored nodes of every checkpoint.
pub(super) async fn check_roots(
    core: &Core,
    graph: &Graph,
    depth: Depth,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<(), Error> {
    let checkpoints = checkpoints(core, report).await?;
    let mut marked: HashSet<CommitId> = checkpoints.keys().copied().collect();
    let mut after: Option<RefName> = None;
    loop {
        let page = core.store.references(after.as_ref(), PAGE).await?;
        marked.extend(page.iter().map(|reference| reference.target));
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.name),
            None => break,
        }
    }
    // Along first parents, from the roots up; an index is kept until its last child has been made from it.
    let mut children: HashMap<CommitId, Vec<CommitId>> = HashMap::new();
    for (id, header) in graph {
        children.entry(header.parent()).or_default().push(*id);
    }
    let mut open: Vec<(CommitId, Tree)> = vec![(CommitId::NO_ANCESTOR, Tree::default())];
    while let Some((at, tree)) = open.pop() {
        for child in children.remove(&at).unwrap_or_default() {
            let commit = match core.commits.load(child).await {
                Ok(commit) => commit,
                // Named already.
                Err(_) => continue,
            };
            let edits: BTreeMap<_, _> =
                commit.operations.iter().map(|op| (op.key().clone(), op.entry().cloned())).collect();
            let edits: Vec<Edit> = edits.into_iter().map(|(key, entry)| Edit { key, entry }).collect();
            let made = tree.edit(&core.nodes, &edits).await?;
            if depth == Depth::Full || marked.contains(&child) {
                report.roots += 1;
                if made.id() != commit.header.root {
                    let detail = format!(
                        "its operations give the index root {} instead of {}",
                        made.id(),
                        commit.header.root
                    );
                    report.damage(format!("commit {child}"), detail);
                }
                if report.roots.is_multiple_of(TOLD_EVERY) {
                    told("index roots", report);
                }
            }
            open.push((child, made));
        }
    }
    for (id, row) in checkpoints {
        let Some(header) = graph.get(&id) else {
            report.derived(format!("checkpoint of {id}"), "its commit is missing");
            continue;
        };
        match Link::decode_root(header.root, &row) {
            Ok(link) => check_nodes(core, id, link, report).await?,
            Err(error) => report.derived(format!("checkpoint of {id}"), error.to_string()),
        }
    }
    Ok(())
}

async fn checkpoints(core: &Core, report: &mut Report) -> Result<BTreeMap<CommitId, bytes::Bytes>, Error> {
    let mut found = BTreeMap::new();
    let mut from: Option<Vec<u8>> = None;
    loop {
        let page =
            core.store.derived_scan(DerivedSpace::Checkpoint, &[], from.as_deref(), false, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        let mut next = last.to_vec();
        next.push(0);
        from = Some(next);
        for (key, row) in page {
            report.checkpoints += 1;
            match <[u8; 32]>::try_from(&key[..]) {
                Ok(id) => {
                    found.insert(CommitId::new(lochan_storage_model::ObjectId::from_bytes(id)), row);
                }
                Err(_) => report.derived("a checkpoint", "its key is no commit id"),
            }
        }
    }
}

async fn check_nodes(core: &Core, id: CommitId, root: Link, report: &mut Report) -> Result<(), Error> {
    let count = root.count;
    let tree = Tree::from_root(Some(root));
    let mut cursor = Cursor::new(&tree);
    let mut entries = 0;
    loop {
        match cursor.next(&core.nodes).await {
            Ok(Some(_)) => entries += 1,
            Ok(None) => break,
            Err(Error::IndexNode(node)) => {
                report.derived(format!("checkpoint of {id}"), format!("node {node} is missing or damaged"));
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    if entries != count {
        report.derived(format!("checkpoint of {id}"), format!("{entries} entries instead of {count}"));
    }
    Ok(())
}
