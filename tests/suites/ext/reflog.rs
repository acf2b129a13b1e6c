//! `GET /ext/v1/reflog`

use serde_json::{Value, json};

use crate::harness::{EMPTY, Server, text};
use crate::world::{commit, delete, failed, reflog};

fn told(entries: &[Value]) -> Vec<String> {
    let word = |entry: &Value| {
        format!("{} {} {}", text(&entry["reference"]), entry["number"], text(&entry["operation"]))
    };
    entries.iter().map(word).collect()
}

#[tokio::test]
async fn every_change_is_told_newest_first_deleted_references_too() {
    let server = Server::start().await;
    let first = commit(&server, "main", "a").await;
    server.create("BRANCH", "dev", "main").await;
    let second = commit(&server, "dev", "b").await;
    server.merge("dev", "main", json!({})).await.ok();
    let moved = json!({"type": "DETACHED", "hash": first});
    server.put(&format!("/api/v2/trees/dev@{second}"), moved).await.ok();
    delete(&server, "dev").await;

    let all = reflog(&server, "").await;
    assert_eq!(
        told(&all),
        [
            "dev 4 DELETE",
            "dev 3 ASSIGN",
            "main 3 MERGE",
            "dev 2 COMMIT",
            "dev 1 CREATE",
            "main 2 COMMIT",
            "main 1 CREATE"
        ]
    );
    assert_eq!(all[0]["type"], "BRANCH");
    assert_eq!((&all[0]["oldHash"], &all[0]["newHash"]), (&json!(first), &Value::Null));
    assert_eq!((&all[1]["oldHash"], &all[1]["newHash"]), (&json!(second), &json!(first)));
    assert_eq!((&all[6]["oldHash"], &all[6]["newHash"]), (&Value::Null, &json!(EMPTY)));
    assert_eq!((&all[6]["principal"], &all[6]["run"]), (&json!(""), &Value::Null));
    assert!(text(&all[0]["time"]).ends_with('Z'));
    // Pages of any size are the same list.
    for size in [1, 2, 3, 6, 7, 100] {
        assert_eq!(reflog(&server, &format!("max-records={size}")).await, all, "{size}");
    }
    let of_dev = reflog(&server, "ref=dev&max-records=3").await;
    assert_eq!(told(&of_dev), ["dev 4 DELETE", "dev 3 ASSIGN", "dev 2 COMMIT", "dev 1 CREATE"]);
}

#[tokio::test]
async fn a_page_holds_a_thousand_entries() {
    let server = Server::start().await;
    // The first entry is the creation.
    for n in 1..1_000 {
        commit(&server, "main", &format!("t{n}")).await;
    }
    let page = async || {
        let page = server.get("/ext/v1/reflog?max-records=5000").await.ok();
        (page["entries"].as_array().expect("a list").len(), page["hasMore"] == true)
    };
    assert_eq!(page().await, (1_000, false));
    commit(&server, "main", "more").await;
    assert_eq!(page().await, (1_000, true));
}

#[tokio::test]
async fn filters_are_joined() {
    let server = Server::start().await;
    for key in ["a", "b", "c"] {
        commit(&server, "main", key).await;
    }
    server.create("TAG", "v1", "main").await;
    let all = reflog(&server, "").await;
    assert_eq!(
        told(&reflog(&server, "operation=create&max-records=1").await),
        ["v1 1 CREATE", "main 1 CREATE"]
    );
    assert_eq!(reflog(&server, "operation=COMMIT&operation=MERGE").await.len(), 3);
    assert_eq!(reflog(&server, "operation=CREATE&ref=main").await.len(), 1);
    assert_eq!(reflog(&server, "principal=ada").await.len(), 0);
    // Both ends of a time range belong to it.
    for (at, entry) in all.iter().enumerate() {
        let time = text(&entry["time"]);
        let since = reflog(&server, &format!("since={time}&max-records=2")).await;
        assert!(since.len() > at && since.iter().all(|entry| text(&entry["time"]) >= time), "{since:?}");
        let until = reflog(&server, &format!("until={time}&max-records=2")).await;
        assert!(until.len() >= all.len() - at && until.iter().all(|entry| text(&entry["time"]) <= time));
    }
    assert_eq!(reflog(&server, "until=1971-01-01T00:00:00Z").await.len(), 0);
}

#[tokio::test]
async fn wrong_questions_are_refused() {
    let server = Server::start().await;
    failed(server.get("/ext/v1/reflog?ref=never").await, 404, "REFERENCE_NOT_FOUND");
    failed(server.get("/ext/v1/reflog?ref=no%20name").await, 404, "REFERENCE_NOT_FOUND");
    for query in [
        "operation=PUSH",
        "since=yesterday",
        "max-records=0",
        "max-records=x",
        "page-token=00",
        "page-token=zz",
    ] {
        failed(server.get(&format!("/ext/v1/reflog?{query}")).await, 400, "BAD_REQUEST");
    }
    failed(server.post("/ext/v1/reflog", json!({})).await, 405, "METHOD_NOT_ALLOWED");
    failed(server.get("/ext/v1/nothing").await, 404, "NOT_FOUND");
}
