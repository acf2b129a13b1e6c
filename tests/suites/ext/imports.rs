//! `POST /ext/v1/import` and `/ext/v1/imports`

use std::sync::Arc;

use bytes::Bytes;
use lochan_api_spec::ext::model::RefType;
use lochan_api_spec::ext::stream::{CommitLine, Item};
use lochan_server_catalog::OpenAuthorizer;
use lochan_storage_odb::memory::Memory;
use lochan_storage_odb::{Batch, Change, ExpectedRecord, RecordChange, RecordSpace, Store};
use serde_json::{Value, json};

use crate::harness::{EMPTY, Server, list, text};
use crate::streams::{self, commit as line, export, foreign, import, import_cut, item, reference};
use crate::world::{commit, failed, reflog};

const A: &str = "aaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbb";
const C: &str = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

/// Three commits of another server, the last two not later than their parents.
fn three() -> Vec<Item> {
    vec![
        reference(RefType::Branch, "main", C),
        reference(RefType::Tag, "v1", B),
        reference(RefType::Branch, "none", EMPTY),
        item(line(A, &[], 1_000_000, "a")),
        item(CommitLine { operations: Vec::new(), operation_count: 0, ..line(B, &[A], 1_000_000, "b") }),
        item(line(C, &[B, A], 999_999, "c")),
    ]
}

#[tokio::test]
async fn another_servers_commits_keep_who_and_when() {
    let server = Server::start().await;
    let state = import(&server, "id=moved", &foreign(&three(), 2)).await.ok();
    assert_eq!(state["status"], "DONE");
    assert_eq!((&state["source"], &state["hashesKept"]), (&json!("NESSIE"), &json!(false)));
    assert_eq!(
        (&state["commits"], &state["timesRaised"], &state["references"]),
        (&json!(3), &json!(2), &json!(3))
    );
    let names: Vec<_> = list(&state["imported"]).iter().map(|r| text(&r["name"])).collect();
    assert_eq!(names, ["main", "none", "v1"]);

    let log = server.get("/api/v2/trees/main/history?fetch=ALL").await.ok();
    let log = list(&log["logEntries"]);
    let meta = |at: usize| &log[at]["commitMeta"];
    let times: Vec<_> = (0..3).map(|at| text(&meta(at)["commitTime"])).collect();
    assert_eq!(times, ["1970-01-01T00:00:01.000002Z", "1970-01-01T00:00:01.000001Z", "1970-01-01T00:00:01Z"]);
    assert_eq!((&meta(0)["committer"], &meta(0)["authors"]), (&json!("carol"), &json!(["dave"])));
    assert_eq!(meta(0)["allProperties"], json!({"import.source-hash": [C], "x": ["y"]}));
    assert_eq!(list(&meta(0)["parentCommitHashes"]).len(), 2);
    assert_eq!(log[1]["operations"], Value::Null);
    assert_eq!(server.keys("main").await, ["a", "c"]);
    assert_eq!(server.head("none").await, EMPTY);

    // The table of old and new hashes, page by page.
    let table = server.get("/ext/v1/imports/moved/commits").await.ok();
    assert_eq!(table["hasMore"], false);
    let rows: Vec<_> = list(&table["commits"]).iter().map(|row| text(&row["oldHash"])).collect();
    assert_eq!(rows, [A, B, C]);
    assert_eq!(table["commits"][2]["newHash"], server.head("main").await);
    let first = server.get("/ext/v1/imports/moved/commits?max-records=2").await.ok();
    let rest = format!("/ext/v1/imports/moved/commits?page-token={}", text(&first["token"]));
    let rest = server.get(&rest).await.ok();
    assert_eq!((list(&first["commits"]).len(), list(&rest["commits"])), (2, &list(&table["commits"])[2..]));

    let entry = &reflog(&server, "ref=main").await[0];
    assert_eq!((&entry["operation"], &entry["run"]), (&json!("IMPORT"), &json!("import:moved")));
    assert_eq!(entry["oldHash"], EMPTY);
    // Sent again it is the same answer; its state is still there to be asked for.
    assert_eq!(import(&server, "id=moved", &foreign(&three(), 2)).await.ok(), state);
    assert_eq!(server.get("/ext/v1/imports/moved").await.ok(), state);
    commit(&server, "main", "goes-on").await;
}

