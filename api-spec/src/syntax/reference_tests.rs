use super::*;

const H1: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn names() {
    for good in ["main", "a", "r-1", "a/b", "a.b", "A_9", "a-", "a_", "-", "a//b", "HEAD"] {
        assert_eq!(check_name(good), Ok(()), "{good}");
    }
    for bad in
        ["", "1a", "a.", "a/", "a..b", "a b", "é", "a\0", "_a", ".a", "/a", "--", "a@b", "a~1", "a*", "a\n"]
    {
        assert_eq!(check_name(bad), Err(ReferenceError::Name), "{bad}");
    }
}

#[test]
fn names_that_cannot_be_created() {
    for bad in ["HEAD", "head", "Detached", "cafebabe", "CAFEBABE", H1] {
        assert_eq!(check_new_name(bad), Err(ReferenceError::Forbidden(bad.to_owned())));
    }
    assert_eq!(check_new_name("-"), Err(ReferenceError::Name));
    assert_eq!(check_new_name("cafebab"), Ok(()));
    assert_eq!(
        check_new_name("HEAD").unwrap_err().to_string(),
        "Reference name mut not be HEAD, DETACHED or a potential commit ID representation. - but was HEAD"
    );
}

#[test]
fn hashes() {
    assert_eq!(parse_hash("CAFEBABE"), Ok("cafebabe".to_owned()));
    for bad in ["", "cafebab", "xafebabe", &"a".repeat(65)] {
        assert_eq!(parse_hash(bad), Err(ReferenceError::Hash), "{bad}");
    }
    assert_eq!(NO_ANCESTOR_HASH.len(), 64);
}

#[test]
fn path_references() {
    let check = |text: &str, name: Option<&str>, hash: Option<&str>, parts: &[RelPart]| {
        let spec = RefSpec::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(spec.name.as_deref(), name, "{text}");
        assert_eq!(spec.hash.as_deref(), hash, "{text}");
        assert_eq!(spec.parts, parts, "{text}");
    };
    let two = [RelPart::Predecessor(2)];
    check("main", Some("main"), None, &[]);
    check("main@", Some("main"), None, &[]);
    check(&format!("main@{H1}"), Some("main"), Some(H1), &[]);
    check(&format!("main@{}~2", H1.to_uppercase()), Some("main"), Some(H1), &two);
    check("main~2", Some("main"), None, &two);
    check("main@~2", Some("main"), None, &two);
    check(&format!("@{H1}^2"), None, Some(H1), &[RelPart::Parent(2)]);
    check("-", Some("-"), None, &[]);
    check(&format!("-@{H1}"), Some("-"), Some(H1), &[]);
    check("-~1", Some("-"), None, &[RelPart::Predecessor(1)]);
    check("DETACHED@cafebabe", Some("DETACHED"), Some("cafebabe"), &[]);
    check("@", None, None, &[]);
    let at = Instant::parse("2026-01-01T00:00:00Z").unwrap();
    check("main*2026-01-01T00:00:00Z", Some("main"), None, &[RelPart::AtOrBefore(at)]);
    check("main*5", Some("main"), None, &[RelPart::AtOrBefore(Instant::from_millis(5))]);
    check(
        "a/b@~1^2*7",
        Some("a/b"),
        None,
        &[RelPart::Predecessor(1), RelPart::Parent(2), RelPart::AtOrBefore(Instant::from_millis(7))],
    );
}

#[test]
fn path_references_of_a_wrong_shape() {
    for bad in [
        "main@xyz",
        "main@cafebab",
        "1a",
        "a..b",
        "main~",
        "main~x",
        "main~1x",
        "main@@cafebabe",
        "main*2099-01-01",
        "main*2099-01-01T00:00:00",
        "main*2099-01-01T00:00:00+00:00",
    ] {
        assert_eq!(RefSpec::parse(bad), Err(ReferenceError::Path), "{bad}");
    }
    assert!(ReferenceError::Path.to_string().ends_with("or in ISO-8601 format), or both."));
    assert!(ReferenceError::Path.is_violation());
}

#[test]
fn impossible_values() {
    let message = |text: &str| RefSpec::parse(text).unwrap_err().to_string();
    assert_eq!(message("main~0"), "Illegal value 0 for spec type N_TH_PREDECESSOR (~)");
    assert_eq!(message("main~00"), "Illegal value 00 for spec type N_TH_PREDECESSOR (~)");
    assert_eq!(message("main^0"), "Illegal value 0 for spec type N_TH_PARENT (^)");
    assert_eq!(
        message("main*2099-13-01T00:00:00Z"),
        "'*' relative commit spec argument '2099-13-01T00:00:00Z' must be represent an ISO-8601 timestamp ('Z' only) \
         or a numeric value representing the milliseconds since epoch"
    );
    assert!(matches!(RefSpec::parse("main*99999999999999999999"), Err(ReferenceError::Timestamp(_))));
    assert_eq!(RefSpec::parse("main~2147483646").unwrap().parts, [RelPart::Predecessor(COUNT_MAX)]);
    assert_eq!(message("main^2147483647"), "Illegal value 2147483647 for spec type N_TH_PARENT (^)");
    assert!(matches!(RefSpec::parse("main~99999999999999999999"), Err(ReferenceError::Count { .. })));
    // Milliseconds of a year that no instant of a reference can write stay milliseconds.
    assert_eq!(RefSpec::parse("main*710000000000000").unwrap().to_string(), "main*710000000000000");
    assert_eq!(RefSpec::parse("main*0").unwrap().to_string(), "main*1970-01-01T00:00:00Z");
    // The shape of the whole comes first.
    assert_eq!(RefSpec::parse("main~0~x"), Err(ReferenceError::Path));
    assert!(!RefSpec::parse("main~0").unwrap_err().is_violation());
}

#[test]
fn hash_or_relative() {
    assert!(HashSpec::parse("").unwrap().is_empty());
    assert_eq!(HashSpec::parse("cafebabe~1").unwrap().to_string(), "cafebabe~1");
    assert_eq!(HashSpec::parse("xyz"), Err(ReferenceError::HashOrRelative));
    assert_eq!(HashSpec::parse("main~1"), Err(ReferenceError::HashOrRelative));
}

#[test]
fn written_as_the_java_clients_write() {
    for text in
        ["main", "main~1", "main@cafebabe", "a/b@", "a/b@~1", "@cafebabe^2", "-", "main*2026-01-01T00:00:00Z"]
    {
        assert_eq!(RefSpec::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(RefSpec::parse("main@").unwrap().to_string(), "main");
}

#[test]
fn v1_diffs() {
    let parse = |raw: &str| parse_diff(raw).unwrap();
    let side = |name: &str, at: &str| DiffSide { name: name.into(), at: HashSpec::parse(at).unwrap() };
    assert_eq!(parse("main...dev"), Ok((side("main", ""), side("dev", ""))));
    assert_eq!(parse("a%2Fb%2Acafebabe...main*"), Ok((side("a/b", "cafebabe"), side("main", ""))));
    assert_eq!(parse("DETACHED*cafebabe...main*~1"), Ok((side("DETACHED", "cafebabe"), side("main", "~1"))));
    assert_eq!(parse("main*xyz...main"), Err(ReferenceError::HashOrRelative));
    assert_eq!(parse("main*2026-01-01...main"), Err(ReferenceError::HashOrRelative));
    assert_eq!(
        parse("main**2026-01-01T00:00:00.5Z...x").unwrap().0.at.to_string(),
        "*2026-01-01T00:00:00.500Z"
    );
    assert!(parse_diff("main").is_none());
}
