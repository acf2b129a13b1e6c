use super::*;

fn check(text: &str, shown: &str) {
    assert_eq!(Instant::parse(text).unwrap().to_string(), shown, "{text}");
}

#[test]
fn fractions_of_zero_to_nine_digits() {
    check("2026-05-01T10:20:30Z", "2026-05-01T10:20:30Z");
    check("2026-05-01T10:20:30.Z", "2026-05-01T10:20:30Z");
    check("2026-05-01T10:20:30.1Z", "2026-05-01T10:20:30.100Z");
    check("2026-05-01T10:20:30.1234Z", "2026-05-01T10:20:30.123400Z");
    check("2026-05-01T10:20:30.123456Z", "2026-05-01T10:20:30.123456Z");
    check("2026-05-01T10:20:30.123456789Z", "2026-05-01T10:20:30.123456789Z");
    check("2026-05-01t10:20:30z", "2026-05-01T10:20:30Z");
}

#[test]
fn offsets_are_normalised() {
    check("2026-05-01T10:20:30+02:00", "2026-05-01T08:20:30Z");
    check("2026-01-01T00:30:00-01:30", "2026-01-01T02:00:00Z");
    check("2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00Z");
    check("2026-01-01T00:00:00+02:00:30", "2025-12-31T21:59:30Z");
    check("2026-01-01T00:00:00-18:00:00", "2026-01-01T18:00:00Z");
}

#[test]
fn calendar_edges() {
    check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z");
    check("2000-02-29T23:59:59.999999Z", "2000-02-29T23:59:59.999999Z");
    check("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500Z");
    check("0001-03-01T00:00:00Z", "0001-03-01T00:00:00Z");
    assert_eq!(Instant::from_millis(4_102_444_800_000).to_string(), "2100-01-01T00:00:00Z");
}

#[test]
fn the_end_of_a_day_and_leap_seconds() {
    check("2020-12-31T24:00:00.000Z", "2021-01-01T00:00:00Z");
    check("2020-01-01T24:00:00+01:00", "2020-01-01T23:00:00Z");
    check("2020-01-01T23:59:60.5Z", "2020-01-01T23:59:59.500Z");
    for bad in [
        "2020-01-01T24:00:00.1Z",
        "2020-01-01T24:00:01Z",
        "2020-01-01T24:01:00Z",
        "2020-01-01T22:59:60Z",
        "2020-01-01T23:59:61Z",
        "2020-01-01T25:00:00Z",
    ] {
        assert!(Instant::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn years_beyond_four_digits() {
    check("9999-12-31T23:59:59-01:00", "+10000-01-01T00:59:59Z");
    check("+10000-01-01T00:59:59Z", "+10000-01-01T00:59:59Z");
    check("0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z");
    check("-0001-12-31T23:00:00Z", "-0001-12-31T23:00:00Z");
    check("-0000000004-02-29T23:00:00Z", "-0004-02-29T23:00:00Z");
    for bad in
        ["+2026-05-01T10:20:30Z", "-0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-004-01-01T00:00:00Z"]
    {
        assert!(Instant::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_first_and_the_last() {
    for edge in ["-1000000000-01-01T00:00:00Z", "+1000000000-12-31T23:59:59.999999999Z"] {
        check(edge, edge);
    }
    for bad in [
        "-1000000000-01-01T00:00:00+00:01",
        "+1000000000-12-31T24:00:00Z",
        "+1000000001-01-01T00:00:00Z",
        "+9999999999-01-01T00:00:00Z",
        "+01000000000-01-01T00:00:00Z",
    ] {
        assert!(Instant::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_refused() {
    for bad in [
        "",
        "x",
        "2026-05-01",
        "2026-05-01T10:20:30",
        "2026-05-01T10:20Z",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-05-01T10:20:30.1234567890Z",
        "2026-05-01T10:20:30,5Z",
        "2026-05-01T10:20:30Zx",
        "2026-05-01T10:20:30+2",
        "2026-05-01T10:20:30+02",
        "2026-05-01T10:20:30+0200",
        "2026-05-01T10:20:30+02:60",
        "2026-05-01T10:20:30+02:00:",
        "2026-05-01T10:20:30+18:00:01",
        "2026-05-01 10:20:30Z",
    ] {
        assert!(Instant::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn one_nanosecond_before_is_before() {
    let commit = Instant::parse("2026-05-01T10:20:30.123456Z").unwrap();
    let before = Instant::parse("2026-05-01T10:20:30.123455999Z").unwrap();
    assert!(before < commit);
    assert_eq!(before.micros() + 1, commit.micros());
    assert_eq!(Instant::from_micros(commit.micros()), commit);
    assert_eq!(Instant::from_millis(-1), Instant::new(-1, 999_000_000));
    assert_eq!(Instant::from_millis(i64::MAX).micros(), i64::MAX);
    // The ends of the range are written without overflow.
    assert!(Instant::new(i64::MAX, 0).to_string().starts_with("+292277026596-"));
    assert!(Instant::new(i64::MIN, 0).to_string().starts_with("-292277022657-"));
}

#[test]
fn what_people_type() {
    for text in
        ["2026-05-01T10:20Z", "2026-05-01T12:20+0200", "2026-05-01T12:20:00+02", "2026-05-01T12:20:00+02:00"]
    {
        assert_eq!(Instant::parse_loose(text).unwrap().to_string(), "2026-05-01T10:20:00Z", "{text}");
    }
    for bad in
        ["2026-05-01T10:20", "2026-05-01T10:20:00+2", "2026-05-01T10:20:00+02000", "2026-05-01T10:20:00+1801"]
    {
        assert!(Instant::parse_loose(bad).is_err(), "{bad}");
    }
}
