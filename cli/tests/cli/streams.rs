//! Repositories on their way out of one server and into another.

use lochan_api_spec::ext::model::RefType;
use lochan_api_spec::ext::stream::{Header, Item, ReferenceLine, SourceKind, Writer};
use lochan_api_spec::syntax::Instant;
use serde_json::{Value, json};

use crate::stub::{Answer, Stub};
use crate::world::*;

fn info() -> Answer {
    let body = json!({ "name": "lochan-server", "version": "0", "defaultBranch": "main", "warehouses": [],
        "store": { "engine": "sled", "durability": "fsync" } });
    ("GET /ext/v1/info", 200, body.to_string())
}

/// A stream of three parts, cut behind each: header and part 1, part 2, part 3 and end.
fn stream() -> [String; 3] {
    stream_of("ours")
}

fn stream_of(repository: &str) -> [String; 3] {
    let mut pieces = [const { Vec::new() }; 3];
    let header = Header {
        format: "lochan-repository".into(),
        version: 1,
        source: SourceKind::Lochan,
        repository: Some(repository.into()),
        server: None,
        default_branch: "main".into(),
        taken_at: Instant::from_micros(1),
    };
    let mut writer = Writer::begin(header, &mut pieces[0]);
    for (part, piece) in pieces.iter_mut().enumerate() {
        writer.begin_part(Some(format!("at{part}")), piece);
        let line = ReferenceLine { kind: RefType::Tag, name: format!("v{part}"), hash: hash("a1") };
        writer.item(&Item::Reference(line), piece).unwrap();
        writer.end_part(|_| (part < 2).then(|| format!("at{}", part + 1)), piece);
    }
    writer.end(&mut pieces[2]);
    pieces.map(|bytes| String::from_utf8(bytes).unwrap())
}

fn state(status: &str, next_part: u64) -> String {
    json!({ "id": "i", "status": status, "source": "LOCHAN", "hashesKept": true, "principal": "",
        "begun": "2026-05-01T11:00:00Z", "prefix": "", "existing": "refuse", "nextPart": next_part, "commits": 0,
        "timesRaised": 0, "references": 3, "logEntries": 0, "kept": [],
        "imported": [{ "type": "TAG", "name": "v0", "hash": hash("a1") }] })
    .to_string()
}

