//! Index roots, computed from operations alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use lochan_storage_model::{CommitId, Entry, IndexKey, ObjectId, Operation, Put, RefName};
use lochan_storage_odb::DerivedSpace;

use super::{Depth, PAGE, Report, commits::Graph, operations::Operations};
use crate::{
    cache::ById,
    error::Error,
    index::{Edit, Link, Node, Tree},
    state::Core,
};

/// Index roots between two words of progress.
const TOLD_EVERY: u64 = 10_000;

/// Replays commits on their parents' indexes and compares roots, those of heads and checkpoints always, all of them with
/// [`Depth::Full`]; then reads the stored nodes of every checkpoint.
pub(super) async fn check_roots(
    core: &Core,
    graph: &Graph,
    mut operations: Operations,
    depth: Depth,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<(), Error> {
    let checkpoints = checkpoints(core, report).await?;
    let mut marked: HashSet<CommitId, ById> = checkpoints.keys().copied().collect();
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
    let mut children: HashMap<CommitId, Vec<CommitId>, ById> = HashMap::default();
    children.reserve(graph.len());
    for (id, header) in graph {
        children.entry(header.parent()).or_default().push(*id);
    }
    let mut open = vec![Place::default()];
    while let Some(mut place) = open.pop() {
        let Some((last, others)) = children.get(&place.at).and_then(|all| all.split_last()) else { continue };
        if !others.is_empty() {
            place.apply(core).await?;
        }
        let beside = others.iter().map(|other| (*other, place.clone())).collect::<Vec<_>>();
        for (child, mut place) in beside.into_iter().chain([(*last, place)]) {
            let Some(operations) = operations.take(core, child).await else { continue };
            place.at = child;
            place.take_in(operations);
            if depth == Depth::Full || marked.contains(&child) {
                place.apply(core).await?;
                place.compare(graph, report);
                if report.roots.is_multiple_of(TOLD_EVERY) {
                    told("index roots", report);
                }
            }
            open.push(place);
        }
    }
    let mut sound = HashSet::default();
    for (id, row) in checkpoints {
        let Some(header) = graph.get(&id) else {
            report.derived(format!("checkpoint of {id}"), "its commit is missing");
            continue;
        };
        match Link::decode_root(header.root, &row) {
            Ok(link) => check_nodes(core, id, link, &mut sound, report).await?,
            Err(error) => report.derived(format!("checkpoint of {id}"), error.to_string()),
        }
    }
    Ok(())
}

/// A commit whose children are to be replayed.
#[derive(Clone)]
struct Place {
    at: CommitId,
    /// The index of a commit before.
    tree: Tree,
    /// What has come since; applied at once where an index is wanted.
    net: BTreeMap<IndexKey, Option<Entry>>,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: CommitId::NO_ANCESTOR, tree: Tree::default(), net: BTreeMap::new() }
    }
}

impl Place {
    fn take_in(&mut self, operations: Vec<Operation>) {
        self.net.extend(operations.into_iter().map(|operation| match operation {
            Operation::Put(Put { key, entry }) => (key, Some(entry)),
            Operation::Delete(key) => (key, None),
        }));
    }

    async fn apply(&mut self, core: &Core) -> Result<(), Error> {
        let net = std::mem::take(&mut self.net);
        let edits: Vec<Edit> = net.into_iter().map(|(key, entry)| Edit { key, entry }).collect();
        self.tree = self.tree.edit(&core.nodes, &edits).await?;
        Ok(())
    }

    fn compare(&self, graph: &Graph, report: &mut Report) {
        report.roots += 1;
        let (found, said) = (self.tree.id(), graph.get(&self.at).map(|header| header.root));
        if let Some(said) = said.filter(|said| *said != found) {
            let detail = format!("its operations give the index root {found} instead of {said}");
            report.damage(format!("commit {}", self.at), detail);
        }
    }
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
                    found.insert(CommitId::new(ObjectId::from_bytes(id)), row);
                }
                Err(_) => report.derived("a checkpoint", "its key is no commit id"),
            }
        }
    }
}

/// Reads the stored nodes of a checkpoint, but for those below nodes that are known to be `sound`.
async fn check_nodes(
    core: &Core,
    id: CommitId,
    root: Link,
    sound: &mut HashSet<ObjectId, ById>,
    report: &mut Report,
) -> Result<(), Error> {
    let mut open = vec![root];
    let mut seen = Vec::new();
    while let Some(link) = open.pop() {
        let node = match core.nodes.load(&link).await {
            Ok(node) => node,
            Err(Error::IndexNode(node)) => {
                report.derived(format!("checkpoint of {id}"), format!("node {node} is missing or damaged"));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if !link.fits(&node) {
            let detail = format!("node {} is not as it is told of", link.id);
            report.derived(format!("checkpoint of {id}"), detail);
            return Ok(());
        }
        seen.push(link.id);
        if let Node::Inner(_, links) = &*node {
            open.extend(links.iter().filter(|link| !sound.contains(&link.id)).cloned());
        }
    }
    sound.extend(seen);
    Ok(())
}
