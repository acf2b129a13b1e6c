//! Repositories from server to server: with kills of either side, and large.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use lochan_api_spec::ext::model::RefType;
use lochan_api_spec::ext::stream::{
    CommitLine, FORMAT, Header, Item, OperationLine, ReferenceLine, SourceKind, VERSION, Writer,
};
use lochan_api_spec::nessie::model::{Content, ContentKey, IcebergTable};
use lochan_api_spec::syntax::Instant as Time;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::process::{Process, program};
use crate::world::{World, text};

/// Tables of the repository; each commit puts one of them.
const TABLES: usize = 500;
/// Commits of the large repository, unless `LOCHAN_TRANSFER_COMMITS` names another number.
const COMMITS_LARGE: usize = 2_000;
/// What a server may need in memory beyond what it needs for nothing, in bytes, for 10,000 commits: most of it is its caches,
/// which have bounds of their own.
const MEMORY_MAX_BYTES: u64 = 96 << 20;
/// Longest time for one commit on its way out, and on its way in, in a build without optimization on a busy machine.
const COMMIT_TIME_MAX: Duration = Duration::from_millis(10);

/// A repository of another server: a branch, and a second one that leaves it in the middle and is merged in the end.
fn foreign(commits: usize, per_part: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        source: SourceKind::Nessie,
        repository: None,
        server: Some("nessie".into()),
        default_branch: "main".into(),
        taken_at: Time::from_micros(1),
    };
    let mut writer = Writer::begin(header, &mut out);
    let fork = commits / 2;
    let mut items = vec![
        reference(RefType::Branch, "main", &id(commits - 1)),
        reference(RefType::Branch, "dev", &id(commits - 2)),
        reference(RefType::Tag, "half", &id(fork)),
    ];
    for number in 0..commits {
        let parents = match number {
            0 => Vec::new(),
            // The branch is every second commit behind the fork.
            _ if number + 1 == commits => vec![id(number - 2), id(number - 1)],
            _ if number > fork + 1 => vec![id(number - 2)],
            _ if number == fork + 1 => vec![id(fork - 1)],
            _ => vec![id(number - 1)],
        };
        items.push(Item::Commit(Box::new(commit(number, parents))));
    }
    for part in items.chunks(per_part) {
        writer.begin_part(None, &mut out);
        for item in part {
            writer.item(item, &mut out).expect("small items");
        }
        writer.end_part(|_| None, &mut out);
    }
    writer.end(&mut out);
    out
}

fn id(number: usize) -> String {
    format!("{:064x}", number + 1)
}

fn reference(kind: RefType, name: &str, hash: &str) -> Item {
    Item::Reference(ReferenceLine { kind, name: name.into(), hash: hash.into() })
}

fn commit(number: usize, parents: Vec<String>) -> CommitLine {
    let table = number % TABLES;
    let content = Content::IcebergTable(IcebergTable {
        id: Some(format!("5f4dbd08-0000-4000-8000-{table:012x}")),
        metadata_location: format!("s3://lake/warehouse/t{table}/metadata/{number:05}.metadata.json"),
        snapshot_id: number as i64,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    });
    let key = ContentKey::parse(&format!("db{}.t{table}", table % 7)).expect("a key");
    CommitLine {
        id: id(number),
        parents,
        message: format!("step {number}"),
        committer: "carol".into(),
        authors: vec!["dave".into()],
        signed_off_by: Vec::new(),
        commit_time: Time::from_micros(1_700_000_000_000_000 + number as i64),
        author_time: None,
        properties: BTreeMap::new(),
        attachments: Vec::new(),
        operation_count: 1,
        operations: vec![OperationLine::Put { key, content }],
    }
}

