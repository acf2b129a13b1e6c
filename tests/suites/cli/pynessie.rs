//! What pynessie's users type, word for word, and what the contract says of a revert.

use serde_json::json;

use crate::world::*;

#[tokio::test]
async fn references_as_pynessie_has_them() {
    let world = World::start().await;
    let old = world.head("main").await;
    let head = world.put("main", "nyc.flights", 2).await;
    world.ok("branch dev").await;
    world.ok(&format!("branch -o {old} old main")).await;
    world.ok(&format!("branch old2 main@{old}")).await;
    assert_eq!(
        (world.head("dev").await, world.head("old").await, world.head("old2").await),
        (head.clone(), old.clone(), old.clone())
    );
    let ran = world.run(&format!("branch -f old main -c {head}")).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    world.ok(&format!("branch -f old main -c {old}")).await;
    assert_eq!(world.head("old").await, head);
    world.ok(&format!("branch -o {old} -f old main")).await;
    assert_eq!(world.head("old").await, old);
    assert!(world.ok("branch -l dev").await.contains("dev"));
    assert!(world.ok("branch -l -x").await.contains("+0 -0"));
    world.ok("branch -d old").await;
    world.ok(&format!("branch -o {old} -d old2")).await;
    world.ok("tag v1 main").await;
    world.ok(&format!("tag -f v1 main@{old}")).await;
    assert_eq!(world.head("v1").await, old);
    world.ok("tag -d v1").await;
    world.stop().await;
}

#[tokio::test]
async fn logs_merges_and_cherry_picks_as_pynessie_has_them() {
    let world = World::start().await;
    world.ok("branch dev main").await;
    let base = world.head("main").await;
    let first = world.put("dev", "nyc.a", 1).await;
    let second = world.put("dev", "nyc.b", 2).await;
    let hashes = async |line: String| -> Vec<String> {
        let log = world.json(&line).await;
        log["logEntries"].as_array().unwrap().iter().map(|entry| text(&entry["commitMeta"]["hash"])).collect()
    };
    assert_eq!(
        hashes(format!("log --revision-range {base}..{first} dev")).await,
        std::slice::from_ref(&first)
    );
    assert_eq!(hashes(format!("log -r {base}..{second} dev")).await, [second.clone(), first.clone()]);
    assert_eq!(hashes(format!("log -r {first} -n 1")).await, std::slice::from_ref(&first));
    assert_eq!(hashes(format!("log {second} -n 1 -x")).await, std::slice::from_ref(&second));

    world.ok("branch one main").await;
    let ran = world.run(&format!("cherry-pick -b one -c {first} -s dev {first}")).await;
    assert_eq!(ran.code, 3, "that commit is not on the branch: {ran:?}");
    world.ok(&format!("cherry-pick -b one -c {base} -s dev {first} {second}")).await;
    world.ok("branch two main").await;
    world.ok(&format!("cherry-pick -b two -f -s dev {first}")).await;
    assert_eq!((world.snapshot("one", "nyc.b").await, world.snapshot("two", "nyc.a").await), (2, 1));
    let ran = world.run(&format!("merge -b main -c {first} dev")).await;
    assert_eq!(ran.code, 3, "that commit is not on the branch: {ran:?}");
    world.ok(&format!("merge -b main -o {first} -c {base} dev")).await;
    assert_eq!((world.snapshot("main", "nyc.a").await, world.snapshot("main", "nyc.b").await), (1, 0));
    world.ok("merge -f -b main dev").await;
    assert_eq!(world.snapshot("main", "nyc.b").await, 2);
    world.stop().await;
}

#[tokio::test]
async fn contents_as_pynessie_has_them() {
    let world = World::start().await;
    let table = |snapshot: i64| {
        json!({ "type": "ICEBERG_TABLE", "metadataLocation": "s3://b/m.json", "snapshotId": snapshot, "schemaId": 0,
            "specId": 0, "sortOrderId": 0 })
        .to_string()
    };
    let head = world.head("main").await;
    let words = ["content", "commit", "-i", "-r", "main", "-c", &head, "-m", "both", "nyc.a", "nyc.\"b.c\""];
    let ran = world.run_with(&words, &format!("{}\n{}", table(4), table(5))).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!((world.snapshot("main", "nyc.a").await, world.snapshot("main", "nyc.\"b.c\"").await), (4, 5));
    let ran = world.run_with(&["content", "commit", "-i", "nyc.a"], "{} {}").await;
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(world.ok("content view -r main nyc.a").await.contains("Snapshot:   4"));
    let keys = world.ok("content list -r main -t ICEBERG_TABLE").await;
    assert!(keys.contains("nyc.a") && !keys.contains("namespace"), "{keys}");
    world.ok("content commit -m gone -R -r main nyc.a nyc.\"b.c\"").await;
    assert_eq!(world.snapshot("main", "nyc.a").await, 0);
    let ran = world.run("content commit nyc.a -r main").await;
    assert!(ran.code == 2 && ran.err.contains("nobody to edit"), "{ran:?}");
    world.stop().await;
}

#[tokio::test]
async fn keys_are_reverted_to_what_they_were() {
    let world = World::start().await;
    let head = world.put("main", "nyc.flights", 2).await;
    world.put("main", "nyc.trips", 7).await;
    let said = world.ok("revert nyc.flights to main~2 -n").await;
    assert!(said.starts_with("Would commit to main"), "{said}");
    assert_eq!(world.snapshot("main", "nyc.flights").await, 2);
    let done = world.json("revert nyc.flights to main~2").await;
    assert_eq!((&done["operations"].as_array().unwrap().len(), &done["unchanged"]), (&1, &json!([])));
    assert_eq!(
        (world.snapshot("main", "nyc.flights").await, world.snapshot("main", "nyc.trips").await),
        (1, 7)
    );
    let said = world.ok(&format!("revert nyc.flights --to {head}~1")).await;
    assert!(said.starts_with("Nothing to revert: main stays at"), "{said}");
    let ran = world.run(&format!("revert nyc.trips to {head}")).await;
    assert!(ran.code == 3 && ran.err.contains("--allow-deletes"), "{ran:?}");
    world.ok(&format!("revert nyc.trips nyc.flights to {head} --allow-deletes")).await;
    assert_eq!(
        (world.snapshot("main", "nyc.flights").await, world.snapshot("main", "nyc.trips").await),
        (2, 0)
    );
    // A key that is gone comes back, as a new content.
    world.ok("revert nyc.trips to main~1").await;
    assert_eq!(world.snapshot("main", "nyc.trips").await, 7);
    assert_eq!(world.run("revert nyc.nothing to main~1").await.code, 3);
    world.stop().await;
}
