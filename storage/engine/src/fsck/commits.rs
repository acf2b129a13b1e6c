//! Objects, and what commits say about each other.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use lochan_storage_model::{Commit, CommitId, ObjectId, ObjectKind, Operation, Value, commit::Header};
use lochan_storage_odb::{Damage, Look, Shown, StoreError, Sweep};

use super::{Report, operations::Operations};
use crate::{cache::ById, error::Error, graph::Step};

/// Objects between two words of progress.
const TOLD_EVERY: u64 = 100_000;
/// Objects of a part after which it is handed in.
const HANDED_IN: usize = 1_000;

/// The commits found sound, by id.
pub(super) type Graph = HashMap<CommitId, Header, ById>;
/// Objects whose bytes hash to their ids, but for the commits of the graph.
type Present = HashSet<(ObjectKind, ObjectId), ById>;
/// Objects that are missing or damaged, each with the commits that name it.
type Missing = HashMap<(ObjectKind, ObjectId), Vec<CommitId>, ById>;

/// What a look at all objects has gathered.
struct Gathered<'a> {
    graph: Graph,
    operations: Operations,
    present: Present,
    /// What commits name beside their parents.
    wanted: Vec<(CommitId, ObjectKind, ObjectId)>,
    report: &'a mut Report,
    told: &'a mut (dyn FnMut(&str, &Report) + Send),
}

/// The same of a part, so that threads need not wait for each other at every object.
struct Part<'a, 'b> {
    all: &'a Mutex<Gathered<'b>>,
    commits: Vec<(CommitId, Commit, usize)>,
    present: Vec<(ObjectKind, ObjectId)>,
    report: Report,
}

/// Reads and hashes every object, and counts all rows; then checks that commits name only what exists and agree with their
/// parents.
pub(super) async fn check_objects(
    store: &Arc<dyn Sweep>,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<(Graph, Operations), Error> {
    let (graph, operations, present, wanted) = Default::default();
    let all = Mutex::new(Gathered { graph, operations, present, wanted, report, told });
    let onlooker = || -> Look<'_> {
        let mut part = Part::of(&all);
        Box::new(move |object| part.look(object))
    };
    let damage = store.verify(&onlooker).await?;
    let Gathered { graph, operations, present, wanted, report, .. } =
        all.into_inner().unwrap_or_else(PoisonError::into_inner);
    for Damage { what, detail } in damage {
        report.damage(what, detail);
    }
    let mut missing = Missing::default();
    for (commit, kind, id) in wanted {
        if !present.contains(&(kind, id)) {
            missing.entry((kind, id)).or_default().push(commit);
        }
    }
    for (id, header) in &graph {
        check_header(*id, header, (&graph, &present), &mut missing, report);
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
    Ok((graph, operations))
}

impl<'a, 'b> Part<'a, 'b> {
    fn of(all: &'a Mutex<Gathered<'b>>) -> Self {
        let (commits, present, report) = Default::default();
        Self { all, commits, present, report }
    }

    fn look(&mut self, object: Result<Shown<'_>, StoreError>) {
        let Shown { kind, id, bytes } = match object {
            Ok(object) => object,
            Err(error) => return self.report.damaged(error),
        };
        self.report.objects += 1;
        self.report.bytes += bytes.len() as u64;
        match kind {
            ObjectKind::Commit => self.look_at_commit(CommitId::new(id), bytes),
            _ => self.present.push((kind, id)),
        }
        if self.present.len() + self.commits.len() >= HANDED_IN {
            self.hand_in();
        }
    }

    fn look_at_commit(&mut self, id: CommitId, bytes: &[u8]) {
        self.report.commits += 1;
        match Commit::decode(bytes) {
            Ok(commit) => {
                check_operations(id, &commit, &mut self.report);
                self.commits.push((id, commit, bytes.len()));
            }
            Err(error) => {
                self.present.push((ObjectKind::Commit, id.object()));
                self.report.damage(format!("commit {id}"), error.to_string());
            }
        }
    }

    fn hand_in(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { graph, operations, present, wanted, report, told } = &mut *all;
        for (id, commit, size) in self.commits.drain(..) {
            wanted.extend(beside_parents(&commit).map(|(kind, named)| (id, kind, named)));
            graph.insert(id, commit.header);
            operations.keep(id, commit.operations, size);
        }
        present.extend(self.present.drain(..));
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
    let parents = parents.map(|parent| (ObjectKind::Commit, parent.object()));
    parents.chain(beside_parents(commit)).collect()
}

fn beside_parents(commit: &Commit) -> impl Iterator<Item = (ObjectKind, ObjectId)> {
    let attachments = commit.attachments.iter().map(|attachment| (ObjectKind::Attachment, *attachment));
    attachments.chain(commit.operations.iter().filter_map(|operation| match operation {
        Operation::Put(put) => match &put.entry.value {
            Value::Stored(value) => Some((ObjectKind::Value, *value)),
            Value::Inline(_) => None,
        },
        _ => None,
    }))
}

fn check_operations(id: CommitId, commit: &Commit, report: &mut Report) {
    for operation in &commit.operations {
        if let Err(error) = operation.key().decode() {
            report.damage(format!("commit {id}"), format!("a key of its operations: {error}"));
        }
    }
}

fn check_header(
    id: CommitId,
    header: &Header,
    (graph, present): (&Graph, &Present),
    missing: &mut Missing,
    report: &mut Report,
) {
    let step = |id: CommitId| match id.is_no_ancestor() {
        true => Some(Step::empty()),
        false => graph.get(&id).map(Step::of),
    };
    let mut generation = Some(0);
    for parent in &header.parents {
        match step(*parent) {
            Some(parent) => generation = generation.map(|known| parent.generation.max(known)),
            None => {
                generation = None;
                let parent = (ObjectKind::Commit, parent.object());
                if !present.contains(&parent) {
                    missing.entry(parent).or_default().push(id);
                }
            }
        }
    }
    // Beside what is missing there is nothing to compare.
    let (Some(generation), Some(parent)) = (generation, step(header.parent())) else { return };
    let what = || format!("commit {id}");
    if header.generation != generation + 1 {
        report.damage(what(), format!("its generation is {} above {generation}", header.generation));
    }
    if header.depth != parent.depth + 1 {
        report.damage(what(), format!("its depth is {} above {}", header.depth, parent.depth));
    }
    if parent.time >= header.time {
        report.damage(what(), "its time is not after its parent's");
    }
    // What is missing further down is named where it is missing.
    let Some(skip) = step(parent.skip) else { return };
    let Some(beyond) = step(skip.skip) else { return };
    let expected = parent.skip_above(header.parent(), skip, beyond);
    if header.skip != expected {
        report.damage(what(), format!("its skip pointer is {} instead of {expected}", header.skip));
    }
}
