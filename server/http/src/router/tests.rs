use super::*;

fn found(method: Method, path: &str) -> (Op, Params) {
    match route(&method, path) {
        Routed::Op(op, params) => (op, params),
        other => panic!("{method} {path}: {other:?}"),
    }
}

#[track_caller]
fn check_reference(path: &str, op: Op, reference: &str) {
    let (got, params) = found(Method::from_bytes(op.method().as_bytes()).unwrap(), path);
    assert_eq!((got, params.reference.of(path)), (op, reference), "{path}");
}

#[test]
fn every_template_leads_to_its_operation() {
    for op in Op::ALL {
        let method = Method::from_bytes(op.method().as_bytes()).unwrap();
        let path = op.template().replace("{type}", "branch").replace(['{', '}'], "");
        assert_eq!(found(method, &path).0, *op, "{path}");
    }
}

#[test]
fn every_declared_endpoint_is_routed_and_nothing_else() {
    use lochan_api_spec::{ext, iceberg, nessie};
    let declared = [nessie::v1::ALL, nessie::v2::ALL, iceberg::ALL, ext::ALL].concat();
    let mut declared: Vec<(&str, &str, bool)> =
        declared.iter().map(|info| (info.method.as_str(), info.path, info.mutates)).collect();
    let mut routed: Vec<(&str, &str, bool)> =
        Op::ALL.iter().map(|op| (op.method(), op.template(), op.effect() == Effect::Writes)).collect();
    declared.sort_unstable();
    routed.sort_unstable();
    assert_eq!(routed, declared);
}

#[test]
fn operations_are_numbered_in_order() {
    for (at, op) in Op::ALL.iter().enumerate() {
        assert_eq!(*op as usize, at);
    }
}

#[test]
fn v2_references_hold_slashes() {
    check_reference("/api/v2/trees/my%2Fbranch%40abc/history", Op::V2GetCommitLog, "my%2Fbranch%40abc");
    check_reference("/api/v2/trees/my/branch@/history", Op::V2GetCommitLog, "my/branch@");
    check_reference(
        "/api/v2/trees/my/branch%40abc/history/commit",
        Op::V2CommitMultipleOperations,
        "my/branch%40abc",
    );
    check_reference("/api/v2/trees/a/b@/contents", Op::V2GetSeveralContents, "a/b@");
    check_reference("/api/v2/trees/a/b@", Op::V2GetReferenceByName, "a/b@");
    check_reference("/api/v2/trees/history", Op::V2GetReferenceByName, "history");
    check_reference("/api/v2/trees/history/history", Op::V2GetCommitLog, "history");
    check_reference("/api/v2/trees/-", Op::V2GetReferenceByName, "-");
    check_reference("/api/v2/trees/@abc%5E2/entries", Op::V2GetEntries, "@abc%5E2");
    assert_eq!(route(&Method::GET, "/api/v2/trees/a/b"), Routed::Unknown(Surface::NessieV2));
}

#[test]
fn v2_keys_named_like_suffixes_are_keys() {
    for key in ["history", "entries", "contents", "recent-changes", "a%2Fb", "x@y"] {
        let path = format!("/api/v2/trees/main/contents/{key}");
        let (op, params) = found(Method::GET, &path);
        assert_eq!((op, params.reference.of(&path), params.key.of(&path)), (Op::V2GetContent, "main", key));
    }
}

#[test]
fn v2_diff_takes_slashes_on_both_sides() {
    for (from, to) in
        [("main", "dev"), ("a/b@", "dev"), ("main", "a/b@12345678"), ("a/b@", "c/d@"), ("diff", "diff")]
    {
        let path = format!("/api/v2/trees/{from}/diff/{to}");
        let (op, params) = found(Method::GET, &path);
        assert_eq!((op, params.reference.of(&path), params.to.of(&path)), (Op::V2GetDiff, from, to));
    }
}

#[test]
fn v1_diff_is_cut_at_the_first_three_dots() {
    let path = "/api/v1/diffs/main%2A2e1c...x.y*abc";
    let (op, params) = found(Method::GET, path);
    assert_eq!(
        (op, params.reference.of(path), params.to.of(path)),
        (Op::V1GetDiff, "main%2A2e1c", "x.y*abc")
    );
    assert_eq!(route(&Method::GET, "/api/v1/diffs/main"), Routed::Unknown(Surface::NessieV1));
}

#[test]
fn v1_types_are_closed() {
    let path = "/api/v1/trees/TAG/a%2Fb";
    let (op, params) = found(Method::PUT, path);
    assert_eq!(
        (op, params.kind.of(path), params.reference.of(path)),
        (Op::V1AssignReference, "TAG", "a%2Fb")
    );
    assert_eq!(route(&Method::PUT, "/api/v1/trees/thing/x"), Routed::Unknown(Surface::NessieV1));
    assert!(matches!(route(&Method::GET, "/api/v1/trees/branch/main/commit"), Routed::WrongMethod(..)));
}

