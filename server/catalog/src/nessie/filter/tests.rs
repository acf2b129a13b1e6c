use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lochan_storage_model::{ContentKey, ContentType};

use super::{Filters, Kind, REQUEST_TIME_MAX, budget::STEPS_MAX, values};

fn accepts(text: &str) -> Result<bool, String> {
    let key = ContentKey::new(["a.b", "c", "t.x"]).unwrap();
    let entry = values::Entry { key: &key, content_type: ContentType::IcebergTable };
    let filter = Filters::default().compile(Kind::Entries, Some(text)).map_err(|error| error.to_string())?;
    filter.unwrap().accepts(&entry).map_err(|error| error.to_string())
}

#[test]
fn what_clients_send() {
    for yes in [
        "entry.contentType in ['ICEBERG_TABLE','ICEBERG_VIEW']",
        "entry.contentType == 'ICEBERG_TABLE' && size(entry.keyElements) == 3",
        "entry.encodedKey.startsWith('a\u{1d}b.')",
        "entry.namespace.matches('a.b[.]c')",
        "entry.name == \"t.x\" || false",
        "entry.key == 'a.b.c.t.x'",
        "entry.keyElements.exists(e, e == 'c')",
        "has(entry.name)",
        "entry.name.matches('^t[.]x$') && !entry.name.matches('y')",
        "entry.contentType != 1",
        "timestamp('2026-01-01T00:00:00+00:00') < timestamp('2026-01-01T00:00:01Z')",
        "timestamp(timestamp('2026-01-01T00:00:00Z')) == timestamp('2026-01-01T00:00:00Z')",
        "type(entry.name) == type('a')",
        ".entry.name == 't.x'",
    ] {
        assert_eq!(accepts(yes), Ok(true), "{yes}");
    }
    assert_eq!(accepts("entry.name == 'other'"), Ok(false));
    assert_eq!(accepts("entry.contentType == 1"), Ok(false));
}

#[test]
fn mistakes_are_named() {
    let problem = |text: &str| accepts(text).expect_err(text);
    assert!(problem("nope == 'x'").contains("undeclared reference to 'nope'"));
    assert!(problem("entry.nope == 'x'").contains("undefined field 'nope'"));
    assert!(problem("entry.key.nope()").contains("undeclared reference to 'nope'"));
    assert!(problem("entry.name").contains("boolean"));
    for bad in ["entry.name ==", "((", "entry.keyElements[9] == 'x'", "entry.name.matches('[')", "1", "'a"] {
        problem(bad);
    }
}

fn compiles(kind: Kind, text: &str) -> bool {
    Filters::default().compile(kind, Some(text)).is_ok()
}

