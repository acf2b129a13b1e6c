//! Merges, their conflicts, and cherry-picks.

use serde_json::json;

use crate::world::*;

/// `dev` changes a table and adds another.
async fn forked() -> World {
    let world = World::start().await;
    world.ok("branch dev main").await;
    world.put("dev", "nyc.flights", 2).await;
    world.put("dev", "nyc.trips", 5).await;
    world
}

#[tokio::test]
async fn a_merge_is_tried_and_made() {
    let world = forked().await;
    let base = world.head("main").await;
    let said = world.ok("merge --dry-run dev into main").await;
    assert!(said.starts_with("Would merge dev into main without conflict: 2 keys"), "{said}");
    assert_eq!(world.json("merge --dry-run dev into main").await["dryRun"], true);
    assert_eq!(world.head("main").await, base);

    let said = world.ok("merge dev into main").await;
    assert!(said.starts_with(&format!("Merged dev into main: {} → ", short(&base))), "{said}");
    assert_eq!(
        (world.snapshot("main", "nyc.flights").await, world.snapshot("main", "nyc.trips").await),
        (2, 5)
    );
    let log = world.json("log main -n 1").await;
    let parents = &log["logEntries"][0]["commitMeta"]["parentCommitHashes"];
    assert_eq!(*parents, json!([base, world.head("dev").await]));

    world.put("dev", "nyc.trips", 6).await;
    let merged = world.json("merge dev into main").await;
    assert_eq!((&merged["wasApplied"], &merged["conflicts"]), (&json!(true), &json!([])));
    assert_eq!(merged["resultantTargetHash"], world.head("main").await.as_str());
    assert_eq!(merged["fromHash"], world.head("dev").await.as_str());
    let said = world.ok("merge dev into main").await;
    assert!(said.starts_with("Nothing to be merged from dev"), "{said}");
    world.stop().await;
}

