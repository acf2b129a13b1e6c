//! Objects, and what commits say about each other.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lochan_storage_model::{Commit, CommitId, ObjectId, ObjectKind, Operation, Value, commit::Header};
use lochan_storage_odb::{StoreError, Sweep};

use super::{PAGE, Report};
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
    let mut after = None;
    loop {
        let page = store.scan_objects(after.take(), PAGE).await?;
        for (_, info) in &page {
            let bytes = match store.object(info.kind, info.id).await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => {
                    report.damage(format!("object {}", info.id), "is listed but cannot be found");
                    continue;
                }
                Err(error @ (StoreError::Corrupt { .. } | StoreError::Read(_))) => {
                    report.damage(format!("object {}", info.id), error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            present.insert((info.kind, info.id));
            report.objects += 1;
            if report.objects.is_multiple_of(TOLD_EVERY) {
                told("objects", report);
            }
            if info.kind == ObjectKind::Commit {
                report.commits += 1;
                let id = CommitId::new(info.id);
                match Commit::decode(&bytes) {
                    Ok(commit) => {
                        note_wanted(id, &commit, &mut wanted);
                        check_operations(id, &commit, report);
                        graph.insert(id, commit.header);
                    }
                    Err(error) => report.damage(format!("commit {id}"), error.to_string()),
                }
            }
        }
        match page.into_iter().next_back() {
            Some((token, _)) => after = Some(token),
            None => break,
        }
    }
    for (commit, kind, id) in wanted {
        if !present.contains(&(kind, id)) {
            report.damage(format!("commit {commit}"), format!("names the {kind:?} {id}, which is missing"));
        }
    }
    for (id, header) in &graph {
        check_header(core, *id, header, &graph, report).await?;
    }
    Ok(graph)
}

fn note_wanted(id: CommitId, commit: &Commit, wanted: &mut Vec<(CommitId, ObjectKind, ObjectId)>) {
    wanted.extend(commit.attachments.iter().map(|attachment| (id, ObjectKind::Attachment, *attachment)));
    for operation in &commit.operations {
        if let Operation::Put(put) = operation
            && let Value::Stored(value) = &put.entry.value
        {
            wanted.push((id, ObjectKind::Value, *value));
        }
    }
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
            None => {
                report.damage(what(), format!("its parent {parent} is missing"));
                return Ok(());
            }
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
    match core.commits.skip_for(header.parent()).await {
        Ok(skip) if skip == header.skip => {}
        Ok(skip) => report.damage(what(), format!("its skip pointer is {} instead of {skip}", header.skip)),
        // What is missing further down is named where it is missing.
        Err(Error::CommitNotFound(_) | Error::Store(StoreError::Corrupt { .. })) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