/// As measured on the reference server.
#[test]
fn calls_must_fit_and_equality_takes_anything() {
    for good in [
        "entry.name == 1 || 1 != 'a' || entry == null || entry.keyElements == [1]",
        "1 == 1u && 1 == 1.0 && [1, 'a'][0] > 0 && dyn(1) > 0.5",
        "entry.name in ['t', 1] || entry.name in [] || entry.name in {'t': 1}",
        "{'a': 1}.a == 1 && {'a': 1, 1: 'a'}[1] == 'a' && (true ? [1] : []) == [1]",
        "[1, 2].map(x, x * 2) == [2, 4] && [[1], ['a']].exists(l, l[0] == 1)",
        "(true ? timestamp(1) : null) == timestamp(1) && string(null) == 'null'",
        "type(1) == type(2) && size({'a': 1}) == 1 && --1 == 1 && entry.keyElements in [entry.keyElements]",
        "duration('90m').getHours() == 1 && timestamp(1).getHours('UTC') == 0",
    ] {
        assert!(compiles(Kind::Entries, good), "{good}");
    }
    for bad in [
        "1 < 2.0",
        "1u < 2",
        "1 + 1.0 == 2.0",
        "1 + 'a' == 'b'",
        "1 in ['a']",
        "1 in [1.0]",
        "'a' in 'abc'",
        "'a' in entry",
        "entry['name'] == 't'",
        "entry.name[0] == 'd'",
        "entry.keyElements['a'] == 'db'",
        "{'a': 1}[1] == 1",
        "entry.name < 1",
        "[1] < [2]",
        "-1u == 1u",
        "!1",
        "true && 1",
        "1 || true",
        "true ? 1 : 'a'",
        "(true ? 1 : null) == 1",
        "(true ? [1] : ['a']) == [1]",
        "[1] + ['a'] == [1, 'a']",
        "[1, 2].exists(x, x)",
        "[1, 2].exists(i, v, v > 1)",
        "entry.keyElements.all(x, x > 1)",
        "entry.keyElements.map(x, x)[0] > 1",
        "entry.keyElements.filter(x, true)[0] > 1",
        "size(1) == 1",
        "size(entry) > 0",
        "entry.name.startsWith(1)",
        "startsWith(entry.name, 't')",
        "matches(entry.name, 't')",
        "int(true) == 1",
        "bool(1)",
        "string([1]) == ''",
        "timestamp(1.5) > timestamp(0)",
        "timestamp(1) - 1 == 1",
        "duration('90m').getDate() == 1",
        "duration('90m').getHours('UTC') == 1",
        "entry.name.getHours() == 1",
        "max(1, 2) == 2",
        "int == int",
        "size.size(entry.name) == 3",
        "entry.?name == 't'",
        "optional.of(1).hasValue()",
        "has(entry.nope)",
    ] {
        assert!(!compiles(Kind::Entries, bad), "{bad}");
    }
    assert!(!compiles(Kind::References, "ref.type == 'BRANCH'"));
    assert!(!compiles(Kind::References, "refMeta.numTotalCommits > 1.5"));
    assert!(compiles(Kind::References, "refMeta.numTotalCommits == 1.5 || ref.metadata == null"));
    assert!(!compiles(Kind::Commits, "commit.commitTime > '2020'"));
    assert!(!compiles(Kind::Commits, "commit.properties['p'] > 1"));
    assert!(!compiles(Kind::Commits, "operations.exists(op, op)"));
    assert!(compiles(Kind::Commits, "operations.exists(op, has(op.content) && op.content.type == 'UDF')"));
}

#[test]
fn moments_equal_only_their_like_and_null() {
    assert_eq!(accepts("timestamp(1) != null && !(timestamp(1) == null)"), Ok(true));
    assert_eq!(accepts("duration('1h') == duration('60m')"), Ok(true));
    let (east, here) = ("timestamp('2020-01-01T00:00:00+01:00')", "timestamp('2019-12-31T23:00:00Z')");
    assert_eq!(accepts(&format!("{east} <= {here} && {east} >= {here} && {east} != {here}")), Ok(true));
    for bad in
        ["timestamp(1) == 1", "'a' != timestamp(1)", "duration('1h') == 1", "timestamp(1) == duration('1s')"]
    {
        assert!(accepts(bad).is_err(), "{bad}");
    }
}

/// Beyond U+FFFF a character is two units, which come before those of some characters below it.
#[test]
fn texts_are_ordered_by_their_units() {
    for yes in [
        "'a' < 'b' && 'a' <= 'a' && !('a' < 'a') && 'b' > 'a' && 'b' >= 'b' && '' < 'a' && 'a' < 'ab'",
        "'\u{1F600}' < '\u{FF5E}' && '\u{1F600}' <= '\u{FF5E}' && '\u{FF5E}' > '\u{1F600}' && '\u{FF5E}' >= '\u{1F600}'",
        "!('\u{FF5E}' < '\u{1F600}') && !('\u{FF5E}' <= '\u{1F600}') && !('\u{1F600}' >= '\u{FF5E}')",
        "['\u{1F600}', '\u{FF5E}'].exists(x, x < '\u{FF5E}') && entry.name < '\u{1F600}'",
        "1 < 2 && 2.5 >= 2.5 && timestamp(1) < timestamp(2)",
    ] {
        assert_eq!(accepts(yes), Ok(true), "{yes}");
    }
}