#[test]
fn an_export_goes_on_where_the_server_ended() {
    let [first, second, third] = stream();
    let stub = Stub::start(vec![
        info(),
        ("GET /ext/v1/export", 200, first.clone()),
        ("GET /ext/v1/export?from=at1", 200, second.clone()),
        ("GET /ext/v1/export?from=at2", 200, third.clone()),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.ndjson");
    let line = format!("lochan export {}", path.display());
    let ran = run(&stub, &line);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.stdout.starts_with("Exported 0 commits and 3 references to "), "{}", ran.all());
    let whole = format!("{first}{second}{third}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    let ran = run(&stub, &line);
    assert!(ran.code == 2 && ran.stderr.contains("--resume goes on with it"), "{}", ran.all());
    // To standard output, with nothing else there.
    assert_eq!(run(&stub, "lochan export -").stdout, whole);
    // A file that broke off inside the second part.
    let half = second.len() / 2;
    std::fs::write(&path, format!("{first}{}", &second[..half])).unwrap();
    let ran = run(&stub, &format!("{line} --resume"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    let ran = run(&stub, &format!("{line} --resume"));
    assert!(
        ran.code == 0 && ran.stdout.contains("is whole already: 0 commits and 3 references"),
        "{}",
        ran.all()
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn only_its_own_export_is_gone_on_with() {
    let [first, second, _] = stream();
    let stub = Stub::start(vec![info(), ("GET /ext/v1/export", 200, stream_of("theirs").concat())]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.ndjson");
    for (text, reason) in [
        ("precious\n".to_owned(), "is no export; --force replaces it"),
        ("precious".to_owned(), "is no export"),
        ("{}\n".to_owned(), "is no export"),
        (
            format!("{first}{}", &second[..9]),
            "is an export of the repository ours, and this server has theirs",
        ),
    ] {
        std::fs::write(&path, &text).unwrap();
        let ran = run(&stub, &format!("lochan export {} --resume", path.display()));
        assert!(ran.code == 2 && ran.stderr.contains(reason), "{text}: {}", ran.all());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it stays as it was");
    }
    // Nothing was written yet: there is nothing to lose.
    std::fs::write(&path, "").unwrap();
    assert_eq!(run(&stub, &format!("lochan export {} --resume", path.display())).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), stream_of("theirs").concat());
}

#[test]
fn a_damaged_stream_is_refused_on_both_ways() {
    let [first, second, third] = stream();
    let damaged = first.replace("\"v0\"", "\"v9\"");
    let stub = Stub::start(vec![
        info(),
        ("GET /ext/v1/export", 200, format!("{damaged}{second}{third}")),
        (
            "GET /ext/v1/imports/",
            404,
            json!({ "error": { "code": "IMPORT_NOT_FOUND", "message": "" } }).to_string(),
        ),
        ("POST /ext/v1/import", 200, state("DONE", 4)),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.ndjson");
    let ran = run(&stub, &format!("lochan export {}", path.display()));
    assert!(ran.code == 2 && ran.stderr.contains("part 1 is damaged"), "{}", ran.all());
    for bad in [format!("{damaged}{second}{third}"), format!("{first}{third}"), first, String::new()] {
        let ran = run_with(&[("LOCHAN_ENDPOINT", &stub.url)], &bad, "lochan import -");
        assert_eq!(ran.code, 2, "{}", ran.all());
    }
    assert!(
        stub.bodies("POST").is_empty(),
        "nothing of a stream that turns out to be damaged at once is sent"
    );
}

#[test]
fn an_import_sends_what_the_server_has_not() {
    let [first, second, third] = stream();
    let whole = format!("{first}{second}{third}");
    let missing = json!({ "error": { "code": "IMPORT_NOT_FOUND", "message": "" } }).to_string();
    let fresh = Stub::start(vec![
        ("GET /ext/v1/imports/", 404, missing),
        ("POST /ext/v1/import", 503, error(503, "SERVICE_UNAVAILABLE", "busy")),
        ("POST /ext/v1/import", 200, state("DONE", 4)),
    ]);
    let line = "lochan import - --prefix old/ --existing keep";
    let ran = run_with(&[("LOCHAN_ENDPOINT", &fresh.url)], &whole, line);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.stdout.contains("tag    v0 at a1a1a1a1a1a1"), "{}", ran.all());
    assert_eq!(fresh.bodies("POST"), [whole.clone(), whole.clone()], "sent again after the refusal");
    let asked = fresh.requests();
    let sent = asked.last().unwrap();
    assert!(
        sent.contains("prefix=old%2F") && sent.contains("existing=keep") && sent.contains("id="),
        "{sent}"
    );

    let begun = Stub::start(vec![
        ("GET /ext/v1/imports/", 200, state("OPEN", 3)),
        ("POST /ext/v1/import", 200, state("DONE", 4)),
    ]);
    let ran = run_with(&[("LOCHAN_ENDPOINT", &begun.url)], &whole, "lochan import -");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let header = first.lines().next().unwrap();
    assert_eq!(begun.bodies("POST"), [format!("{header}\n{third}")]);

    let done = Stub::start(vec![("GET /ext/v1/imports/", 200, state("DONE", 4))]);
    let import = |text: &str, line: &str| run_with(&[("LOCHAN_ENDPOINT", &done.url)], text, line);
    let again = import(&whole, "lochan import -");
    assert!(again.code == 0 && again.stdout.contains("nothing was done now"), "{}", again.all());
    assert_eq!(import(&whole, "lochan --json import -").json()["already"], true);
    // What was taken in before is checked all the same, and so is what is asked for.
    assert_eq!(import(&first, "lochan import -").code, 2);
    let damaged = whole.replace("\"v2\"", "\"v9\"");
    assert_eq!(import(&damaged, "lochan import -").code, 2);
    let other = import(&whole, "lochan import - --id i --prefix old/");
    assert!(other.code == 2 && other.stderr.contains("--id NAME takes it in anew"), "{}", other.all());
    assert!(done.bodies("POST").is_empty());
}

#[test]
fn an_import_asked_for_otherwise_is_another_one() {
    let whole = stream().concat();
    let missing = json!({ "error": { "code": "IMPORT_NOT_FOUND", "message": "" } }).to_string();
    let id = |options: &str| {
        let stub = Stub::start(vec![
            ("GET /ext/v1/imports/", 404, missing.clone()),
            ("POST /ext/v1/import", 200, state("DONE", 4)),
        ]);
        run_with(&[("LOCHAN_ENDPOINT", &stub.url)], &whole, &format!("lochan import - {options}"));
        let asked = stub.requests();
        let (_, id) = asked.last().unwrap().split_once("id=").unwrap();
        id.split(['&', ' ']).next().unwrap().to_owned()
    };
    let plain = id("");
    assert_eq!(id(""), plain);
    assert_eq!(id("--existing move"), format!("{plain}-move"));
    assert_eq!(id("--prefix old/ --existing keep"), format!("{plain}-keep-old_"));
    assert_eq!(id(&format!("--prefix {}/", "x".repeat(100))).len(), 64);
    assert_eq!(id("--id mine --existing move"), "mine");
}

#[test]
fn any_nessie_server_is_exported_from() {
    let op = json!({ "type": "PUT", "key": { "elements": ["t"] }, "content": table("i", "s3://b/m", 1) });
    let entry = |digits: &str, parents: Vec<String>, operations: Value| {
        let mut meta = meta(digits, 10, "ann", digits);
        meta["parentCommitHashes"] = json!(parents);
        json!({ "commitMeta": meta, "parentCommitHash": hash("00"), "operations": operations })
    };
    let page =
        |entries: Vec<Value>| json!({ "hasMore": false, "token": null, "logEntries": entries }).to_string();
    let (a, b, x, m) = (
        entry("a1", vec![], json!([op])),
        entry("b2", vec![hash("a1")], Value::Null),
        entry("d4", vec![hash("a1")], Value::Null),
        entry("c3", vec![hash("b2"), hash("d4")], Value::Null),
    );
    let stub = Stub::start(vec![
        config(),
        ("GET /ext/v1/info", 404, error(404, "UNKNOWN", "HTTP 404 Not Found")),
        (
            "GET /api/v2/trees",
            200,
            json!({ "hasMore": false, "references": [branch("main", "c3")] }).to_string(),
        ),
        ("GET /api/v2/trees/@c3", 200, page(vec![m, b, a.clone()])),
        ("GET /api/v2/trees/@d4", 200, page(vec![x, a])),
    ]);
    let ran = run(&stub, "lochan export -");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["header"]["source"], "NESSIE");
    let commits: Vec<&str> = lines.iter().filter_map(|line| line["commit"]["message"].as_str()).collect();
    assert_eq!(commits, ["a1", "d4", "b2", "c3"], "parents first");
    let merge = lines.iter().find(|line| line["commit"]["message"] == "c3").unwrap();
    assert_eq!(merge["commit"]["parents"], json!([hash("b2"), hash("d4")]));
    assert_eq!(lines.last().unwrap()["end"]["commits"], 4);
    let root = lines.iter().find(|line| line["commit"]["message"] == "a1").unwrap();
    assert_eq!(root["commit"]["operations"][0]["put"]["key"]["elements"], json!(["t"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.ndjson");
    std::fs::write(&path, &ran.stdout).unwrap();
    let ran = run(&stub, &format!("lochan export {} --resume", path.display()));
    assert_eq!(ran.code, 0, "a whole stream reads back: {}", ran.all());
}
