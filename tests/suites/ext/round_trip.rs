//! From one repository into another: what comes out is what went in, whatever was broken off on the way.

use std::sync::Arc;

use lochan_server_catalog::OpenAuthorizer;
use lochan_storage_odb::memory::Memory;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Server, drop, list, put, put_namespace, text};
use crate::streams::{export, import, import_cut, lines};

/// A step of a history.
#[derive(Debug, Clone)]
enum Step {
    Put { branch: usize, key: u8, namespace: bool },
    Delete { branch: usize, key: u8 },
    Branch { from: usize },
    Tag { from: usize },
    Merge { from: usize, into: usize },
    Remove { branch: usize },
    Reset { branch: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let branch = 0..4usize;
    let step = prop_oneof![
        6 => (branch.clone(), 0..12u8, any::<bool>()).prop_map(|(branch, key, namespace)| Step::Put { branch, key, namespace }),
        2 => (branch.clone(), 0..12u8).prop_map(|(branch, key)| Step::Delete { branch, key }),
        2 => branch.clone().prop_map(|from| Step::Branch { from }),
        1 => branch.clone().prop_map(|from| Step::Tag { from }),
        3 => (branch.clone(), branch.clone()).prop_map(|(from, into)| Step::Merge { from, into }),
        1 => branch.clone().prop_map(|branch| Step::Remove { branch }),
        1 => branch.prop_map(|branch| Step::Reset { branch }),
    ];
    proptest::collection::vec(step, 1..40)
}

/// Takes the steps that can be taken; those refused change nothing.
async fn play(server: &Server, steps: &[Step]) {
    let mut branches = vec!["main".to_owned()];
    for (at, step) in steps.iter().enumerate() {
        let name = |wanted: usize| branches[wanted % branches.len()].clone();
        match step {
            Step::Put { branch, key, namespace } => {
                let key = format!("k{key}");
                let operation =
                    if *namespace { put_namespace(&key) } else { put(&key, &format!("s3://b/{at}")) };
                let head = server.head(&name(*branch)).await;
                let _ = server
                    .commit_at(
                        &format!("{}@{head}", name(*branch)),
                        &format!("step {at}"),
                        json!([operation]),
                    )
                    .await;
            }
            Step::Delete { branch, key } => {
                let head = server.head(&name(*branch)).await;
                let point = format!("{}@{head}", name(*branch));
                let _ = server.commit_at(&point, "delete", json!([drop(&format!("k{key}"))])).await;
            }
            Step::Branch { from } if branches.len() < 4 => {
                let new = format!("b{at}");
                server.create("BRANCH", &new, &name(*from)).await;
                branches.push(new);
            }
            Step::Branch { .. } => {}
            Step::Tag { from } => drop_value(server.create("TAG", &format!("t{at}"), &name(*from)).await),
            Step::Merge { from, into } => {
                let _ =
                    server.merge(&name(*from), &name(*into), json!({"defaultKeyMergeMode": "FORCE"})).await;
            }
            Step::Remove { branch } => {
                let gone = name(*branch);
                if gone != "main" {
                    crate::world::delete(server, &gone).await;
                    branches.retain(|branch| *branch != gone);
                }
            }
            Step::Reset { branch } => {
                let (name, head) = (name(*branch), server.head(&name(*branch)).await);
                let to = json!({"type": "BRANCH", "name": "main", "hash": server.head("main").await});
                server.put(&format!("/api/v2/trees/{name}@{head}"), to).await.ok();
            }
        }
    }
}

fn drop_value(_: Value) {}

/// Everything that both APIs show of a repository.
async fn shown(server: &Server) -> Vec<Value> {
    let references = server.get("/api/v2/trees?fetch=ALL").await.ok()["references"].clone();
    let mut all = vec![references.clone()];
    for reference in list(&references) {
        let name = text(&reference["name"]);
        for what in ["history?fetch=ALL", "entries?content=true"] {
            all.push(server.get(&format!("/api/v2/trees/{name}/{what}")).await.ok());
        }
    }
    all
}

async fn on(store: &Arc<Memory>) -> Server {
    Server::on(store.clone(), Arc::new(OpenAuthorizer)).await
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_out_is_what_went_in(steps in steps(), cuts in proptest::collection::vec(0.0..1.0f64, 0..4)) {
        runtime().block_on(async {
            let source = Server::start().await;
            play(&source, &steps).await;
            let stream = export(&source, "ref-log=true").await;
            // Broken off several times, each time with a new server on what the last one has left.
            let store = Arc::new(Memory::new());
            for cut in cuts {
                let bytes = (stream.len() as f64 * cut) as usize;
                let target = on(&store).await;
                let _ = import_cut(&target, "id=r", &stream, bytes).await;
                // Nothing shows before the end.
                prop_assert_eq!(list(&target.get("/api/v2/trees").await.ok()["references"]).len(), 1);
            }
            let target = on(&store).await;
            let state = import(&target, "id=r", &stream).await.ok();
            prop_assert_eq!(&state["status"], "DONE");
            prop_assert_eq!(shown(&target).await, shown(&source).await);
            // And out again: the same references and commits.
            let strip = |stream: &[u8]| {
                let kept = lines(stream).into_iter().filter(|line| line.get("reference").is_some() || line.get("commit").is_some());
                kept.collect::<Vec<_>>()
            };
            let again = export(&target, "").await;
            prop_assert_eq!(strip(&again), strip(&stream));
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_stream_broken_off_anywhere_goes_on() {
    let source = Server::start().await;
    for n in 0..30 {
        crate::world::commit(&source, "main", &format!("k{n}")).await;
        if n % 5 == 0 {
            source.create("BRANCH", &format!("b{n}"), "main").await;
            crate::world::commit(&source, &format!("b{n}"), "own").await;
        }
    }
    // Small parts, so that there are many places to break off at.
    let items = lines(&export(&source, "").await);
    let items: Vec<_> = items.into_iter().filter_map(|line| serde_json::from_value(line).ok()).collect();
    let stream = crate::streams::foreign(&items, 3);
    let whole = on(&Arc::new(Memory::new())).await;
    import(&whole, "id=w", &stream).await.ok();
    let expected = shown(&whole).await;
    let store = Arc::new(Memory::new());
    let mut parts = Vec::new();
    for at in (0..stream.len() * 9 / 10).step_by(stream.len() / 40) {
        let target = on(&store).await;
        let answer = import_cut(&target, "id=w", &stream, at).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        if let Some(next) = target.get("/ext/v1/imports/w").await.body["nextPart"].as_u64() {
            parts.push(next);
        }
    }
    assert!(parts.is_sorted() && parts.last() > parts.first(), "{parts:?}");
    // Only what is missing is sent.
    let next = *parts.last().expect("parts");
    let start = format!("{{\"part\":{{\"number\":{next},");
    let text = String::from_utf8(stream.clone()).expect("text");
    let rest = text.find(&start).map(|at| &text[at..]).expect("the part");
    let target = on(&store).await;
    let state = import(&target, "id=w", rest.as_bytes()).await.ok();
    assert_eq!(state["status"], "DONE");
    assert_eq!(shown(&target).await, expected);
}
