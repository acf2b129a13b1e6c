//! The end of a run: everything is opened anew, with nothing failing any more, and compared as a whole.

use std::sync::{Arc, Mutex};

use lochan_storage_engine::Engine;
use lochan_storage_engine::commit::{GivenId, Operation, Request};
use lochan_storage_engine::fsck::{Depth, fsck};
use lochan_storage_model::{CommitId, CommitMeta, Content, ContentKey, RefName};
use lochan_storage_odb::{RefKind, Store, Sweep};

use super::executor::locked;
use super::ledger::Line;
use super::run::Run;
use super::server::Servers;
use super::world::{Ask, Told, World};
use crate::model::answers::{self, Fault, check_state};

/// Longest that servers need to end in order, in microseconds.
const END_US: u64 = 60_000_000;
/// Commits beside the heads that are read again.
const READ_AGAIN_MAX: usize = 10;

/// Ends the servers in order, opens them again, and compares everything.
pub async fn check(run: &Run) -> Result<(), Fault> {
    let Run { executor, world, disk, servers, .. } = run;
    disk.fail(false);
    disk.restart(false);
    (0..servers.len()).for_each(|number| servers.stop(number));
    executor.sleep(END_US).await;
    (0..servers.len()).for_each(|number| servers.open(number));
    let store = disk.memory();
    references(store.as_ref(), world).await?;
    log(store.as_ref(), world).await?;
    records(store.as_ref(), world).await?;
    takes_commits(run).await?;
    contents(world, servers).await?;
    let store: Arc<dyn Sweep> = store.clone();
    let report = fsck(store, Depth::Full, &mut |_, _| {}).await.map_err(|e| format!("fsck: {e}"))?;
    if report.is_sound() { Ok(()) } else { Err(format!("fsck: {:?}", report.findings)) }
}

async fn references(store: &dyn Store, world: &Mutex<World>) -> Result<(), Fault> {
    let found = store.references(None, usize::MAX).await.map_err(|e| e.to_string())?;
    let found = found.into_iter().map(|found| (found.name, (found.kind, found.target))).collect();
    let world = locked(world);
    answers::first_difference(&found, world.ledger.references()).map_or(Ok(()), Err)
}

/// Every line of every log, numbered without gaps; and every request found by its key.
async fn log(store: &dyn Store, world: &Mutex<World>) -> Result<(), Fault> {
    let logs = locked(world).ledger.logs().clone();
    for (name, wanted) in logs {
        let mut found = store.ref_log(&name, None, usize::MAX).await.map_err(|e| e.to_string())?;
        found.reverse();
        let numbers: Vec<u64> = found.iter().map(|entry| entry.number).collect();
        if numbers != (1..=wanted.len() as u64).collect::<Vec<_>>() {
            return Err(format!("the log of {name} has the numbers {numbers:?}"));
        }
        for (entry, wanted) in found.iter().zip(wanted) {
            let line = Line {
                old: entry.old,
                new: entry.new,
                kind: entry.kind,
                operation: entry.operation,
                request: entry.request,
            };
            if line != wanted {
                return Err(format!(
                    "line {} of the log of {name} is {line:?}, not {wanted:?}",
                    entry.number
                ));
            }
            let key = wanted.request.map(|request| request.key).unwrap_or_default();
            let again = store.request(&key).await.map_err(|e| e.to_string())?;
            if again.as_ref() != Some(entry) {
                return Err(format!(
                    "line {} of the log of {name} is not found by its request",
                    entry.number
                ));
            }
        }
    }
    Ok(())
}

async fn records(store: &dyn Store, world: &Mutex<World>) -> Result<(), Fault> {
    let records = locked(world).ledger.records().clone();
    for ((space, key), wanted) in records {
        let found = store.record(space, &key).await.map_err(|e| e.to_string())?;
        let found = found.map(|record| (record.version, record.value));
        let wanted = wanted.value.map(|value| (wanted.version, value));
        if found != wanted {
            return Err(format!("record {key:?} is {found:?}, not {wanted:?}"));
        }
    }
    Ok(())
}

/// Every branch takes a commit.
async fn takes_commits(run: &Run) -> Result<(), Fault> {
    let Run { executor, servers, scene, .. } = run;
    let branches: Vec<(RefName, CommitId)> = {
        let world = run.world();
        let branches = world.ledger.references().iter().filter(|(_, (kind, _))| *kind == RefKind::Branch);
        branches.map(|(name, (_, head))| (name.clone(), *head)).collect()
    };
    for (place, (branch, head)) in branches.into_iter().enumerate() {
        let number = run.world().next_number();
        let mut request = Request::new(branch.clone(), head, CommitMeta::default(), Run::who(number));
        let key = ContentKey::new([format!("last-{number}")]).map_err(|e| e.to_string())?;
        let content = Content::Namespace { elements: vec![key.to_string()], properties: Default::default() };
        request.operations = vec![Operation::Put { key, content, id: GivenId::New }];
        let server = place % servers.len().max(1);
        run.world().send(number, Ask::Commit(Box::new(request.clone())), server, executor.now_us(), false);
        let commit = async move |engine: Engine| engine.commit(request).await.map(Told::Committed);
        let told = servers.call(server, commit).await;
        let refused = (!matches!(told, Some(Ok(_)))).then(|| format!("{branch} takes no commit: {told:?}"));
        run.world().answer(number, told, scene);
        refused.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// All heads and some older commits, read through an engine that has just started.
async fn contents(world: &Mutex<World>, servers: &Servers) -> Result<(), Fault> {
    let ids: Vec<CommitId> = {
        let world = locked(world);
        let heads = world.ledger.references().values().map(|(_, head)| *head);
        heads.chain(world.repo.graph.ids().take(READ_AGAIN_MAX)).collect()
    };
    for id in ids {
        let found = servers.call(0, async move |engine: Engine| answers::listing(&engine, id).await).await;
        let found = found.ok_or("no server")?.map_err(|e| format!("commit {id}: {e}"))?;
        let state = locked(world).repo.graph.state(id);
        check_state(&found, &state).map_err(|e| format!("commit {id}: {e}"))?;
    }
    Ok(())
}