#[tokio::test]
async fn a_conflict_shows_both_sides_and_its_hints_work() {
    let world = forked().await;
    let base = world.head("main").await;
    let theirs = text(&world.json("log dev -n 2").await["logEntries"][1]["commitMeta"]["hash"]);
    let ours = world.put("main", "nyc.flights", 3).await;

    let ran = world.run("merge dev into main").await;
    assert_eq!(ran.code, 1);
    let head = format!("Nothing merged from dev into main, still at {}", short(&ours));
    assert!(ran.out.starts_with(&head), "{}", ran.out);
    for word in
        ["nyc.flights  both sides changed it", "snapshot 2", "snapshot 3", short(&theirs), short(&ours)]
    {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    assert!(!ran.out.contains("nyc.trips"), "{}", ran.out);
    assert!(ran.err.starts_with("error: nothing merged: 1 key is in conflict"), "{}", ran.err);
    assert_eq!(world.head("main").await, ours);
    // The code tells it, whoever has read what was said.
    assert_eq!(world.run_unread("merge dev into main").await.code, 1);
    assert_eq!(world.run_unread("log main").await.code, 0);

    let ran = world.run("merge dev into main --json").await;
    let (document, error) = (ran.document(), ran.error());
    assert_eq!(
        (ran.code, &document["wasApplied"], &document["commonAncestor"]),
        (1, &json!(false), &json!(base))
    );
    let conflict = &document["conflicts"][0];
    assert_eq!(
        (&conflict["conflictType"], &conflict["key"]["elements"]),
        (&json!("VALUE_DIFFERS"), &json!(["nyc", "flights"]))
    );
    assert_eq!(conflict["source"]["content"]["snapshotId"], 2);
    assert_eq!(conflict["target"]["content"]["snapshotId"], 3);
    assert_eq!(conflict["source"]["changedBy"]["hash"], theirs.as_str());
    assert_eq!(conflict["target"]["changedBy"]["hash"], ours.as_str());
    assert_eq!((&error["kind"], &error["exitCode"]), (&json!("conflict"), &json!(1)));

    // Each of the first two hints is a command that goes through.
    let hints: Vec<String> = error["hints"].as_array().unwrap().iter().map(text).collect();
    let command = |at: usize| hints[at].split_once("lochan ").unwrap().1.to_owned();
    for (at, snapshot) in [(1, 3), (0, 2)] {
        world.ok(&command(at)).await;
        assert_eq!(
            (world.snapshot("main", "nyc.flights").await, world.snapshot("main", "nyc.trips").await),
            (snapshot, 5)
        );
        world.ok(&format!("reset main to {ours}")).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn single_commits_are_replayed() {
    let world = forked().await;
    let ours = world.put("main", "nyc.flights", 3).await;
    let said = world.ok("cherry-pick dev into main").await;
    assert!(said.starts_with(&format!("Cherry-picked 1 commit into main: {} → ", short(&ours))), "{said}");
    assert_eq!(
        (world.snapshot("main", "nyc.flights").await, world.snapshot("main", "nyc.trips").await),
        (3, 5)
    );
    assert_eq!(world.json("log main -n 1").await["logEntries"][0]["commitMeta"]["message"], "Put nyc.trips");

    let ran = world.run("cherry-pick dev~1 into main --json").await;
    assert_eq!((ran.code, &ran.error()["kind"]), (1, &json!("conflict")), "{ran:?}");
    assert_eq!(ran.document()["conflicts"][0]["key"]["elements"], json!(["nyc", "flights"]));

    world.ok(&format!("branch other {ours}")).await;
    let picked = world.json("cherry-pick dev into other").await;
    assert_eq!((&picked["wasApplied"], &picked["targetBranch"]), (&json!(true), &json!("other")));
    assert_eq!(picked["resultantTargetHash"], world.head("other").await.as_str());
    assert_eq!(world.snapshot("other", "nyc.trips").await, 5);
    world.stop().await;
}

#[tokio::test]
async fn hints_of_a_conflict_keep_what_was_asked_for() {
    let world = forked().await;
    world.put("main", "nyc.flights", 3).await;
    world.put("main", "nyc.trips", 7).await;
    let head = world.head("main").await;
    let line =
        format!("merge dev into main --message why --expected {head} --key-mode nyc.trips=DROP --json");
    let ran = world.run(&line).await;
    let hint = text(&ran.error()["hints"][0]);
    let command = format!(
        "merge dev into main --expected {head} --message why --key-mode nyc.trips=DROP --key-mode nyc.flights=FORCE"
    );
    assert!(ran.code == 1 && hint.ends_with(&command), "{hint}");
    world.ok(&command).await;
    assert_eq!(
        (world.snapshot("main", "nyc.flights").await, world.snapshot("main", "nyc.trips").await),
        (2, 7)
    );
    assert_eq!(world.json("log main -n 1").await["logEntries"][0]["commitMeta"]["message"], "why");
    world.stop().await;
}

#[tokio::test]
async fn a_condition_is_the_commit_that_it_names() {
    let world = forked().await;
    let (main, dev) = (world.put("main", "nyc.mine", 3).await, world.head("dev").await);
    world.ok("branch other dev").await;
    let lines = [
        "branch delete other -o",
        "reset other to main -c",
        "branch assign other main -c",
        "merge main into other -c",
        "cherry-pick main into other -c",
        "rebase other onto main -c",
        "content delete nyc.trips -r other -c",
    ];
    for line in lines {
        for condition in ["main", &main, short(&main), "nobody"] {
            let ran = world.run(&format!("{line} {condition}")).await;
            // Where it would do that the branch was there once, it is told as a commit that is not found.
            assert!([1, 3].contains(&ran.code), "{line} {condition}: {ran:?}");
            assert_eq!(world.head("other").await, dev, "{line} {condition}");
        }
    }
    world.put("other", "nyc.more", 1).await;
    let head = world.head("other").await;
    world.ok(&format!("reset other to dev -c {}", short(&head))).await;
    world.ok("content delete nyc.trips -r other -c dev").await;
    world.ok("reset other to other~1 -c other").await;
    world.ok("branch delete other -o dev").await;
    world.stop().await;
}

/// Where conflicts are judged, an older commit of the branch is enough; a reference that moves or goes must be at it.
#[tokio::test]
async fn what_is_expected_of_a_branch() {
    let world = forked().await;
    let (older, elsewhere) = (world.head("main").await, world.head("dev").await);
    world.put("main", "nyc.weather", 3).await;
    for line in
        ["merge -n dev into main", "cherry-pick -n dev into main", "content commit --put nyc.x --namespace"]
    {
        let ran = world.run(&format!("{line} --expected {elsewhere}")).await;
        assert_eq!(ran.code, 3, "{line}: {ran:?}");
        world.ok(&format!("{line} --expected {older}")).await;
    }
    for line in [
        "branch assign main to dev",
        "branch create --force main dev",
        "branch delete dev",
        "reset main to dev",
        "rebase main onto dev",
    ] {
        let ran = world.run(&format!("{line} --expected {older}")).await;
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
    }
    world.stop().await;
}