#[tokio::test]
async fn what_is_not_done_is_listed_and_dropped() {
    let server = Server::start().await;
    let drop = async |id: &str| server.delete(&format!("/ext/v1/imports/{id}")).await;
    let names = async || {
        let found = server.get("/ext/v1/imports").await.ok();
        let name = |import: &Value| (text(&import["id"]).to_owned(), text(&import["status"]).to_owned());
        list(&found["imports"]).iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names().await, []);
    let whole = foreign(&three(), 2);
    let parts: Vec<_> =
        String::from_utf8_lossy(&whole).match_indices("{\"part\":").map(|(at, _)| at).collect();
    // Both references and a commit.
    import(&server, "id=half&prefix=x%2F", &whole[..parts[2]]).await.ok();
    import(&server, "id=done&prefix=y%2F", &whole).await.ok();
    assert_eq!(names().await, [("done".into(), "DONE".into()), ("half".into(), "OPEN".into())]);
    let stood = server.get("/ext/v1/imports/half").await.ok();
    assert_eq!((&stood["nextPart"], &stood["references"]), (&json!(3), &json!(3)));

    failed(drop("none").await, 404, "IMPORT_NOT_FOUND");
    failed(drop("done").await, 409, "IMPORT_CONFLICT");
    assert_eq!(drop("half").await.ok(), stood);
    failed(drop("half").await, 404, "IMPORT_NOT_FOUND");
    failed(server.get("/ext/v1/imports/half/commits").await, 404, "IMPORT_NOT_FOUND");
    assert_eq!(names().await, [("done".into(), "DONE".into())]);
    assert_eq!(list(&server.get("/ext/v1/imports/done/commits").await.ok()["commits"]).len(), 3);
    // Its name is free, for another stream and with other options.
    let anew = import(&server, "id=half&prefix=z%2F&existing=keep", &foreign(&three(), 10)).await.ok();
    assert_eq!((&anew["status"], &anew["commits"]), (&json!("DONE"), &json!(3)));
    assert_eq!(list(&anew["imported"])[0]["name"], "z/main");
}

/// A server that ends in the middle of it leaves an import that nothing goes on with but the next attempt.
#[tokio::test]
async fn dropping_that_broke_off_is_done_by_the_next() {
    let store = Arc::new(Memory::new());
    let server = Server::on(store.clone(), Arc::new(OpenAuthorizer)).await;
    let stream = foreign(&three(), 10);
    let end = String::from_utf8_lossy(&stream).rfind("{\"end\":").expect("a last line");
    import(&server, "id=half&prefix=x%2F", &stream[..end]).await.ok();
    let key = Bytes::from_static(b"import/half");
    let record = store.record(RecordSpace::Run, &key).await.expect("a store in memory").expect("its state");
    let mut state: Value = serde_json::from_slice(&record.value).expect("JSON");
    state["dropped"] = true.into();
    let marked = RecordChange {
        space: RecordSpace::Run,
        key,
        expected: ExpectedRecord::Version(record.version),
        value: Some(state.to_string().into()),
    };
    let change = Change { records: vec![marked], ..Change::default() };
    store.commit(Batch { changes: vec![change] }).await.expect("a store in memory takes it");

    let told = failed(import(&server, "id=half", &stream[..end]).await, 409, "IMPORT_CONFLICT");
    assert!(text(&told["message"]).contains("drop it again"), "{told}");
    server.delete("/ext/v1/imports/half").await.ok();
    let rows =
        store.records(RecordSpace::Cursor, Some(b"import/half/"), 10).await.expect("a store in memory");
    assert!(rows.is_empty(), "{rows:?}");
    assert_eq!(import(&server, "id=half", &stream).await.ok()["status"], "DONE");
}

#[tokio::test]
async fn a_page_of_the_list_holds_a_thousand_imports() {
    let server = Server::start().await;
    let stream = foreign(&three(), 2);
    let header = stream.iter().position(|byte| *byte == b'\n').expect("a header line") + 1;
    for n in 0..=1_000 {
        import(&server, &format!("id=i{n:04}"), &stream[..header]).await.ok();
    }
    let first = server.get("/ext/v1/imports?max-records=5000").await.ok();
    assert_eq!((list(&first["imports"]).len(), &first["hasMore"]), (1_000, &json!(true)));
    let rest = format!("/ext/v1/imports?page-token={}", text(&first["token"]));
    let rest = server.get(&rest).await.ok();
    assert_eq!((list(&rest["imports"])[0]["id"].as_str(), &rest["token"]), (Some("i1000"), &Value::Null));
    for bad in ["page-token=zz", "page-token=00", "max-records=0"] {
        failed(server.get(&format!("/ext/v1/imports?{bad}")).await, 400, "BAD_REQUEST");
    }
}

