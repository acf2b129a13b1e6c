//! Branches, tags, commits, logs, differences, resets.

use serde_json::{Value, json};

use crate::world::*;

#[tokio::test]
async fn a_branch_grows_and_is_compared() {
    let world = World::start().await;
    let base = world.head("main").await;
    let said = world.ok("branch dev main").await;
    assert_eq!(said, format!("Created branch dev at {}, from main\n", short(&base)));
    let head = world.put("dev", "nyc.flights", 2).await;
    let said =
        world.ok("content commit -r dev --put nyc.trips --table-metadata s3://b/t.json -m Trips").await;
    assert!(said.starts_with(&format!("Committed to dev: {} → ", short(&head))), "{said}");
    assert!(said.contains("put    nyc.trips  table, no snapshot, metadata t.json"), "{said}");

    let log = world.ok("log dev").await;
    let at: Vec<_> = ["Trips", "Put nyc.flights", "Put nyc\n"].map(|word| log.find(word)).into();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{log}");
    assert!(log.contains("(dev)") && log.contains("(main)"), "{log}");

    let said = world.ok("diff main dev").await;
    assert!(said.contains("~ nyc.flights") && said.contains("snapshot  1 → 2"), "{said}");
    assert!(said.contains("+ nyc.trips") && said.contains("2 keys: 1 added, 1 changed"), "{said}");
    assert!(world.ok("show nyc.flights").await.contains("Snapshot:   1"));
    world.stop().await;
}

/// Nessie leaves the commit that ends a log out where a page is full just before it.
#[tokio::test]
async fn a_log_ends_with_the_commit_that_was_named() {
    let world = World::start().await;
    let mut heads = vec![world.head("main").await];
    for snapshot in 2..6 {
        heads.push(world.put("main", "nyc.flights", snapshot).await);
    }
    heads.reverse();
    for (line, shown, more) in [
        (format!("--back-to {}", heads[2]), 3, false),
        (format!("-n 3 --back-to {}", heads[2]), 3, false),
        (format!("-n 2 --back-to {}", heads[2]), 2, true),
        (format!("-n 1 --back-to {}", heads[0]), 1, false),
        (format!("--back-to {} --author nobody", heads[2]), 0, false),
        (format!("--back-to {} --filter commit.hash=='{0}'", heads[2]), 1, false),
        (format!("-r {}..{}", heads[2], heads[0]), 2, false),
        (format!("-n 2 -r {}..{}", heads[2], heads[0]), 2, false),
        (format!("-n 1 -r {}..{}", heads[2], heads[0]), 1, true),
        (
            format!(
                "--back-to {}",
                world.json("log --all").await["logEntries"][5]["commitMeta"]["hash"].as_str().unwrap()
            ),
            6,
            false,
        ),
    ] {
        let log = world.json(&format!("log {line}")).await;
        let entries = log["logEntries"].as_array().unwrap();
        assert_eq!((entries.len(), &log["hasMore"]), (shown, &json!(more)), "{line}");
        assert_eq!(log["token"].is_null(), !more, "{line}");
    }
    world.stop().await;
}

