use bytes::Bytes;
use lochan_storage_model::{Commit, CommitId, CommitMeta, ObjectId, ObjectKind, commit::Header};
use lochan_storage_odb::{
    Batch, Change, NewObject, RefKind, RefLogEntry, RefOperation, RequestKey, Store, memory::Memory,
};

use super::*;
use crate::{Engine, graph::Step, index::Tree, testing, writer::Who};

/// A commit without operations that says `root`, made past the engine.
async fn forged(engine: &Engine, store: &Memory, parent: CommitId, root: ObjectId) -> CommitId {
    let header = engine.commits().load(parent).await.unwrap().header.clone();
    let skip = engine.commits().skip_for(parent, Step::of(&header)).await.unwrap();
    let Header { depth, generation, time, .. } = header;
    let (depth, generation, time) = (depth + 1, generation + 1, time + 1);
    let header = Header { parents: vec![parent], depth, generation, skip, time, root };
    let (meta, attachments, operations) = (CommitMeta::default(), vec![], vec![]);
    let bytes = Bytes::from(Commit { header, meta, attachments, operations }.encode());
    let id = Commit::id_of(&bytes);
    let object = NewObject { kind: ObjectKind::Commit, id: id.object(), bytes };
    let change = Change { objects: vec![object], ..Change::default() };
    store.commit(Batch { changes: vec![change] }).await.unwrap();
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_root_is_named_at_heads_and_with_all_others_when_all_are_computed() {
    let (engine, store) = testing::engine_with(Rules::default(), Options::default()).await;
    for n in 0..30 {
        testing::commit(&engine, "main", vec![testing::put(&format!("t{n}"), testing::table(n))]).await;
    }
    let fork = testing::head(&engine, "main").await;
    testing::branch(&engine, "dev", "main").await;
    for n in 0..5 {
        testing::commit(&engine, "dev", vec![testing::delete(&format!("t{n}"))]).await;
        testing::commit(&engine, "main", vec![testing::put(&format!("n{n}"), testing::table(n))]).await;
    }
    let root = engine.commits().load(fork).await.unwrap().header.root;
    let wrong = forged(&engine, &store, fork, Tree::empty_id()).await;
    let right = forged(&engine, &store, wrong, root).await;
    engine.create_reference(&testing::name("on-it"), RefKind::Branch, right, Who::default()).await.unwrap();
    let sweep: Arc<dyn Sweep> = store.clone();
    let found = async |depth| fsck(sweep.clone(), depth, &mut |_, _| {}).await.unwrap();
    let heads = found(Depth::Heads).await;
    assert_eq!((&heads.findings[..], heads.roots), (&[][..], 3));
    let full = found(Depth::Full).await;
    assert_eq!((full.roots, full.commits), (42, 42));
    let [finding] = &full.findings[..] else { panic!("{:?}", full.findings) };
    assert_eq!(finding.what, format!("commit {wrong}"));
    let detail = format!("its operations give the index root {root} instead of {}", Tree::empty_id());
    assert_eq!(finding.detail, detail);

    engine.create_reference(&testing::name("at-it"), RefKind::Tag, wrong, Who::default()).await.unwrap();
    assert_eq!(found(Depth::Heads).await.findings, full.findings);
}

fn entry(of: &str, number: u64, old: Option<CommitId>, new: Option<CommitId>) -> RefLogEntry {
    RefLogEntry {
        name: testing::name(of),
        number,
        kind: RefKind::Branch,
        old,
        new,
        operation: RefOperation::Assign,
        principal: String::new(),
        request: None,
        run: None,
        time: 0,
    }
}

#[tokio::test]
async fn a_log_that_does_not_fit_together_is_named_in_whatever_parts_it_is_met() {
    let (engine, store) = testing::engine_with(Rules::default(), Options::default()).await;
    let mut ids = vec![CommitId::NO_ANCESTOR];
    for n in 0..4 {
        testing::commit(&engine, "main", vec![testing::put(&format!("t{n}"), testing::table(n))]).await;
        ids.push(testing::head(&engine, "main").await);
    }
    let sweep: Arc<dyn Sweep> = store.clone();
    let mut report = Report::default();
    let (whole, _) = commits::look_at_all(&sweep, &mut report, &mut |_, _| {}).await.unwrap();
    assert_eq!((report.commits, report.log_entries, report.findings.len()), (4, 5, 0));
    let core = Core::new(
        store.clone(),
        Arc::new(SystemClock),
        Arc::new(SystemRng),
        Rules::default(),
        Options::default(),
    );
    let at = |n: usize| Some(ids[n]);
    let unknown = CommitId::new(ObjectId::of(ObjectKind::Commit, b"nobody"));
    let sound = vec![
        entry("main", 1, None, at(0)),
        entry("main", 2, at(0), at(1)),
        entry("main", 3, at(1), at(2)),
        entry("main", 4, at(2), at(3)),
        entry("main", 5, at(3), at(4)),
        entry("gone", 1, None, at(1)),
        entry("gone", 2, at(1), None),
    ];
    let with = |change: &dyn Fn(&mut Vec<RefLogEntry>)| {
        let mut entries = sound.clone();
        change(&mut entries);
        entries
    };
    let cases = [
        (with(&|_| {}), vec![]),
        (with(&|all| drop(all.remove(0))), vec![]),
        (
            with(&|all| drop(all.remove(2))),
            vec!["log of reference main: has a gap between 2 and 4".to_owned()],
        ),
        (
            with(&|all| all[3].old = at(1)),
            vec!["log of reference main: entry 4 does not begin where 3 ended".to_owned()],
        ),
        (
            with(&|all| drop(all.remove(4))),
            vec![format!("log of reference main: ends at {:?}, but the reference is {:?}", at(3), at(4))],
        ),
        (
            with(&|all| drop(all.remove(6))),
            vec![format!("log of reference gone: ends at {:?}, but the reference is None", at(1))],
        ),
        (
            with(&|all| {
                all[1].new = Some(unknown);
                all[2].old = Some(unknown);
            }),
            vec![format!("log of reference main: entry 2 names {unknown}, which is missing")],
        ),
        (with(&|all| all.truncate(0)), vec!["reference main: has no log".to_owned()]),
        (
            with(&|all| {
                all[4].request = Some(RequestKey { key: [7; 32], fingerprint: [0; 32] });
            }),
            vec!["log of reference main: entry 5 is not found by its request".to_owned()],
        ),
    ];
    for (number, (entries, expected)) in cases.into_iter().enumerate() {
        // The whole in order, cut in two anywhere, and the other way round.
        for cut in 0..=entries.len() {
            for reversed in [false, true] {
                let mut report = Report::default();
                let mut all = log::Log::default();
                let mut parts: Vec<_> = vec![entries[..cut].to_vec(), entries[cut..].to_vec()];
                if reversed {
                    parts.reverse();
                }
                for part in parts {
                    let mut met = log::Part::default();
                    part.into_iter().for_each(|entry| met.add(entry, &mut report));
                    all.merge(met);
                }
                assert_eq!(report.log_entries, entries.len() as u64);
                let references =
                    references::check_references(&core, &whole.graph, &mut report).await.unwrap();
                all.check(&core, &whole.graph, &references, &mut report).await.unwrap();
                let found: Vec<_> =
                    report.findings.iter().map(|found| format!("{}: {}", found.what, found.detail)).collect();
                assert_eq!(found, expected, "case {number}, cut at {cut}, {reversed}");
            }
        }
    }
}