#[tokio::test]
async fn a_page_of_the_table_holds_ten_thousand_rows() {
    let server = Server::start().await;
    let id = |n: usize| format!("{n:08x}");
    let commits = (1..=10_001).map(|n| {
        let parent = id(n - 1);
        let parents = if n == 1 { Vec::new() } else { vec![parent.as_str()] };
        item(CommitLine {
            operations: Vec::new(),
            operation_count: 0,
            ..line(&id(n), &parents, n as i64, "k")
        })
    });
    let items: Vec<Item> = commits.collect();
    let stream = foreign(&items, 5_000);
    let page = async || {
        let page = server.get("/ext/v1/imports/many/commits?max-records=50000").await.ok();
        (list(&page["commits"]).len(), page["hasMore"] == true)
    };
    // Without its last part, which has one commit.
    let cut = String::from_utf8_lossy(&stream).match_indices("{\"part\":").nth(2).expect("a third part").0;
    import(&server, "id=many", &stream[..cut]).await.ok();
    assert_eq!(page().await, (10_000, false));
    import(&server, "id=many", &stream[cut..]).await.ok();
    assert_eq!(page().await, (10_000, true));
}

#[tokio::test]
async fn references_that_exist_are_refused_kept_or_moved() {
    let server = Server::start().await;
    let ours = commit(&server, "main", "ours").await;
    let stream = foreign(&three(), 10);
    let error = failed(import(&server, "id=a", &stream).await, 409, "REFERENCE_ALREADY_EXISTS");
    assert_eq!(error["details"]["references"], json!(["main"]));
    assert_eq!(error["details"]["nextPart"], 1);
    assert_eq!(server.head("main").await, ours);
    assert_eq!(server.get("/api/v2/trees/v1").await.status, 404);

    let state = import(&server, "id=b&prefix=from%2F", &stream).await.ok();
    assert_eq!(list(&state["imported"])[0]["name"], "from/main");
    let kept = import(&server, "id=c&existing=keep", &stream).await.ok();
    assert_eq!((&kept["kept"], list(&kept["imported"]).len()), (&json!(["main"]), 2));
    assert_eq!(server.head("main").await, ours);
    let moved = import(&server, "id=d&existing=move", &stream).await.ok();
    assert_eq!(moved["kept"], json!([]));
    assert_eq!(server.keys("main").await, ["a", "c"]);
    // What was moved away from comes back.
    let entries = reflog(&server, "ref=main").await;
    let body = json!({"entry": entries[0]["number"], "expectedNumber": entries[0]["number"]});
    server.post("/ext/v1/refs/main:restore", body).await.ok();
    assert_eq!(server.head("main").await, ours);
    // A tag does not become a branch.
    let other = foreign(&[reference(RefType::Branch, "v1", EMPTY)], 1);
    failed(import(&server, "id=e&existing=move", &other).await, 409, "REFERENCE_ALREADY_EXISTS");
    failed(import(&server, "id=f&existing=overwrite", &other).await, 400, "BAD_REQUEST");
}

#[tokio::test]
async fn an_import_is_one_stream_with_one_wish() {
    let server = Server::start().await;
    failed(server.get("/ext/v1/imports/x").await, 404, "IMPORT_NOT_FOUND");
    failed(server.get("/ext/v1/imports/x/commits").await, 404, "IMPORT_NOT_FOUND");
    let stream = foreign(&three(), 1);
    let cut = stream.len() / 2;
    failed(import_cut(&server, "id=x&prefix=p%2F", &stream, cut).await, 400, "BAD_REQUEST");
    let open = server.get("/ext/v1/imports/x").await.ok();
    assert_eq!(open["status"], "OPEN");
    failed(import(&server, "id=x&prefix=q%2F", &stream).await, 409, "IMPORT_CONFLICT");
    failed(import(&server, "id=x&existing=move", &stream).await, 409, "IMPORT_CONFLICT");
    // Parts of another stream do not fit.
    let mut other = three();
    other.swap(0, 1);
    let error = failed(import(&server, "id=x", &foreign(&other, 1)).await, 400, "STREAM_INVALID");
    assert!(text(&error["message"]).contains("another stream"), "{error}");
    assert_eq!(error["details"]["nextPart"], open["nextPart"]);
    let done = import(&server, "id=x", &stream).await.ok();
    assert_eq!((&done["status"], &done["prefix"]), (&json!("DONE"), &json!("p/")));
    for id in ["", "a%2Fb", "a.b", &"x".repeat(65)] {
        failed(import(&server, &format!("id={id}"), &stream).await, 400, "BAD_REQUEST");
    }
    import(&server, &format!("id={}&prefix=z%2F", "x".repeat(64)), &stream).await.ok();
}

