use std::collections::HashSet;

use super::*;
use crate::nessie::model::{ContentKey, Fetch, ReferenceKind};
use crate::nessie::{v1, v2};
use crate::syntax::{HashSpec, RefSpec, reference::DiffSide};

fn everything() -> impl Iterator<Item = &'static EndpointInfo> {
    v1::ALL.iter().chain(v2::ALL).chain(crate::iceberg::ALL).chain(crate::ext::ALL)
}

#[test]
fn method_and_path_are_unique_and_lie_under_their_surface() {
    let mut seen = HashSet::new();
    for info in everything() {
        let base = match info.surface {
            Surface::NessieV1 => "/api/v1/",
            Surface::NessieV2 => "/api/v2/",
            Surface::Iceberg => "/iceberg/",
            Surface::Ext => "/ext/v1/",
        };
        assert!(info.path.starts_with(base), "{info:?}");
        assert!(info.summary.ends_with('.'), "{info:?}");
        assert!(seen.insert((info.method, info.path)), "{info:?}");
    }
    assert_eq!((v1::ALL.len(), v2::ALL.len()), (20, 18));
}

#[test]
fn names_are_unique_within_a_surface() {
    let mut seen = HashSet::new();
    for info in everything() {
        assert!(seen.insert((info.surface, info.name)), "{info:?}");
    }
}

#[test]
fn reads_do_not_mutate() {
    for info in everything() {
        match info.method {
            Method::Get | Method::Head => assert!(!info.mutates, "{info:?}"),
            Method::Put | Method::Delete => assert!(info.mutates, "{info:?}"),
            // Several keys at once are read by POST; metrics and tokens change nothing that is stored.
            Method::Post => {}
        }
    }
}

#[test]
fn parameters_of_templates() {
    let names = |template| parameters(template).collect::<Vec<_>>();
    assert_eq!(names(v2::trees::GetContent::PATH), ["ref", "key"]);
    assert_eq!(names(v1::diffs::GetDiff::PATH), ["from", "to"]);
    assert!(names(v2::config::GetConfig::PATH).is_empty());
}

#[test]
fn nessie_paths_are_written_as_clients_write_them() {
    let key = ContentKey::parse("db.a\u{1d}b").unwrap();
    let branch = RefSpec::at("my/branch", "cafebabe");
    assert_eq!(v2::trees::GetCommitLog::path(&branch), "/api/v2/trees/my%2Fbranch%40cafebabe/history");
    assert_eq!(v2::trees::GetReferenceByName::path(&RefSpec::named("-")), "/api/v2/trees/-");
    assert_eq!(
        v2::trees::GetContent::path(&RefSpec::named("main"), &key),
        "/api/v2/trees/main/contents/.db.a*.b"
    );
    assert_eq!(
        v2::trees::GetDiff::path(&branch, &RefSpec::named("a/b")),
        "/api/v2/trees/my%2Fbranch%40cafebabe/diff/a%2Fb%40"
    );
    assert_eq!(v1::contents::GetContent::path(&key), "/api/v1/contents/db.a%1Db");
    assert_eq!(v1::trees::AssignReference::path(ReferenceKind::Tag, "a/b"), "/api/v1/trees/tag/a%2Fb");
    let side = |name: &str, at: HashSpec| DiffSide { name: name.into(), at };
    assert_eq!(
        v1::diffs::GetDiff::path(&side("main", HashSpec::default()), &side("a/b", HashSpec::of("cafebabe"))),
        "/api/v1/diffs/main...a%2Fb*cafebabe"
    );
}

#[test]
fn queries_round_trip() {
    let query = v2::trees::get_entries::Query {
        keys: vec!["a.b".into(), "c\u{1d}d".into()],
        min_key: Some("a".into()),
        max_key: None,
        prefix_key: None,
        content: true,
        filter: Some("entry.name == 'x' && true".into()),
        max_records: Some(7),
        page_token: Some("00ff".into()),
    };
    let text = query.to_query();
    assert_eq!(
        text,
        "?key=a.b&key=c%1Dd&min-key=a&content=true&filter=entry.name%20%3D%3D%20%27x%27%20%26%26%20true&max-records=7&page-token=00ff"
    );
    assert_eq!(QueryParams::from_raw(text.trim_start_matches('?')), Ok(query));
}

#[test]
fn wire_names_differ_by_version() {
    let v1 = v1::trees::get_all_references::Query::from_raw("maxRecords=1&fetch=ALL&max-records=9").unwrap();
    assert_eq!((v1.max_records, v1.fetch), (Some(1), Fetch::All));
    let v2 = v2::trees::get_all_references::Query::from_raw("max-records=1&maxRecords=9&fetch=").unwrap();
    assert_eq!((v2.max_records, v2.fetch), (Some(1), Fetch::Minimal));
    assert!(v2::trees::get_all_references::Query::from_raw("fetch=all").is_err());
    assert_eq!(<() as QueryParams>::from_raw("x=y"), Ok(()));
}
