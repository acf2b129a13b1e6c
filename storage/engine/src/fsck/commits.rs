//! Objects, and what commits say about each other.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use lochan_storage_model::{Commit, CommitId, ObjectId, ObjectKind, Operation, Value, commit::Header};
use lochan_storage_odb::{Damage, Look, Shown, StoreError, Sweep};

use super::Report;
use crate::{error::Error, state::Core};

/// Objects between two words of progress.
const TOLD_EVERY: u64 = 100_000;
/// Objects of a part after which it is handed in.
const HANDED_IN: usize = 10_000;

/// The commits found sound, by id.
pub(super) type Graph = HashMap<CommitId, Header>;

/// What a look at all objects has gathered.
struct Gathered<'a> {
    graph: Graph,
    present: HashSet<(ObjectKind, ObjectId)>,
    wanted: Vec<(CommitId, ObjectKind, ObjectId)>,
    report: &'a mut Report,
    told: &'a mut (dyn FnMut(&str, &Report) + Send),
}

/// The same of a part, so that threads need not wait for each other at every object.
struct Part<'a, 'b> {
    all: &'a Mutex<Gathered<'b>>,
    graph: Vec<(CommitId, Header)>,
    present: Vec<(ObjectKind, ObjectId)>,
    wanted: Vec<(CommitId, ObjectKind, ObjectId)>,
    report: Report,
}

/// Reads and hashes every object, and counts all rows; then checks that commits name only what exists and agree with their
/// parents.
pub(super) async fn check_objects(
    core: &Core,
    store: &Arc<dyn Sweep>,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<Graph, Error> {
    let (graph, present, wanted) = Default::default();
    let all = Mutex::new(Gathered { graph, present, wanted, report, told });
    let onlooker = || -> Look<'_> {
        let mut part = Part::of(&all);
        Box::new(move |object| part.look(object))
    };
    let damage = store.verify(&onlooker).await?;
    let Gathered { graph, present, wanted, report, .. } =
        all.into_inner().unwrap_or_else(PoisonError::into_inner);
    for Damage { what, detail } in damage {
        report.damage(what, detail);
    }
    let mut missing: HashMap<(ObjectKind, ObjectId), Vec<CommitId>> = HashMap::new();
    for (commit, kind, id) in wanted {
        if !present.contains(&(kind, id)) {
            missing.entry((kind, id)).or_default().push(commit);
        }
    }
    for ((kind, id), commits) in missing {
        let detail = match store.object(kind, id).await {
            // Named already, or there by another way.
            Ok(_) => "it is missing".to_owned(),
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Read(_))) => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        report.needed(format!("{kind:?} {id}"), &detail, commits);
    }
    for (id, header) in &graph {
        check_header(core, *id, header, &graph, report).await?;
    }
    Ok(graph)
}

impl<'a, 'b> Part<'a, 'b> {
    fn of(all: &'a Mutex<Gathered<'b>>) -> Self {
        let (graph, present, wanted, report) = Default::default();
        Self { all, graph, present, wanted, report }
    }

    fn look(&mut self, object: Result<Shown<'_>, StoreError>) {
        let Shown { kind, id, bytes } = match object {
            Ok(object) => object,
            Err(error) => return self.report.damaged(error),
        };
        self.present.push((kind, id));
        self.report.objects += 1;
        self.report.bytes += bytes.len() as u64;
        if kind == ObjectKind::Commit {
            self.report.commits += 1;
            let id = CommitId::new(id);
            match Commit::decode(bytes) {
                Ok(commit) => {
                    self.wanted.extend(named_by(&commit).into_iter().map(|(kind, named)| (id, kind, named)));
                    check_operations(id, &commit, &mut self.report);
                    self.graph.push((id, commit.header));
                }
                Err(error) => self.report.damage(format!("commit {id}"), error.to_string()),
            }
        }
        if self.present.len() >= HANDED_IN {
            self.hand_in();
        }
    }

    fn hand_in(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { graph, present, wanted, report, told } = &mut *all;
        graph.extend(self.graph.drain(..));
        present.extend(self.present.drain(..));
        wanted.append(&mut self.wanted);
        let found = std::mem::take(&mut self.report);
        let told_at = report.objects / TOLD_EVERY;
        report.objects += found.objects;
        report.bytes += found.bytes;
        report.commits += found.commits;
        report.findings.extend(found.findings);
        if report.objects / TOLD_EVERY > told_at {
            told("objects", report);
        }
    }
}

impl Drop for Part<'_, '_> {
    fn drop(&mut self) {
        self.hand_in();
    }
}

/// The objects that a commit names: its parents, attachments, and the values that do not stand in it.
pub(crate) fn named_by(commit: &Commit) -> Vec<(ObjectKind, ObjectId)> {
    let parents = commit.header.parents.iter().filter(|parent| !parent.is_no_ancestor());
    let mut named: Vec<_> = parents.map(|parent| (ObjectKind::Commit, parent.object())).collect();
    named.extend(commit.attachments.iter().map(|attachment| (ObjectKind::Attachment, *attachment)));
    named.extend(commit.operations.iter().filter_map(|operation| match operation {
        Operation::Put(put) => match &put.entry.value {
            Value::Stored(value) => Some((ObjectKind::Value, *value)),
            Value::Inline(_) => None,
        },
        _ => None,
    }));
    named
}

fn check_operations(id: CommitId, commit: &Commit, report: &mut Report) {
    for operation in &commit.operations {
        if let Err(error) = operation.key().decode() {
            report.damage(format!("commit {id}"), format!("a key of its operations: {error}"));
        }
    }
}

async fn check_header(
    core: &Core,
    id: CommitId,
    header: &Header,
    graph: &Graph,
    report: &mut Report,
) -> Result<(), Error> {
    let what = || format!("commit {id}");
    let mut generation = 0;
    for parent in &header.parents {
        match graph.get(parent) {
            Some(parent) => generation = generation.max(parent.generation),
            None if parent.is_no_ancestor() => {}
            // Named as missing.
            None => return Ok(()),
        }
    }
    if header.generation != generation + 1 {
        report.damage(what(), format!("its generation is {} above {generation}", header.generation));
    }
    let parent = graph.get(&header.parent());
    let depth = parent.map_or(0, |parent| parent.depth);
    if header.depth != depth + 1 {
        report.damage(what(), format!("its depth is {} above {depth}", header.depth));
    }
    if parent.is_some_and(|parent| parent.time >= header.time) {
        report.damage(what(), "its time is not after its parent's");
    }
    let skip =
        async { core.commits.skip_for(header.parent(), core.commits.step(header.parent()).await?).await };
    match skip.await {
        Ok(skip) if skip == header.skip => {}
        Ok(skip) => report.damage(what(), format!("its skip pointer is {} instead of {skip}", header.skip)),
        // What is missing further down is named where it is missing.
        Err(Error::CommitNotFound(_) | Error::Store(StoreError::Corrupt { .. })) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