/// The program, under way.
fn lochan(server: &Process, home: &TempDir, words: &[&str]) -> Child {
    Command::new(program("lochan"))
        .args(words)
        .arg("--json")
        .env_clear()
        .env("HOME", home.path())
        .env("LOCHAN_ENDPOINT", server.root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program can be started")
}

/// The document of a run that succeeds.
async fn done(child: Child) -> Value {
    let ran = child.wait_with_output().await.expect("the program ends");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("a document")
}

/// Commits and references of a stream.
fn read(stream: &Path) -> (Vec<Value>, Vec<Value>) {
    let text = std::fs::read_to_string(stream).expect("a stream");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let all = |name: &str| lines.iter().filter_map(|line| line.get(name)).cloned().collect();
    (all("commit"), all("reference"))
}

#[tokio::test]
async fn kills_of_server_and_client_lose_nothing_and_double_nothing() {
    const COMMITS: usize = 1_500;
    const COMMITS_PER_PART: usize = 5;
    // Wanted when all parts are there.
    const LAST: u64 = (COMMITS / COMMITS_PER_PART) as u64 + 1;
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    std::fs::write(path("stream"), foreign(COMMITS, COMMITS_PER_PART)).unwrap();
    let mut server = Process::start().await;
    let import = ["import", &path("stream"), "--id", "i", "--table", &path("table")];
    let mut part = 1;
    // The client goes, and begins anew.
    for _ in 0..3 {
        let mut client = lochan(&server, &home, &import);
        part = server.import_wants("i", LAST.min(part + 20)).await;
        client.kill().await.unwrap();
        let references = server.get("api/v2/trees").await.expect("an answer");
        assert_eq!(references["references"].as_array().unwrap().len(), 1, "nothing shows before the end");
    }
    // The server is not there when the client asks first, and goes again. The client waits for it and goes on.
    let gone = server.kill_and_listen().await;
    let mut client = lochan(&server, &home, &import);
    drop(gone.accept().await.expect("the client asks"));
    drop(gone);
    server.start_again().await;
    for _ in 0..3 {
        tokio::select! {
            next = server.import_wants("i", LAST.min(part + 20)) => part = next,
            ended = client.wait() => assert!(ended.unwrap().success(), "{:?}", done(client).await),
        }
        server.kill_and_start().await;
        assert!(server.import_wants("i", part).await >= part, "what was acknowledged is there");
    }
    let mut state = done(client).await;
    assert_eq!((&state["status"], &state["commits"]), (&"DONE".into(), &COMMITS.into()));
    // Both, when all is done: nothing more happens.
    server.kill_and_start().await;
    assert_eq!(state["already"], false);
    state["already"] = true.into();
    assert_eq!(done(lochan(&server, &home, &import)).await, state);

    let table = std::fs::read_to_string(path("table")).unwrap();
    let rows: BTreeMap<&str, &str> = table.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!((rows.len(), rows.values().collect::<HashSet<_>>().len()), (COMMITS, COMMITS));
    done(lochan(&server, &home, &["export", &path("again")])).await;
    let (commits, references) = read(path("again").as_ref());
    let (sent, wanted) = read(path("stream").as_ref());
    assert_eq!(commits.len(), COMMITS);
    // Every commit is there once, says what it said, and stands on the same parents.
    let by_hash: BTreeMap<&str, &Value> =
        commits.iter().map(|commit| (commit["id"].as_str().unwrap(), commit)).collect();
    for old in &sent {
        let new = by_hash[rows[old["id"].as_str().unwrap()]];
        let texts = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
        };
        let parents: Vec<String> = match texts(&old["parents"]) {
            none if none.is_empty() => vec![NO_ANCESTOR_HASH.to_owned()],
            parents => parents.iter().map(|parent| rows[parent.as_str()].to_owned()).collect(),
        };
        let found = texts(&new["parents"]);
        assert_eq!(
            (found, &new["message"], &new["operations"]),
            (parents, &old["message"], &old["operations"])
        );
    }
    let expected: HashSet<(String, String)> = wanted
        .iter()
        .map(|one| (one["name"].as_str().unwrap().to_owned(), rows[one["hash"].as_str().unwrap()].to_owned()))
        .collect();
    let found: HashSet<(String, String)> = references
        .iter()
        .map(|one| (one["name"].as_str().unwrap().to_owned(), one["hash"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_export_goes_on_only_with_what_began_it() {
    let (one, other) = (World::start().await, World::start().await);
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    let resume = |name: &str| format!("export --resume {}", path(name));

    std::fs::write(path("foreign"), "precious\n").unwrap();
    let ran = one.run(&resume("foreign")).await;
    assert!(ran.code == 2 && ran.err.contains("is no export; --force replaces it"), "{ran:?}");
    assert_eq!(read("foreign"), "precious\n");

    std::fs::write(path("empty"), "").unwrap();
    one.ok(&resume("empty")).await;
    let whole = read("empty");
    assert!(one.ok(&resume("empty")).await.contains("is whole already"), "asked twice");
    assert_eq!(read("empty"), whole);

    // Only the end is missing; half a part is there; nothing but the header is.
    for lines in [whole.lines().count() - 1, 3, 1] {
        let begun: String = whole.split_inclusive('\n').take(lines).collect();
        std::fs::write(path("begun"), &begun).unwrap();
        let ran = other.run(&resume("begun")).await;
        assert!(ran.code == 2 && ran.err.contains("is an export of the repository"), "{lines}: {ran:?}");
        assert_eq!(read("begun"), begun);
        one.ok(&resume("begun")).await;
        let made = read("begun");
        assert!(
            made == whole || lines < 4 && made.lines().count() == whole.lines().count(),
            "{lines}: {made}"
        );
    }
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn an_import_takes_one_whole_stream_and_no_other_under_its_name() {
    let (one, other) = (World::start().await, World::start().await);
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    one.ok(&format!("export {}", path("first"))).await;
    one.put("main", "nyc.more", 1).await;
    one.ok(&format!("export {}", path("second"))).await;
    let stream = std::fs::read_to_string(path("first")).unwrap();
    for more in ["junk\n", &stream] {
        std::fs::write(path("longer"), format!("{stream}{more}")).unwrap();
        let ran = other.run(&format!("import {} --prefix x/", path("longer"))).await;
        assert!(ran.code == 2 && ran.err.contains("more follows its last line"), "{ran:?}");
    }
    let import = |name: &str| format!("import {} --prefix y/ --id mine", path(name));
    assert_eq!(other.json(&import("first")).await["already"], false);
    assert_eq!(other.json(&import("first")).await["already"], true);
    let ran = other.run(&import("second")).await;
    assert!(ran.code == 2 && ran.err.contains("another stream was taken in as 'mine'"), "{ran:?}");
    let names = other.json("branch").await.to_string();
    assert!(names.contains("y/main") && !names.contains("x/"), "{names}");
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn imports_are_listed_and_one_that_is_not_done_is_given_up() {
    let (one, other) = (World::start().await, World::start().await);
    let home = tempfile::tempdir().unwrap();
    let stream = home.path().join("stream").display().to_string();
    one.ok(&format!("export {stream}")).await;
    assert_eq!(other.ok("import --list").await, "No imports.\n");
    // Both have a branch of this name.
    let ran = other.run(&format!("import {stream} --id stuck")).await;
    assert!(ran.code != 0 && ran.err.contains("main"), "{ran:?}");
    other.ok(&format!("import {stream} --id fine --prefix x/")).await;
    let listed = other.json("import --list").await;
    let of = |at: usize| (text(&listed[at]["id"]), text(&listed[at]["status"]));
    assert_eq!([of(0), of(1)], [("fine".into(), "DONE".into()), ("stuck".into(), "OPEN".into())]);
    let human = other.ok("import --list").await;
    assert!(human.contains("fine  done, ") && human.contains("stuck  not done, 0 commits so far"), "{human}");

    assert_eq!(other.json("import --drop stuck").await["id"], "stuck");
    for (name, code) in [("stuck", 3), ("fine", 1)] {
        let ran = other.run(&format!("import --drop {name}")).await;
        assert_eq!(ran.code, code, "{ran:?}");
    }
    let left = other.json("import --list").await;
    assert_eq!((left.as_array().unwrap().len(), text(&left[0]["id"])), (1, "fine".to_owned()));
    other.ok(&format!("import {stream} --id stuck --prefix y/")).await;
    for line in
        ["import", "import --list --drop x", &format!("import {stream} --list"), "import --drop x --id y"]
    {
        assert_eq!(other.run(line).await.code, 2, "{line}");
    }
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
async fn a_large_repository_takes_little_memory_and_its_time() {
    let commits = std::env::var("LOCHAN_TRANSFER_COMMITS").ok();
    let commits =
        commits.map_or(COMMITS_LARGE, |text| text.parse().expect("LOCHAN_TRANSFER_COMMITS is a number"));
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    std::fs::write(path("foreign"), foreign(commits, 1_000)).unwrap();
    let (first, second) = (Process::start().await, Process::start().await);
    let idle = first.memory_max_bytes().max(second.memory_max_bytes());
    let mut times = Vec::new();
    let mut step = async |server: &Process, words: &[&str]| {
        let began = Instant::now();
        let said = done(lochan(server, &home, words)).await;
        times.push((words[0].to_owned(), began.elapsed()));
        said
    };
    step(&first, &["import", &path("foreign")]).await;
    let out = step(&first, &["export", &path("stream"), "--ref-log"]).await;
    let taken = step(&second, &["import", &path("stream")]).await;
    step(&second, &["export", &path("again")]).await;
    assert_eq!((&out["commits"], &taken["commits"]), (&commits.into(), &commits.into()));
    assert_eq!(taken["hashesKept"], true);
    assert_eq!(read(path("stream").as_ref()), read(path("again").as_ref()));
    let most = first.memory_max_bytes().max(second.memory_max_bytes());
    println!("{commits} commits: {times:?}; {} MiB idle, {} MiB at most", idle >> 20, most >> 20);
    for (what, time) in &times {
        assert!(*time < COMMIT_TIME_MAX * u32::try_from(commits).unwrap(), "{what} took {time:?}");
    }
    assert!(most < idle + MEMORY_MAX_BYTES, "{idle} bytes idle, {most} at most");
}