#[tokio::test]
async fn streams_that_say_what_cannot_be_leave_nothing() {
    let server = Server::start().await;
    let main = |hash| reference(RefType::Branch, "main", hash);
    let twice = CommitLine {
        operation_count: 2,
        operations: [line(A, &[], 1, "a"), line(A, &[], 1, "a")]
            .into_iter()
            .flat_map(|c| c.operations)
            .collect(),
        ..line(A, &[], 1, "a")
    };
    for (at, (items, why)) in [
        (vec![main(A)], "does not hold"),
        (vec![item(line(B, &[A], 1, "b"))], "did not come before it"),
        (vec![item(line(A, &[], 1, "a")), item(line(A, &[], 2, "b"))], "twice"),
        (vec![item(CommitLine { operation_count: 2, ..line(A, &[], 1, "a") })], "lacks 1"),
        (vec![item(CommitLine { operation_count: 0, ..line(A, &[], 1, "a") })], "more operations"),
        (vec![item(twice)], "two operations on one key"),
        (vec![item(line("xyz", &[], 1, "a"))], "no commit id"),
        (vec![reference(RefType::Branch, "no name", EMPTY)], "cannot be the name"),
        (vec![reference(RefType::Branch, "HEAD", EMPTY)], "cannot be the name"),
        (vec![Item::Operations(Vec::new())], "no commit that lacks any"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = failed(
            import(&server, &format!("id=bad{at}"), &foreign(&items, 10)).await,
            400,
            "STREAM_INVALID",
        );
        assert!(text(&error["message"]).contains(why), "{why}: {error}");
        assert!(error["details"]["line"].is_u64(), "{error}");
    }
    assert_eq!(server.head("main").await, EMPTY);
    // Nonsense instead of a stream.
    for body in ["", "{}", "nonsense\n", "{\"header\":{}}\n", "[]\n"] {
        let code = if body.is_empty() { "BAD_REQUEST" } else { "STREAM_INVALID" };
        failed(import(&server, "id=nonsense", body.as_bytes()).await, 400, code);
    }
    failed(server.get("/ext/v1/imports/nonsense").await, 404, "IMPORT_NOT_FOUND");
}

#[tokio::test]
async fn a_lochan_stream_whose_commits_were_changed_is_refused() {
    let source = Server::start().await;
    commit(&source, "main", "a").await;
    let stream = String::from_utf8(export(&source, "").await.to_vec()).expect("text");
    // Written anew with good checks, but for a message that the hash does not know.
    let items: Vec<Item> = streams::lines(stream.as_bytes())
        .into_iter()
        .filter_map(|line| serde_json::from_value::<Item>(line).ok())
        .map(|item| match item {
            Item::Commit(commit) => {
                Item::Commit(Box::new(CommitLine { message: "forged".into(), ..*commit }))
            }
            other => other,
        })
        .collect();
    let forged = String::from_utf8(foreign(&items, 100)).expect("text").replace("\"NESSIE\"", "\"LOCHAN\"");
    // The header is hashed too, so the chain is written for the changed one.
    let forged = streams::rechained(forged.as_bytes());
    let target = Server::start().await;
    let error = failed(import(&target, "id=forged", &forged).await, 400, "STREAM_INVALID");
    assert!(text(&error["message"]).contains("damaged"), "{error}");
    assert_eq!(target.head("main").await, EMPTY);
}

#[tokio::test]
async fn compressed_streams_are_read_and_broken_ones_are_not() {
    use std::io::Write as _;
    let server = Server::start().await;
    let stream = foreign(&three(), 2);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&stream).expect("memory");
    let zipped = encoder.finish().expect("memory");
    let headers = [("content-encoding", "gzip")];
    let broken = streams::import_with(&server, "id=z", &headers, &zipped[..zipped.len() - 20]).await;
    assert_eq!(broken.status, 400, "{}", broken.body);
    failed(
        streams::import_with(&server, "id=z", &[("content-encoding", "br")], &zipped).await,
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    );
    let state = streams::import_with(&server, "id=z", &headers, &zipped).await.ok();
    assert_eq!((&state["status"], &state["commits"]), (&json!("DONE"), &json!(3)));
}