#[test]
fn what_is_not_known_is_said() {
    let problem = |text: &str| accepts(text).expect_err(text);
    assert!(problem("'a'.matches('\\\\N{LATIN SMALL LETTER A}')").contains("not known by their names"));
    assert!(problem("'a'.matches('[\\\\N{LATIN SMALL LETTER A}]')").contains("not known by their names"));
    assert!(problem("'a'.matches('a\\\\b{g}')").contains("borders of graphemes"));
    assert!(problem("'a'.matches('\\\\p{InNope}')").contains("unknown character property"));
    for number in ["0x1p3", "0x1.8p1", "0X1F", "0x"] {
        assert!(problem(&format!("{number} == 8.0")).contains("cannot be parsed"), "{number}");
    }
    assert!(problem("{1.5: 'a'}.size() == 1").contains("as a key"));
}

#[test]
fn conversions_are_those_of_the_reference() {
    for yes in [
        "string(1.0) == '1.0' && string(100000000.0) == '1.0E8' && string(1.0 / 3.0) == '0.3333333333333333'",
        "duration('1.5s').getMilliseconds() == 500 && duration('-1.5s').getMilliseconds() == 500",
        "duration('-1.9s').getSeconds() == -2 && duration('-90m').getHours() == -1",
        "timestamp('2020-02-02T04:05:06Z').getDayOfWeek() == 7",
        "timestamp('2020-02-03T04:05:06Z').getDayOfWeek('America/New_York') == 7",
        "timestamp('2020-02-03T04:05:06Z').getHours('Nope/X') == 4 && dyn(timestamp(0)).getHours() == 0",
        "int(duration('1.5s')) == 1500000000 && string(duration('1.5s')) == '1.500000s'",
        "string(timestamp('2020-01-01T00:00:00.5+01:00')) == '2020-01-01T00:00:00.500000000+01:00'",
        "double(' 1f ') == 1.0 && bool('tRuE') && .size(entry.name) == 3",
        "timestamp('2020-01-01T24:00:00Z') == timestamp('2020-01-02T00:00:00Z')",
    ] {
        assert_eq!(accepts(yes), Ok(true), "{yes}");
    }
}

#[test]
fn work_is_bounded() {
    let problem = |text: String| accepts(&text).expect_err("it should be refused");
    problem(format!("{}true{}", "(".repeat(5_000), ")".repeat(5_000)));
    problem(format!("{}true", "!".repeat(15_000)));
    problem(format!("entry.name == '{}'", "x".repeat(20_000)));
    problem(format!("entry{}", ".a".repeat(7_000)));
    let _ = accepts(&vec!["true"; 2_000].join(" || "));
    let _ = accepts(&format!("1{} == 0", "+1".repeat(8_000)));
    problem("entry.name.matches('(((a{99}){99}){99})')".into());
    assert_eq!(accepts(&format!("{}true{}", "[1].exists(a, ".repeat(8), ")".repeat(8))), Ok(true));
    problem(format!("{}true{}", "[1].exists(a, ".repeat(9), ")".repeat(9)));
}

/// Turns of both loops, which are steps, stay within the bound or not.
fn two_loops(outer: usize, inner: usize) -> String {
    format!("{}.all(a, {}.all(b, a == b))", zeros(outer), zeros(inner))
}

#[test]
fn steps_are_counted_to_the_last() {
    assert_eq!(STEPS_MAX, 200_000);
    assert_eq!(accepts(&two_loops(400, 499)), Ok(true));
    assert!(accepts(&two_loops(400, 500)).expect_err("one turn more").contains("steps"));
}