#[tokio::test]
async fn the_same_as_documents() {
    let world = World::start().await;
    let base = world.head("main").await;
    let made = world.json("branch dev main").await;
    assert_eq!(made["reference"], json!({"type": "BRANCH", "name": "dev", "hash": base}));
    let head = world.put("dev", "nyc.flights", 2).await;
    assert_eq!(world.head("dev").await, head);

    let log = world.json("log dev -n 2").await;
    let commits = log["logEntries"].as_array().unwrap();
    let hash = |at: usize| text(&commits[at]["commitMeta"]["hash"]);
    assert_eq!(
        (commits.len(), hash(0), hash(1), &log["hasMore"]),
        (2, head.clone(), base.clone(), &Value::Bool(true))
    );
    assert_eq!(commits[0]["parentCommitHash"], base.as_str());
    assert_eq!(world.json("log dev").await["logEntries"].as_array().unwrap().len(), 3);

    let diff = world.json("diff main dev").await;
    assert_eq!(diff["diffs"].as_array().unwrap().len(), 1);
    assert_eq!(diff["diffs"][0]["key"]["elements"], json!(["nyc", "flights"]));
    assert_eq!(
        (&diff["diffs"][0]["from"]["snapshotId"], &diff["diffs"][0]["to"]["snapshotId"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(diff["effectiveToReference"]["hash"], head.as_str());

    let branches = world.json("branch").await;
    let names: Vec<String> =
        branches["references"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
    assert_eq!(names, ["dev", "main"]);
    let keys = world.json("content list -r dev").await;
    assert_eq!(keys["entries"].as_array().unwrap().len(), 2);
    world.stop().await;
}

#[tokio::test]
async fn tags_keep_a_state_and_take_no_commits() {
    let world = World::start().await;
    let base = world.head("main").await;
    let said = world.ok("tag june main").await;
    assert_eq!(said, format!("Created tag june at {}, from main\n", short(&base)));
    let made = world.json("tag july main").await;
    assert_eq!(made["reference"], json!({"type": "TAG", "name": "july", "hash": base}));
    world.put("main", "nyc.flights", 2).await;
    assert_eq!(
        (world.snapshot("june", "nyc.flights").await, world.snapshot("main", "nyc.flights").await),
        (1, 2)
    );
    let ran = world.run("content delete nyc.flights -r june").await;
    assert!(ran.code == 4 && ran.err.contains("must be a branch"), "{ran:?}");
    assert_eq!(world.head("june").await, base);
    let gone = world.json("tag delete july").await;
    assert_eq!(text(&gone["undo"]), format!("lochan tag create july {base}"));
    world.stop().await;
}

#[tokio::test]
async fn a_reset_tells_what_it_leaves_behind_and_its_undo_works() {
    let world = World::start().await;
    let base = world.head("main").await;
    let head = world.put("main", "nyc.flights", 2).await;
    let said = world.ok("reset main to main~1").await;
    assert!(said.contains(&format!("Moved main from {} to {}", short(&head), short(&base))), "{said}");
    assert!(said.contains("1 commit is left behind:") && said.contains("Put nyc.flights"), "{said}");
    assert_eq!((world.head("main").await, world.snapshot("main", "nyc.flights").await), (base.clone(), 1));

    let undo = said.lines().last().unwrap().trim().strip_prefix("lochan ").unwrap().to_owned();
    world.ok(&undo).await;
    assert_eq!((world.head("main").await, world.snapshot("main", "nyc.flights").await), (head.clone(), 2));

    let moved = world.json(&format!("reset main to {base}")).await;
    assert_eq!((&moved["reference"]["hash"], &moved["previousHash"]), (&json!(base), &json!(head)));
    assert_eq!((&moved["leftBehind"]["count"], &moved["leftBehind"]["complete"]), (&json!(1), &json!(true)));
    assert_eq!(moved["leftBehind"]["commits"][0]["hash"], head.as_str());
    world.ok(text(&moved["undo"]).strip_prefix("lochan ").unwrap()).await;
    assert_eq!(world.head("main").await, head);

    let ran = world.run(&format!("reset main to main~1 -c {base} --json")).await;
    assert_eq!((ran.code, &ran.error()["kind"]), (1, &json!("conflict")), "{ran:?}");
    assert_eq!(world.head("main").await, head, "somebody else's head is not moved away");
    world.stop().await;
}

#[tokio::test]
async fn what_is_not_there_has_an_exit_code_of_its_own() {
    let world = World::start().await;
    let ran = world.run("log nothing").await;
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("'nothing' not found") && ran.err.contains("hint:"), "{ran:?}");
    let ran = world.run("content get nyc.nothing --json").await;
    assert_eq!((ran.code, &ran.error()["kind"]), (3, &json!("not-found")), "{ran:?}");
    // Steps beyond the first commit.
    for line in [
        "log main~9",
        "log -r main~9",
        "diff main~9 main",
        "diff main main^2",
        "content list -r main~9",
        "show main~9",
    ] {
        let ran = world.run(line).await;
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{line}: {ran:?}");
    }
    assert!(world.ok("diff main~1 main").await.contains("nyc.flights"));
    assert_eq!(world.run("branch main main --json").await.error()["exitCode"], 1);
    assert_eq!(world.run("reset main").await.code, 2);
    world.stop().await;
}