#[test]
fn iceberg_takes_slashes_prefixes_and_references() {
    for (path, op, reference, prefix) in [
        ("/iceberg//v1/config", Op::IcebergGetConfig, "", ""),
        ("/iceberg/main/v1/config/", Op::IcebergGetConfigOfReference, "main", ""),
        ("/iceberg/v1/v1/config", Op::IcebergGetConfigOfReference, "v1", ""),
        ("/iceberg/my%2Fdev%7Clake/v1/config", Op::IcebergGetConfigOfReference, "my%2Fdev%7Clake", ""),
        ("/iceberg/v1/main%257Csales/namespaces/", Op::IcebergListNamespaces, "", "main%257Csales"),
        ("/iceberg/main/v1/main%7Csales//namespaces", Op::IcebergListNamespaces, "main", "main%7Csales"),
        ("/iceberg/v1/v1/namespaces", Op::IcebergListNamespaces, "", "v1"),
    ] {
        let (got, params) = found(Method::GET, path);
        assert_eq!(
            (got, params.reference.of(path), params.prefix.of(path)),
            (op, reference, prefix),
            "{path}"
        );
    }
    let path = "/iceberg/v1/p/namespaces/a%1Fb+c/tables/t%2Fx%40dev";
    let (op, params) = found(Method::HEAD, path);
    assert_eq!(
        (op, params.namespace.of(path), params.name.of(path)),
        (Op::IcebergTableExists, "a%1Fb+c", "t%2Fx%40dev")
    );
}

#[test]
fn verbs_stand_behind_references_with_slashes() {
    for (path, op, reference) in [
        ("/ext/v1/refs/main:restore", Op::ExtRestoreReference, "main"),
        ("/ext/v1/refs/a%2Fb:rebase", Op::ExtRebaseBranch, "a%2Fb"),
        ("/ext/v1/refs/a/b/c:rebase", Op::ExtRebaseBranch, "a/b/c"),
    ] {
        check_reference(path, op, reference);
    }
    for path in ["/ext/v1/refs/main", "/ext/v1/refs/:restore", "/ext/v1/refs/main:undo", "/ext/v1/refs"] {
        assert_eq!(route(&Method::POST, path), Routed::Unknown(Surface::Ext), "{path}");
    }
}

#[test]
fn slashes_are_tolerated_and_case_is_not() {
    for path in ["/api/v2/trees/", "/api/v2//trees", "//api/v2/trees//"] {
        assert_eq!(found(Method::GET, path).0, Op::V2GetAllReferences);
    }
    check_reference("/api/v2/trees/main//entries", Op::V2GetEntries, "main");
    for path in
        ["/API/v2/trees", "/api/v2/Trees", "/api", "/api/v3/config", "/", "", "/iceberg", "/iceberg/v1"]
    {
        assert!(matches!(route(&Method::GET, path), Routed::Unknown(_)), "{path}");
    }
    let long = format!("/api/v1/{}", "x/".repeat(100));
    assert_eq!(route(&Method::GET, &long), Routed::Unknown(Surface::NessieV1));
}

#[test]
fn methods_are_chosen_last() {
    assert_eq!(found(Method::HEAD, "/api/v2/config").0, Op::V2GetConfig);
    assert_eq!(found(Method::HEAD, "/iceberg/v1/p/namespaces/a").0, Op::IcebergNamespaceExists);
    match route(&Method::PATCH, "/api/v2/trees/main") {
        Routed::WrongMethod(Surface::NessieV2, ops) => {
            assert_eq!(allow(ops), "GET, PUT, DELETE, HEAD, OPTIONS")
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(route(&Method::OPTIONS, "/api/v2/trees"), Routed::Options(..)));
}

proptest::proptest! {
    #[test]
    fn no_path_is_too_strange(path in "[/a-z@%0-9.v]{0,60}", below in "(api/v2/trees|api/v1|iceberg|iceberg/v1)") {
        let _ = route(&Method::GET, &format!("/{below}/{path}"));
        let _ = route(&Method::GET, &path);
    }
}

#[test]
fn pages_are_found_beside_the_operations() {
    use crate::openapi::Page;
    for path in ["/openapi", "/openapi/", "//openapi"] {
        assert_eq!(route(&Method::GET, path), Routed::Page(Page::Index), "{path}");
    }
    assert_eq!(route(&Method::HEAD, "/openapi/ui/"), Routed::Page(Page::Ui));
    assert_eq!(route(&Method::OPTIONS, "/openapi/ui"), Routed::PageOptions);
    assert_eq!(route(&Method::POST, "/openapi/ui"), Routed::WrongPageMethod);
    for path in ["/openapi/nothing.json", "/openapi/ui/a/b", "/openapi/ext", "/openapi.json"] {
        assert_eq!(route(&Method::GET, path), Routed::Unknown(Surface::Ext), "{path}");
    }
}