/// Without a bound each of these takes minutes or all memory.
#[test]
fn what_costs_too_much_is_refused_at_once() {
    let long = format!("'{}'", "x".repeat(1_000));
    let key = "entry.keyElements";
    for filter in [
        // Texts and lists that double with every link.
        format!("[{long}]{}.size() > 0", ".map(t, t + t)".repeat(60)),
        format!("[[1]]{}.size() > 0", ".map(t, t + t)".repeat(60)),
        format!("[{long}]{}.size() > 0", ".map(t, [t, t, t, t])".repeat(60)),
        // Every turn of a loop does more than the one before.
        format!("{}.exists(a, {key}.exists(b, {0}.exists(c, a == 9)))", zeros(3_000)),
        two_loops(2_000, 2_000),
        // The error in the loop would be forgotten.
        format!("{} || true", two_loops(2_000, 2_000)),
        // A new pattern in every turn.
        format!("{}.map(n, string(n)).exists(n, 'a'.matches(n + '(b{{9}}){{9}}'))", numbers(2_000)),
    ] {
        let begun = Instant::now();
        let told = accepts(&filter).expect_err(&filter[..60]);
        assert!(told.contains("steps"), "{told}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {}", begun.elapsed(), &filter[..60]);
    }
}

fn zeros(length: usize) -> String {
    format!("[{}]", vec!["0"; length].join(","))
}

fn numbers(length: usize) -> String {
    format!("[{}]", (0..length).map(|n| n.to_string()).collect::<Vec<_>>().join(","))
}

#[test]
fn loops_say_what_they_say_without_a_bound() {
    for yes in [
        "[1, 2, 3].map(n, n * 2) == [2, 4, 6]",
        "[1, 2, 3].map(n, n > 1, n * 2) == [4, 6]",
        "[1, 2, 3].filter(n, n != 2) == [1, 3]",
        "[1, 2, 3].exists_one(n, n == 2)",
        "[1, 2, 3].all(n, n < 4) && ![1, 2, 3].exists(n, n > 3)",
        "[[1, 2], [3]].exists(l, l.exists(n, n == 3))",
        "[1, 0].exists(n, 1 / n == 1)",
        "{'a': 1, 'b': 2}.exists(k, k == 'b')",
        "'a' + 'b' + 'c' == 'abc' && [1] + [2] == [1, 2] && 1 + 2 == 3",
        "['a', entry.name][1] == 't.x'",
        "{'n': entry.name}['n'] == 't.x'",
    ] {
        assert_eq!(accepts(yes), Ok(true), "{yes}");
    }
    assert!(accepts("[0].exists(n, 1 / n == 1)").expect_err("a division by nothing").contains("failed"));
}

/// Small filters over many elements are bounded as a whole.
#[test]
fn the_elements_of_one_request_share_their_time() {
    let key = ContentKey::new(["k"]).unwrap();
    let entry = values::Entry { key: &key, content_type: ContentType::IcebergTable };
    let filter = Filters::default().compile(Kind::Entries, Some("entry.name == 'k'")).unwrap().unwrap();
    assert!(filter.accepts(&entry).unwrap());
    filter.spent_us.store(u64::try_from(REQUEST_TIME_MAX.as_micros()).unwrap() + 1, Ordering::Relaxed);
    assert!(filter.accepts(&entry).expect_err("the time is over").to_string().contains("10 s"));
}

#[test]
fn chains_leave_room_on_the_stack() {
    let chains = || {
        for (start, link, end) in [
            ("entry", ".a", ""),
            ("entry.keyElements", "[0]", " == 1"),
            ("entry.name", ".size()", " == 1"),
            ("1", "+1", " == 0"),
            ("1", " in [1]", ""),
            ("", "true ? true : ", "true"),
            ("", "true || ", "true"),
            ("", "!", "true"),
            ("", "[", ""),
        ] {
            for links in [10, 40, 300, 900, 1_900, 5_000] {
                let _ = accepts(&format!("{start}{}{end}", link.repeat(links)));
            }
        }
    };
    // Half of what a worker thread has.
    let small = std::thread::Builder::new().stack_size(1 << 20).spawn(chains).unwrap();
    small.join().unwrap();
}
