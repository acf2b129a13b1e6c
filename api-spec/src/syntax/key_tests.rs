use super::*;

fn round_trip(elements: &[&str], legacy: &str, escaped: &str, canonical: &str) {
    assert_eq!(encode_legacy(elements), legacy);
    assert_eq!(encode_escaped(elements), escaped);
    assert_eq!(encode_canonical(elements), canonical);
    for form in [legacy, escaped, canonical] {
        assert_eq!(parse(form).unwrap(), elements, "{form:?}");
    }
}

#[test]
fn the_three_forms() {
    round_trip(&["foo", "bar"], "foo.bar", "foo.bar", "foo.bar");
    round_trip(&["foo", ".bar"], "foo.\u{1d}bar", ".foo.*.bar", ".foo.*.bar");
    round_trip(&["x.", "a/\\%a"], "x\u{1d}.a/\\%a", ".x*..a*{*}*[a", ".x*..a/\\%a");
    round_trip(&["star*only"], "star*only", "star*only", "star*only");
    round_trip(&["a.b", "s*"], "a\u{1d}b.s*", ".a*.b.s**", ".a*.b.s**");
}

#[test]
fn lenient_reading() {
    let check = |text: &str, elements: &[&str]| assert_eq!(parse(text).unwrap(), elements, "{text:?}");
    check("db.", &["db"]);
    check(".db.", &["db"]);
    check(".db.t1", &["db", "t1"]);
    check(".", &[]);
    check("", &[]);
    check("*.a", &["*", "a"]);
    check("a*.b", &["a*", "b"]);
    check(".**", &["*"]);
    check(".*.", &["."]);
    check("\u{1d}", &["."]);
    check("db\u{0}", &["db."]);
}

#[test]
fn refused_with_the_contracts_words() {
    let check = |text: &str, message: &str| assert_eq!(parse(text).unwrap_err().to_string(), message);
    check("..db", "Content key '[, db]' must not contain an empty element");
    check("db..", "Content key '[db, b, ]' must not contain an empty element");
    check(".a..b", "Content key '[a, , b]' must not contain an empty element");
    check(".a*", "Illegal escaping sequence at the end of encoded path: .a*");
    check(".a*x", "Illegal escaping sequence *x in encoded path: .a*x");
    check("db.\u{7f}", "Content key '[db, \u{7f}]' must not contain the character 0x7F");
    check(".a\u{1d}b", "Content key '[a\u{1d}b]' must not contain characters less than 0x20");
    check(".a.b\u{0}", "Content key '[a, b\u{0}]' must not contain characters less than 0x20");
    check("\t", "Content key '[\t]' must not contain characters less than 0x20");
}

#[test]
fn limits() {
    let many: Vec<String> = (0..21).map(|i| i.to_string()).collect();
    assert_eq!(
        check_key(&many).unwrap_err().to_string(),
        "Content key too long, max allowed number of elements: 20"
    );
    assert_eq!(check_key(&many[..20]), Ok(()));
    assert_eq!(check_key(&["é".repeat(500)]), Ok(()));
    assert_eq!(check_key(&["😀".repeat(250)]), Ok(()));
    assert_eq!(
        check_key(&["😀".repeat(250), "a".into()]).unwrap_err().to_string(),
        "Content key too long, max allowed length: 500"
    );
    assert_eq!(
        check_namespace(&["."]).unwrap_err().to_string(),
        "Namespace '[.]' must not contain a '.' element"
    );
    assert_eq!(check_namespace(&["a", "."]), Err(KeyError::DotElement("[a, .]".into())));
    assert_eq!(check_namespace(&[".", "a"]), Ok(()));
    assert_eq!(check_key(&["."]), Ok(()));
}
