use lochan_storage_model::{ContentKey, ContentType};

use super::{Filters, Kind, values};

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
        "matches(entry.name, '^t[.]x$') && !entry.name.matches('y')",
        "entry.contentType != 1",
        "timestamp('2026-01-01T00:00:00+00:00') < timestamp('2026-01-01T00:00:01Z')",
        "timestamp(timestamp('2026-01-01T00:00:00Z')) == timestamp('2026-01-01T00:00:00Z')",
        "type(entry.name) == string",
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
    let list = format!("[{}]", vec!["1"; 3_000].join(","));
    problem(format!("{list}.exists(a, {list}.exists(b, a + b < 0))"));
    problem("[1].exists(a, [1].exists(b, [1].exists(c, [1].exists(d, true))))".into());
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
