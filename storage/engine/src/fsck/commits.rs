//! Objects, and what commits say about each other.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lochan_storage_model::{Commit, CommitId, ObjectId, ObjectKind, Operation, Value, commit::Header};
use lochan_storage_odb::{NewObject, StoreError, Sweep};

use super::{Report, pages::Pages};
use crate::{error::Error, state::Core};

/// Objects between two words of progress.
const TOLD_EVERY: u64 = 100_000;

/// The commits found sound, by id.
pub(super) type Graph = HashMap<CommitId, Header>;

/// Reads and hashes every object; then checks that commits name only what exists and agree with their parents.
pub(super) async fn check_objects(
    core: &Core,
    store: &Arc<dyn Sweep>,
    report: &mut Report,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<Graph, Error> {
    let mut graph = Graph::new();
    let mut present: HashSet<(ObjectKind, ObjectId)> = HashSet::new();
    let mut wanted: Vec<(CommitId, ObjectKind, ObjectId)> = Vec::new();
    let mut pages = Pages::of(store).await?;
    while let Some(page) = pages.next().await {
        for (_, object) in page? {
            let NewObject { kind, id, bytes } = match object {
                Ok(object) => object,
                Err(error) => {
                    report.damaged(error);
                    continue;
                }
            };
            present.insert((kind, id));
            report.objects += 1;
            report.bytes += bytes.len() as u64;
            if report.objects.is_multiple_of(TOLD_EVERY) {
                told("objects", report);
            }
            if kind == ObjectKind::Commit {
                report.commits += 1;
                let id = CommitId::new(id);
                match Commit::decode(&bytes) {
                    Ok(commit) => {
                        wanted.extend(named_by(&commit).into_iter().map(|(kind, named)| (id, kind, named)));
                        check_operations(id, &commit, report);
                        graph.insert(id, commit.header);
                    }
                    Err(error) => report.damage(format!("commit {id}"), error.to_string()),
                }
            }
        }
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
