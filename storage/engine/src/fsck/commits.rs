//! The look at everything: objects, what commits say about each other, and the log of references.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize},
};

use lochan_storage_model::{Commit, CommitId, ObjectId, ObjectKind, Operation, Value, commit::Header};
use lochan_storage_odb::{Damage, Look, Seen, Shown, StoreError, Sweep};

use super::{
    Report,
    graph::{Children, Graph},
    log::{self, Log},
    operations::Operations,
};
use crate::{cache::ById, error::Error};

/// Objects between two words of progress.
const TOLD_EVERY: u64 = 100_000;
/// Objects of a part after which it is handed in.
const HANDED_IN: usize = 1_000;

/// Kind and id of an object.
type Named = (ObjectKind, ObjectId);

/// What the store holds.
pub(super) struct Whole {
    /// The commits found sound.
    pub graph: Graph,
    /// They along first parents.
    pub children: Children,
    /// Of each of them, by number.
    pub operations: Operations,
}

/// A commit as it was met.
struct Met {
    id: CommitId,
    header: Header,
    /// Unless there is no room for them.
    operations: Option<Vec<Operation>>,
}

/// What a look at everything has gathered.
struct Gathered<'a> {
    commits: Vec<Vec<Met>>,
    /// Objects whose bytes hash to their ids, but for these commits.
    present: Vec<Vec<Named>>,
    /// What commits name beside their parents.
    wanted: Vec<(CommitId, Named)>,
    log: Log,
    report: &'a mut Report,
    told: &'a mut (dyn FnMut(&str, &Report) + Send),
}

/// What the threads share.
struct Shared<'a> {
    all: Mutex<Gathered<'a>>,
    /// Bytes of operations that are kept.
    kept: AtomicUsize,
}

/// The same of a part, so that threads need not wait for each other at every object.
struct Part<'a, 'b> {
    shared: &'a Shared<'b>,
    commits: Vec<Met>,
    present: Vec<Named>,
    wanted: Vec<(CommitId, Named)>,
    log: log::Part,
    report: Report,
}

/// Reads and hashes every object, and counts all rows; then checks that commits name only what exists and agree with their
/// parents. Returns the log beside, which nothing was compared with yet.
pub(super) async fn look_at_all(
    store: &Arc<dyn Sweep>,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<(Whole, Log), Error> {
    let (commits, present, wanted, log, kept) = Default::default();
    let all = Mutex::new(Gathered { commits, present, wanted, log, report, told });
    let shared = Shared { all, kept };
    let onlooker = || -> Look<'_> {
        let mut part = Part::of(&shared);
        Box::new(move |seen| part.look(seen))
    };
    let damage = store.verify(&onlooker).await?;
    let Gathered { commits, present, wanted, log, report, .. } =
        shared.all.into_inner().unwrap_or_else(PoisonError::into_inner);
    for Damage { what, detail } in damage {
        report.damage(what, detail);
    }
    let (mut graph, mut operations) = (Graph::default(), Operations::default());
    graph.reserve(commits.iter().map(Vec::len).sum());
    for Met { id, header, operations: met } in commits.into_iter().flatten() {
        // One object may stand at several places.
        if graph.add(id, header) {
            operations.add(met);
        }
    }
    let mut named = wanted;
    let children = graph.check(&mut |commit, parent| named.push((commit, parent)), report);
    name_missing(store, named, &present, report).await?;
    Ok((Whole { graph, children, operations }, log))
}

/// Names objects that commits name and that are not present.
async fn name_missing(
    store: &Arc<dyn Sweep>,
    named: Vec<(CommitId, Named)>,
    present: &[Vec<Named>],
    report: &mut Report,
) -> Result<(), Error> {
    let mut missing: HashSet<Named, ById> = named.iter().map(|(_, object)| *object).collect();
    if !missing.is_empty() {
        for object in present.iter().flatten() {
            missing.remove(object);
        }
    }
    let mut by_object: HashMap<Named, Vec<CommitId>, ById> = HashMap::default();
    for (commit, object) in named {
        if missing.contains(&object) {
            by_object.entry(object).or_default().push(commit);
        }
    }
    for ((kind, id), commits) in by_object {
        let detail = match store.object(kind, id).await {
            // Named already, or there by another way.
            Ok(_) => "it is missing".to_owned(),
            Err(error) if error.is_damage() => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        report.needed(format!("{kind:?} {id}"), &detail, commits);
    }
    Ok(())
}

impl<'a, 'b> Part<'a, 'b> {
    fn of(shared: &'a Shared<'b>) -> Self {
        let (commits, present, wanted, log, report) = Default::default();
        Self { shared, commits, present, wanted, log, report }
    }

    fn look(&mut self, seen: Result<Seen<'_>, StoreError>) {
        let Shown { kind, id, bytes } = match seen {
            Ok(Seen::Object(object)) => object,
            Ok(Seen::Log(entry)) => return self.log.add(entry, &mut self.report),
            Ok(Seen::LogIsCut) => return self.log.is_cut(),
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
                self.wanted.extend(beside_parents(&commit).map(|named| (id, named)));
                let Commit { header, operations, .. } = commit;
                let operations = Operations::has_room(&self.shared.kept, bytes.len()).then_some(operations);
                self.commits.push(Met { id, header, operations });
            }
            Err(error) => {
                self.present.push((ObjectKind::Commit, id.object()));
                self.report.damage(format!("commit {id}"), error.to_string());
            }
        }
    }

    fn hand_in(&mut self) {
        let mut all = self.shared.all.lock().unwrap_or_else(PoisonError::into_inner);
        let Gathered { commits, present, wanted, report, told, .. } = &mut *all;
        commits.push(std::mem::take(&mut self.commits));
        present.push(std::mem::take(&mut self.present));
        wanted.append(&mut self.wanted);
        let told_at = report.objects / TOLD_EVERY;
        report.add(std::mem::take(&mut self.report));
        if report.objects / TOLD_EVERY > told_at {
            told("objects", report);
        }
    }
}

impl Drop for Part<'_, '_> {
    fn drop(&mut self) {
        self.hand_in();
        let mut all = self.shared.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.log.merge(std::mem::take(&mut self.log));
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
