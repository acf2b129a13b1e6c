//! Index roots, computed from operations alone.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use lochan_storage_model::{CommitId, Entry, IndexKey, ObjectId, Operation, Put};
use lochan_storage_odb::DerivedSpace;
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use super::{
    Depth, PAGE, Report,
    commits::Whole,
    graph::{Children, Graph},
    operations::Operations,
};
use crate::{
    cache::ById,
    error::Error,
    index::{Edit, Link, Node, Tree},
    pace::{joined, threads},
    state::Core,
};

/// Index roots of a task between two words of progress.
const TOLD_EVERY: u64 = 10_000;

/// Replays commits on their parents' indexes and compares roots, those of `heads` and checkpoints always, all of them with
/// [`Depth::Full`]; then reads the stored nodes of every checkpoint.
pub(super) async fn check_roots(
    core: &Arc<Core>,
    whole: Whole,
    heads: Vec<CommitId>,
    depth: Depth,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<(), Error> {
    let checkpoints = checkpoints(core, report).await?;
    let Whole { graph, children, operations } = whole;
    let mut wanted = vec![depth == Depth::Full; graph.commits().len()];
    for id in heads.into_iter().chain(checkpoints.keys().copied()) {
        if let Some(wanted) = graph.number(id).and_then(|number| wanted.get_mut(number)) {
            *wanted = true;
        }
    }
    let (core, places) = (core.clone(), Places::default());
    let replay = Arc::new(Replay { core, graph, children, operations, wanted, places });
    replay.run(report, told).await?;
    let Replay { core, graph, .. } = &*replay;
    let mut sound = HashSet::default();
    for (id, row) in checkpoints {
        let Some((_, header)) = graph.number(id).and_then(|number| graph.commit(number)) else {
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

/// Commits on their way to their roots, shared by the tasks that replay them.
struct Replay {
    core: Arc<Core>,
    graph: Graph,
    children: Children,
    operations: Operations,
    /// Whose roots are compared.
    wanted: Vec<bool>,
    places: Places,
}

impl Replay {
    /// Along first parents, from the empty state up; an index is kept until its last child has been made from it.
    async fn run(
        self: &Arc<Self>,
        report: &mut Report,
        told: &mut (dyn FnMut(&str, &Report) + Send),
    ) -> Result<(), Error> {
        self.places.push(Place::default());
        let tasks = threads();
        let (tell, mut parts) = mpsc::channel(tasks);
        let receive = async {
            while let Some(part) = parts.recv().await {
                report.add(part);
                told("index roots", report);
            }
        };
        // Where nobody runs tasks, this one does it all.
        if Handle::try_current().is_err() {
            return futures::join!(self.clone().work(tell), receive).0;
        }
        let mut working = JoinSet::new();
        for _ in 0..tasks {
            working.spawn(self.clone().work(tell.clone()));
        }
        drop(tell);
        receive.await;
        let mut all = Ok(());
        while let Some(done) = working.join_next().await {
            all = all.and(joined(done).await);
        }
        all
    }

    /// Replays until nothing is left, and tells now and then what was compared and found.
    async fn work(self: Arc<Self>, tell: mpsc::Sender<Report>) -> Result<(), Error> {
        let mut task = Task { replay: &self, tell, report: Report::default() };
        let mut done = Ok(());
        while let Some((place, taken)) = self.places.take().await {
            done = task.follow(place).await;
            match done {
                Ok(()) => taken.done(),
                Err(_) => break,
            }
        }
        task.tell().await;
        done
    }
}

/// What one task does.
struct Task<'a> {
    replay: &'a Replay,
    tell: mpsc::Sender<Report>,
    /// Since it told last.
    report: Report,
}

impl Task<'_> {
    async fn tell(&mut self) {
        // Where nobody listens any more, nobody wants to know.
        let _ = self.tell.send(std::mem::take(&mut self.report)).await;
    }

    /// Replays one line of commits to its end; those that leave it are left for whoever is free.
    async fn follow(&mut self, mut place: Place) -> Result<(), Error> {
        let Replay { core, children, places, .. } = self.replay;
        // Where another task has failed, all of them end.
        while !places.is_over() {
            let mut children = children.of_parent(place.at);
            let Some(child) = children.next() else { break };
            let mut others = children.peekable();
            if others.peek().is_some() {
                place.apply(core).await?;
            }
            for other in others {
                let mut beside = place.clone();
                if self.step(&mut beside, other).await? {
                    places.push(beside);
                }
            }
            if !self.step(&mut place, child).await? {
                break;
            }
        }
        Ok(())
    }

    /// Goes on to a child; whether it can be read.
    async fn step(&mut self, place: &mut Place, child: usize) -> Result<bool, Error> {
        let Replay { core, graph, operations, wanted, .. } = self.replay;
        let Some((id, header)) = graph.commit(child) else { return Ok(false) };
        let Some(operations) = operations.take(core, child, *id).await else { return Ok(false) };
        place.at = Some(child);
        place.take_in(operations);
        if wanted.get(child) == Some(&true) {
            place.apply(core).await?;
            let found = place.tree.id();
            if header.root != found {
                let detail = format!("its operations give the index root {found} instead of {}", header.root);
                self.report.damage(format!("commit {id}"), detail);
            }
            self.report.roots += 1;
            if self.report.roots.is_multiple_of(TOLD_EVERY) {
                self.tell().await;
            }
        }
        Ok(true)
    }
}

/// A commit whose children are to be replayed.
#[derive(Clone, Default)]
struct Place {
    /// Its number; none for the empty state.
    at: Option<usize>,
    /// The index of a commit before.
    tree: Tree,
    /// What has come since; applied at once where an index is wanted.
    net: BTreeMap<IndexKey, Option<Entry>>,
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
}

/// Places for whoever is free.
struct Places {
    /// The latest last: along one line before the next, so that few wait.
    waiting: Mutex<Vec<Place>>,
    /// As many permits as places wait; closed when none comes any more.
    permits: Semaphore,
    /// Places that wait or are at work.
    open: AtomicUsize,
}

impl Default for Places {
    fn default() -> Self {
        Self { waiting: Mutex::default(), permits: Semaphore::new(0), open: AtomicUsize::new(0) }
    }
}

impl Places {
    fn push(&self, place: Place) {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(place);
        self.permits.add_permits(1);
    }

    /// The next place; none once all are done, or one of them was let fall.
    async fn take(&self) -> Option<(Place, Taken<'_>)> {
        self.permits.acquire().await.ok()?.forget();
        let place = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some((place, Taken(self)))
    }

    fn is_over(&self) -> bool {
        self.permits.is_closed()
    }
}

/// A place at work. Where it is let fall, by an error or a panic, the others end too.
struct Taken<'a>(&'a Places);

impl Taken<'_> {
    fn done(self) {
        if self.0.open.fetch_sub(1, Ordering::Relaxed) > 1 {
            std::mem::forget(self);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.permits.close();
    }
}

async fn checkpoints(core: &Core, report: &mut Report) -> Result<BTreeMap<CommitId, Bytes>, Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_a_place_is_let_go_at_the_end_and_where_one_is_let_fall() {
        let places = Places::default();
        places.push(Place::default());
        let (_, first) = places.take().await.unwrap();
        places.push(Place::default());
        first.done();
        assert!(!places.is_over());
        let (_, second) = places.take().await.unwrap();
        second.done();
        assert!(places.take().await.is_none());

        let places = Places::default();
        places.push(Place::default());
        places.push(Place::default());
        drop(places.take().await.unwrap());
        assert!(places.is_over() && places.take().await.is_none());
    }
}
