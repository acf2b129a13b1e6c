//! Every limit that the README names, and what tries it at its bound and past it. A limit written there without an entry
//! here fails, and so does a bound of the HTTP layer or of Iceberg documents that no entry names.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::rows;

/// What tries a limit.
enum Tried {
    /// A row of the table of requests.
    Row(&'static str),
    /// A test beside the code: its file and its name.
    Test(&'static str, &'static str),
    /// Nothing does; why not.
    Not(&'static str),
}

use Tried::{Not, Row, Test};

const EXTRACT: &str = "server/http/src/extract/tests.rs";
const SERVE: &str = "server/http/src/serve_tests.rs";
const SERVICE: &str = "server/http/src/service_tests.rs";
const WRITER: &str = "storage/engine/src/writer/tests.rs";
const A_CUT: Tried = Not("nothing is refused: what is longer comes in pages");

/// The first column of the README's table, the constants behind it, and what tries them.
const LIMITS: &[(&str, &[&str], &[Tried])] = &[
    (
        "open connections",
        &["CONNECTIONS_MAX"],
        &[Test(SERVE, "the_connection_past_the_bound_waits_for_one_to_close")],
    ),
    ("requests at work at once", &["REQUESTS_MAX"], &[Test(SERVICE, "requests_at_work_are_bounded")]),
    (
        "request line and headers; path and query; path segments",
        &["HEADER_BYTES_MAX", "HEADERS_MAX", "TARGET_BYTES_MAX", "SEGMENTS_MAX"],
        &[Test(SERVE, "heads_are_bounded_in_bytes_and_fields"), Row("path and query"), Row("path segments")],
    ),
    (
        "body, unpacked: Nessie; Iceberg",
        &["NESSIE_BODY_BYTES_MAX", "ICEBERG_BODY_BYTES_MAX"],
        &[
            Row("body"),
            Row("body, unpacked"),
            Row("body, unpacked to six times as much"),
            Row("body of Iceberg"),
        ],
    ),
    (
        "all bodies being read, unpacked",
        &["BODIES_BYTES_MAX"],
        &[Test(EXTRACT, "all_bodies_together_are_bounded")],
    ),
    ("depth of JSON", &["JSON_DEPTH_MAX"], &[Test(EXTRACT, "json_depth_is_bounded")]),
    (
        "time for the headers, idle time; for the body",
        &["HEADER_READ_TIMEOUT", "BODY_READ_TIMEOUT"],
        &[
            Test(SERVE, "a_head_that_takes_too_long_closes_the_connection"),
            Test(EXTRACT, "a_body_that_takes_too_long_is_given_up"),
        ],
    ),
    ("time for a read", &["READ_TIMEOUT"], &[Test(SERVICE, "a_read_that_takes_too_long_is_ended")]),
    (
        "time until a write is admitted; once admitted it runs to its end",
        &["ADMISSION_TIMEOUT"],
        &[
            Test(EXTRACT, "presence_tells_when_nobody_waits"),
            Test(SERVICE, "a_write_outlives_its_connection"),
        ],
    ),
    (
        "writes that wait; changes that share one sync",
        &[],
        &[
            Test(WRITER, "no_more_writes_wait_than_the_queue_holds"),
            Not("more changes than share one sync are no fault: they take the next"),
        ],
    ),
    (
        "Iceberg commits to one table of a branch: wait for their turn",
        &[],
        &[Test("server/catalog/src/iceberg/tests.rs", "a_wait_cut_short_leaves_nothing_behind")],
    ),
    (
        "time that requests have at shutdown",
        &["DRAIN_TIMEOUT"],
        &[Test(SERVICE, "the_loop_serves_and_drains")],
    ),
    ("elements of a key; its length", &[], &[Row("elements of a key"), Row("length of a key")]),
    ("name of a reference", &[], &[Row("name of a reference")]),
    (
        "one object of the store",
        &[],
        &[Test(
            "storage/odb/src/stage_tests.rs",
            "an_object_of_the_largest_size_passes_and_a_larger_one_does_not",
        )],
    ),
    ("commits of one transplant", &[], &[Row("commits of one transplant")]),
    (
        "page of a log; of an Iceberg list; of another list",
        &[],
        &[Test("tests/suites/limits/rows.rs", "prepare"), A_CUT],
    ),
    ("page token", &[], &[Row("page token")]),
    (
        "commits of one rebase",
        &[],
        &[Test("storage/engine/src/merge/tests.rs", "no_more_commits_are_rebased_than_the_bound")],
    ),
    ("page of the ref log; of the table of an import", &[], &[A_CUT]),
    (
        "stream of an export or import: a line; a part",
        &["STREAM_STALL_TIMEOUT"],
        &[
            Test(
                "api-spec/src/ext/stream/tests.rs",
                "a_line_of_the_largest_size_is_written_and_a_larger_one_is_not",
            ),
            Not("a part of 64 MiB for a few lines of code; the reader of lines bounds what is in memory"),
        ],
    ),
    (
        "exports, imports at once; time without a byte of a stream",
        &[],
        &[
            Test("server/catalog/src/ext/transfers.rs", "no_more_are_at_work_than_the_bound"),
            Test(EXTRACT, "a_stream_that_stalls_is_given_up"),
        ],
    ),
    ("an export: commits. An import: references", &[], &[Not("millions of commits")]),
    (
        "`recent-changes`: heads; age; commits looked at",
        &[],
        &[Test("tests/suites/nessie/v2.rs", "recent_changes_show_at_most_twenty_heads"), A_CUT],
    ),
    (
        "filter (CEL): length; depth of brackets; operators; loops in loops; steps on one element; time of the processor on \
         one element, on all",
        &[],
        &[
            Row("filter: length"),
            Row("filter: depth of brackets"),
            Row("filter: operators"),
            Row("filter: loops in loops"),
            Row("filter: steps"),
            Test("server/catalog/src/nessie/filter/tests.rs", "the_elements_of_one_request_share_their_time"),
        ],
    ),
    ("tables of one Iceberg transaction", &[], &[Row("tables of one transaction")]),
    (
        "updates, requirements of one commit",
        &["UPDATES_MAX", "REQUIREMENTS_MAX"],
        &[Row("updates"), Row("requirements")],
    ),
    (
        "schema: fields; depth; name of a field. Fields of a partition spec or sort order",
        &["SCHEMA_FIELDS_MAX", "SCHEMA_DEPTH_MAX", "NAME_BYTES_MAX", "SPEC_FIELDS_MAX"],
        &[
            Row("schema: fields"),
            Row("schema: depth"),
            Row("name of a column"),
            Row("fields of a partition spec"),
            Row("fields of a sort order"),
        ],
    ),
    (
        "properties of a table, view or namespace: how many; key; value",
        &["PROPERTIES_MAX", "PROPERTY_KEY_BYTES_MAX", "PROPERTY_VALUE_BYTES_MAX"],
        &[Row("properties: how many"), Row("properties: key"), Row("properties: value")],
    ),
    (
        "SQL of a view; its dialects",
        &["VIEW_SQL_BYTES_MAX", "VIEW_REPRESENTATIONS_MAX"],
        &[Row("SQL of a view"), Row("dialects of a view")],
    ),
    (
        "location",
        &["LOCATION_BYTES_MAX"],
        &[Test("storage/files/src/location/tests.rs", "what_is_refused_says_why")],
    ),
    (
        "metadata file read or written in one piece",
        &[],
        &[Test("storage/files/src/file/tests.rs", "a_large_file_is_refused_by_its_size")],
    ),
    (
        "one try at the object store; tries; no new try after",
        &[],
        &[Not("they are settings of the client of object stores, which waits by its own clock")],
    ),
    (
        "idempotency keys: how long; how many; answer kept as it was",
        &[],
        &[Not("nothing is refused: what is forgotten is answered from the log, or done anew")],
    ),
    ("warehouses", &[], &[Test("storage/files/src/warehouses.rs", "no_more_are_opened_than_the_bound")]),
    (
        "tokens; rules; a token; roles of a signed token",
        &[],
        &[
            Test("server/auth/src/tokens.rs", "no_more_and_no_longer_tokens_than_the_bounds"),
            Test("server/auth/src/policy_tests.rs", "no_more_rules_are_taken_than_the_bound"),
            Test(
                "server/auth/src/oidc/tests.rs",
                "what_is_wrong_with_a_token_is_told_and_nothing_else_is_taken",
            ),
        ],
    ),
    (
        "commits between two checkpoints of a branch (replayed at a cold read)",
        &[],
        &[Not("nothing is refused; the suites of faults replay what a kill leaves")],
    ),
    (
        "`dev`: objects of a bucket; one object or part; time without a byte of an upload",
        &[],
        &[Not("it is a tool for one machine; its bounds are those of the disk")],
    ),
];

/// Bounds that no user meets: they choose how something is done.
const INNER: &[&str] = &["INLINE_DECODE_BYTES_MAX", "INLINE_GZIP_BYTES_MAX", "REQUEST_ID_BYTES_MAX"];

fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_documented_limit_is_tried() {
    let readme = file("README.md");
    let documented: Vec<&str> = readme
        .lines()
        .skip_while(|line| *line != "### Limits")
        .skip_while(|line| !line.starts_with("| ---"))
        .skip(1)
        .map_while(|line| line.strip_prefix("| "))
        .filter_map(|line| line.split(" | ").next())
        .collect();
    assert!(documented.len() > 30, "the table was not found");
    let listed: Vec<&str> = LIMITS.iter().map(|(what, ..)| *what).collect();
    assert_eq!(documented, listed);
    let rows: BTreeSet<&str> = rows::all().iter().map(|row| row.what).collect();
    let mut told = BTreeSet::new();
    for (what, _, tried) in LIMITS {
        assert!(!tried.is_empty(), "{what}");
        for one in *tried {
            match one {
                Row(row) => {
                    assert!(rows.contains(row), "{what}: there is no row '{row}'");
                    told.insert(*row);
                }
                Test(path, name) => {
                    assert!(file(path).contains(&format!("fn {name}(")), "{what}: {path} has no {name}");
                }
                Not(why) => assert!(!why.is_empty()),
            }
        }
    }
    assert_eq!(rows, told, "every row of requests stands for a documented limit");
}

#[test]
fn every_bound_of_the_code_is_documented() {
    let named: BTreeSet<&str> =
        LIMITS.iter().flat_map(|(_, constants, _)| constants.iter()).chain(INNER).copied().collect();
    for path in ["server/http/src/limits.rs", "storage/iceberg/src/bounds.rs"] {
        let text = file(path);
        let bounds = text.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
        for bound in bounds.filter(|name| name.ends_with("_MAX") || name.ends_with("_TIMEOUT")) {
            assert!(named.contains(bound), "{path}: {bound} is not in the README's table of limits");
        }
    }
}
