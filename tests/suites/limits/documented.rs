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
}

use Tried::{Row, Test};

const EXTRACT: &str = "server/http/src/extract/tests.rs";
const SERVE: &str = "server/http/src/serve_tests.rs";
const SERVICE: &str = "server/http/src/service_tests.rs";
const WRITER: &str = "storage/engine/src/writer/tests.rs";
const STREAMS: &str = "tests/suites/limits/streams.rs";
const S3: &str = "storage/files/src/s3/tests.rs";
const KEPT: &str = "server/http/src/replay/kept.rs";
const DEV: &str = "server/dev/src/limits_tests.rs";

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
    (
        "rest of a body whose request is answered already",
        &["UNREAD_BODY_BYTES_MAX", "UNREAD_BODY_TIMEOUT"],
        &[
            Test(SERVE, "a_body_that_does_not_end_is_given_up"),
            Test(SERVE, "a_body_that_does_not_come_is_given_up"),
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
            Test(WRITER, "one_change_more_than_share_a_sync_takes_the_next"),
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
        &[
            Test("tests/suites/limits/rows.rs", "prepare"),
            Test("tests/suites/iceberg/namespaces.rs", "a_page_holds_five_hundred"),
        ],
    ),
    ("page token", &[], &[Row("page token")]),
    (
        "commits of one rebase",
        &[],
        &[Test("storage/engine/src/merge/tests.rs", "no_more_commits_are_rebased_than_the_bound")],
    ),
    (
        "page of the ref log; of the list of imports; of the table of an import",
        &[],
        &[
            Test("tests/suites/ext/reflog.rs", "a_page_holds_a_thousand_entries"),
            Test("tests/suites/ext/imports.rs", "a_page_of_the_list_holds_a_thousand_imports"),
            Test("tests/suites/ext/imports.rs", "a_page_of_the_table_holds_ten_thousand_rows"),
        ],
    ),
    (
        "stream of an export or import: a line; a part",
        &["STREAM_STALL_TIMEOUT"],
        &[
            Test(
                "api-spec/src/ext/stream/tests.rs",
                "a_line_of_the_largest_size_is_written_and_a_larger_one_is_not",
            ),
            Test(STREAMS, "parts"),
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
    (
        "an export: commits; an import: references",
        &[],
        &[
            Test("storage/engine/src/transfer/tests.rs", "no_more_commits_are_taken_stock_of_than_the_bound"),
            Test(STREAMS, "references"),
        ],
    ),
    (
        "`recent-changes`: heads; age; commits looked at",
        &[],
        &[
            Test("tests/suites/nessie/v2.rs", "recent_changes_show_at_most_twenty_heads"),
            Test("server/catalog/src/nessie/history.rs", "a_head_is_shown_that_was_left_recently"),
            Test("tests/suites/nessie/v2.rs", "recent_changes_look_at_a_thousand_commits"),
        ],
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
        &[
            Test(S3, "the_patience_in_force_is_the_documented_one"),
            Test(S3, "the_last_try_counts_and_there_is_none_behind_it"),
            Test(S3, "a_try_without_an_answer_ends_and_the_next_one_follows"),
            Test(S3, "no_try_begins_when_the_time_for_tries_is_over"),
        ],
    ),
    (
        "idempotency keys: how long; how many; answer kept as it was",
        &[],
        &[
            Test(KEPT, "the_bounds_in_force_are_the_documented_ones"),
            Test(KEPT, "a_key_is_kept_as_long_as_the_bound_says"),
            Test(KEPT, "as_many_keys_are_kept_as_the_bound_says_and_the_oldest_goes"),
            Test(KEPT, "an_answer_of_the_largest_size_is_kept_as_it_is"),
        ],
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
        &[
            Test(
                "storage/engine/src/writer/checkpoint.rs",
                "a_checkpoint_is_due_at_the_bound_and_waited_for_at_twice_that",
            ),
            Test(WRITER, "a_checkpoint_is_due_with_the_commit_that_comes_to_the_bound"),
        ],
    ),
    (
        "`dev`: objects of a bucket; one object or part sent; time without a byte of an upload",
        &[],
        &[
            Test(DEV, "the_bounds_in_force_are_the_documented_ones"),
            Test(DEV, "one_object_more_than_a_bucket_holds_is_refused"),
            Test(DEV, "an_object_that_will_be_too_large_is_refused_before_it_is_sent"),
            Test(DEV, "an_object_that_turns_out_too_large_leaves_nothing"),
            Test(DEV, "an_upload_that_stalls_is_given_up_and_a_slow_one_is_not"),
        ],
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
