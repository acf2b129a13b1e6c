//! The shell on a whole server.

use crate::world::*;

/// Options of the Nessie CLI are taken, also those without a meaning here.
#[tokio::test]
async fn the_shell_takes_what_the_nessie_cli_takes() {
    let world = World::start().await;
    let uri = format!("{}api/v2", world.root());
    for options in [
        "-P -S --no-up-to-date-check --client-name me",
        "--non-ansi --stdout -o nessie.authentication.type=NONE",
        "-o authentication.type=BEARER,authentication.token=t -r main",
    ] {
        let words = format!("sh -u {uri} {options} -c").split(' ').map(str::to_owned).collect::<Vec<_>>();
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["LIST REFERENCES"]).collect();
        let ran = world.run_with(&words, "").await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{options}");
        assert!(ran.out.contains("* main"), "{options}: {}", ran.out);
    }
    world.stop().await;
}

#[tokio::test]
async fn every_statement_of_the_nessie_cli_does_its_work() {
    let world = World::start().await;
    let base = world.head("main").await;
    let script = format!(
        "CREATE NAMESPACE nyc.raw ON main SET owner = 'ops team' AND tier=gold;
         CREATE BRANCH dev FROM main;
         CREATE BRANCH IF NOT EXISTS dev;
         USE BRANCH dev;
         content commit --put nyc.raw.t --table-metadata s3://b/t.json --snapshot-id 7;
         CREATE TAG before AT ~1;
         CREATE TAG begin FROM main AT COMMIT {base};
         ALTER NAMESPACE nyc.raw SET tier = silver REMOVE owner;
         MERGE DRY dev INTO main;
         MERGE dev
           INTO main
           BEHAVIOR NORMAL BEHAVIORS nyc.raw.t = FORCE;
         DROP TABLE nyc.raw.t;
         REVERT CONTENT OF nyc.raw.t TO STATE ON main;
         DROP TAG before; DROP TAG IF EXISTS before;
         ASSIGN TAG begin TO main;
         ASSIGN BRANCH dev TO main AT ~1;
         LIST REFERENCES STARTING WITH 'be' CONTAINING 'gin';
         LIST CONTENTS ON main STARTING WITH 'nyc.raw';
         SHOW NAMESPACE ON main nyc.raw;
         SHOW TABLE nyc.raw.t ON main"
    );
    // The last statement is none: the key stands behind the reference.
    let ran = world.script(&script).await;
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("expected the end, found 'ON'") && ran.err.contains("stopped at line 21"),
        "{ran:?}"
    );
    for said in [
        "namespace, owner=ops team, tier=gold",
        "Would merge dev into main without conflict",
        "Merged dev into main",
        "Deleted tag before",
        "tag     begin",
        "Properties: tier=silver",
    ] {
        assert!(ran.out.contains(said), "{said}: {ran:?}");
    }
    assert_eq!(world.head("begin").await, world.head("main").await);
    assert_eq!(
        world.head("dev").await,
        text(&world.json("log main~1 -n 1").await["logEntries"][0]["commitMeta"]["hash"])
    );
    assert_eq!(world.snapshot("main", "nyc.raw.t").await, 7);
    let ran = world.script("CREATE NAMESPACE nyc").await;
    assert_eq!(ran.code, 1, "a namespace is not made twice: {ran:?}");
    let ran = world.script("DROP VIEW nyc.flights").await;
    assert!(ran.code == 4 && ran.err.contains("'nyc.flights' is a table, not a view"), "{ran:?}");
    let ran = world.script("USE BRANCH main AT ~1; SHOW LOG LIMIT 1; content delete nyc.flights").await;
    assert!(ran.code == 2 && ran.err.contains("a commit cannot be changed"), "{ran:?}");
    world.stop().await;
}
