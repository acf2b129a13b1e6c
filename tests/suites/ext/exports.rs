//! `GET /ext/v1/export`

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::join;
use serde_json::{Value, json};

use crate::harness::{Server, put, text};
use crate::streams::{export, import, lines};
use crate::world::{commit, delete, failed};

/// A few branches, tags and commits; one commit with more operations than a line takes.
async fn filled() -> Server {
    let server = Server::start().await;
    for n in 0..4 {
        commit(&server, "main", &format!("m{n}")).await;
    }
    let many: Vec<Value> = (0..2_300).map(|n| put(&format!("t{n}"), &format!("s3://lake/t{n}"))).collect();
    server.commit("main", "many", json!(many)).await;
    server.create("BRANCH", "dev/one", "main").await;
    commit(&server, "dev%2Fone", "d").await;
    server.create("TAG", "v1", "main").await;
    server.create("BRANCH", "gone", "main").await;
    delete(&server, "gone").await;
    server
}

#[tokio::test]
async fn a_stream_holds_everything_in_order() {
    let server = filled().await;
    let stream = lines(&export(&server, "ref-log=true").await);
    let header = &stream[0]["header"];
    assert_eq!(
        (&header["source"], &header["version"], &header["defaultBranch"]),
        (&json!("LOCHAN"), &json!(1), &json!("main"))
    );
    assert!(header["repository"].is_string());
    let names: Vec<_> =
        stream.iter().filter_map(|line| line.get("reference")).map(|r| text(&r["name"])).collect();
    assert_eq!(names, ["dev/one", "main", "v1"]);
    let mut seen: HashSet<String> = HashSet::from([crate::harness::EMPTY.to_owned()]);
    for commit in stream.iter().filter_map(|line| line.get("commit")) {
        assert!(
            commit["parents"]
                .as_array()
                .unwrap()
                .iter()
                .all(|parent| seen.contains(parent.as_str().unwrap()))
        );
        assert!(seen.insert(text(&commit["id"])));
    }
    assert_eq!(seen.len(), 1 + 6);
    let operations: usize = stream
        .iter()
        .filter_map(|line| line.get("operations"))
        .map(|more| more.as_array().unwrap().len())
        .sum();
    assert_eq!(operations, 1_300);
    let log = stream.iter().filter(|line| line.get("logEntry").is_some()).count();
    let end = &stream.last().unwrap()["end"];
    // Creates 4, commits 6, delete 1
    assert_eq!(
        (end["references"].as_u64(), end["commits"].as_u64(), end["logEntries"].as_u64()),
        (Some(3), Some(6), Some(11))
    );
    assert_eq!(log, 11);
    let without = lines(&export(&server, "").await);
    assert_eq!(without.last().unwrap()["end"]["logEntries"], 0);
}

#[tokio::test]
async fn it_goes_on_from_every_part_with_the_same_bytes() {
    let server = filled().await;
    // Large enough for several parts.
    for n in 0..6 {
        let wide = format!("s3://lake/{}", "x".repeat(400_000 + n));
        server.commit("dev%2Fone", "wide", json!([put(&format!("wide{n}"), &wide)])).await;
    }
    let whole = export(&server, "ref-log=true").await;
    let all = lines(&whole);
    assert!(all.last().unwrap()["end"]["parts"].as_u64().unwrap() >= 3);
    // A change in between is not part of what goes on.
    let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    commit(&server, "main", "later").await;
    let whole = text_of(&whole);
    for part in all.iter().filter_map(|line| line.get("part")) {
        let from = text(&part["position"]);
        let rest = text_of(&export(&server, &format!("from={from}")).await);
        assert!(whole.ends_with(&rest) && rest.starts_with("{\"part\""), "part {}", part["number"]);
    }
    // Piece by piece is the same as all at once.
    let mut pieces = text_of(&export(&server, "ref-log=true&max-parts=1").await);
    assert!(!pieces.contains("later\""));
    let mut joined = String::new();
    loop {
        let end = lines(pieces.as_bytes()).last().unwrap().clone();
        joined += &pieces;
        match end.get("partEnd") {
            Some(part) if part["next"].is_string() => {
                pieces =
                    text_of(&export(&server, &format!("max-parts=1&from={}", text(&part["next"]))).await);
            }
            _ => break,
        }
    }
    let joined = lines(joined.as_bytes());
    assert!(joined.last().unwrap().get("end").is_some());
    failed(server.get("/ext/v1/export?from=00").await, 400, "BAD_REQUEST");
    let position = text(&all.iter().find_map(|line| line.get("part")).unwrap()["position"]);
    let (begin, end) = position.split_at(position.len() - 2);
    let garbled = format!("{begin}{}", if end == "00" { "01" } else { "00" });
    failed(server.get(&format!("/ext/v1/export?from={garbled}")).await, 400, "BAD_REQUEST");
    failed(server.get("/ext/v1/export?max-parts=0").await, 400, "BAD_REQUEST");
}

#[tokio::test]
async fn another_repository_does_not_go_on_with_it() {
    let (one, other) = (filled().await, filled().await);
    let stream = lines(&export(&one, "max-parts=1").await);
    let position = text(&stream.iter().find_map(|line| line.get("part")).unwrap()["position"]);
    let refused = other.get(&format!("/ext/v1/export?from={position}")).await;
    let message = text(&failed(refused, 400, "BAD_REQUEST")["message"]);
    let [here, there] = [lines(&export(&other, "").await)[0].clone(), stream[0].clone()]
        .map(|line| text(&line["header"]["repository"]));
    assert!(message.contains(&here) && message.contains(&there) && here != there, "{message}");
}

#[tokio::test]
async fn it_shows_one_moment_while_others_write() {
    let server = Arc::new(Server::start().await);
    server.create("BRANCH", "twin", "main").await;
    // Two branches whose heads move in turn: a moment never shows the second ahead of the first.
    let writer = async {
        for n in 0..60 {
            commit(&server, "main", &format!("k{n}")).await;
            commit(&server, "twin", &format!("k{n}")).await;
        }
    };
    let reader = async {
        let mut streams = Vec::new();
        for _ in 0..20 {
            streams.push(export(&server, "").await);
            tokio::task::yield_now().await;
        }
        streams
    };
    let ((), streams) = join(writer, reader).await;
    for stream in streams {
        let stream = lines(&stream);
        let parents: std::collections::HashMap<String, String> = stream
            .iter()
            .filter_map(|line| line.get("commit"))
            .map(|commit| (text(&commit["id"]), text(&commit["parents"][0])))
            .collect();
        let depth = |name: &str| {
            let line =
                stream.iter().filter_map(|line| line.get("reference")).find(|r| r["name"] == name).unwrap();
            let mut at = text(&line["hash"]);
            let mut depth = 0;
            while let Some(parent) = parents.get(&at) {
                at = parent.clone();
                depth += 1;
            }
            assert_eq!(at, crate::harness::EMPTY);
            depth
        };
        let (main, twin) = (depth("main"), depth("twin"));
        assert!(main == twin || main == twin + 1, "{main} {twin}");
    }
}

#[tokio::test]
async fn an_empty_repository_is_a_stream_too() {
    let server = Server::start().await;
    let stream = export(&server, "").await;
    let end = lines(&stream).last().unwrap()["end"].clone();
    assert_eq!((end["references"].as_u64(), end["commits"].as_u64()), (Some(1), Some(0)));
    let other = Server::start().await;
    let state = import(&other, "id=empty", &stream).await.ok();
    assert_eq!((&state["status"], &state["commits"]), (&json!("DONE"), &json!(0)));
}
