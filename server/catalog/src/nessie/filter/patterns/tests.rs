use std::time::Duration;

use super::super::budget;

/// Whether a pattern is found in a text; none where that cannot be told.
fn is_match(pattern: &str, text: &str) -> Option<bool> {
    let (found, _) = budget::within(Duration::from_secs(1), || super::is_match(pattern, text));
    found.ok()?.ok()
}

/// As measured on the reference server.
#[test]
fn patterns_mean_what_they_mean_in_java() {
    let mut wrong = Vec::new();
    let mut expect = |text: &'static str, pattern: &'static str, wanted: Option<bool>| {
        let found = is_match(pattern, text);
        if found != wanted {
            wrong.push((text, pattern, found));
        }
    };
    FOUND.iter().for_each(|(text, pattern)| expect(text, pattern, Some(true)));
    NOT_FOUND.iter().for_each(|(text, pattern)| expect(text, pattern, Some(false)));
    MISTAKES.iter().for_each(|pattern| expect("a", pattern, None));
    assert_eq!(wrong, []);
}

const FOUND: &[(&str, &str)] = &[
    ("Ωmega", r"^\p{InGreek}"),
    ("Ωmega", r"^\p{block=Greek}"),
    ("Ωmega", r"^\p{InGREEK AND COPTIC}"),
    ("Ωmega", r"^[\p{InGreek}a]"),
    ("Ωmega", r"^\P{InBasic Latin}"),
    ("aé", r"^\p{InBasicLatin}\p{blk=Latin-1 Supplement}$"),
    ("aé", r"^\p{InBasic_Latin}"),
    ("\u{1F600}", r"^\p{InEmoticons}$"),
    ("\u{FF5E}", r"^\p{InHalfwidth and Fullwidth Forms}$"),
    ("abc", "b"),
    ("abc", "^ab"),
    ("abc", "(?=a)"),
    ("abc", "(?<=a)b"),
    ("foobaz", "foo(?!bar)"),
    ("a.b", r"^(?=.*b)(?=.*\.).*$"),
    ("abab", r"(ab)\1"),
    ("abab", r"(?<x>ab)\k<x>"),
    ("abb", r"(a)(b)\2"),
    ("b", r"(a?)\1b"),
    ("a.b", r"\Qa.b\E"),
    ("a.b", r"\Qa.b"),
    ("a\n", "a$"),
    ("a\r\n", "a$"),
    ("a\u{85}", "a$"),
    ("a\u{2028}", "a$"),
    ("a\n", r"a\Z"),
    ("a\nb", "(?m)a$"),
    ("a\nb", "(?m)^b"),
    ("a\rb", "(?m)^b"),
    ("\r", "(?d)."),
    ("a\rb", "(?d)a.b"),
    ("\n", "(?s)."),
    ("A", "(?i)a"),
    ("É", "(?iu)é"),
    ("ſ", "(?iu)s"),
    ("é", r"\p{IsAlphabetic}"),
    ("é", r"\pL"),
    ("é", r"\p{javaLowerCase}"),
    ("é", r"\p{IsLatin}"),
    ("é", r"\p{script=Latin}"),
    ("é", r"\p{gc=Ll}"),
    ("α", r"\p{IsGreek}"),
    ("$", r"\p{Punct}"),
    (" ", r"\p{Blank}"),
    ("a", r"\p{Graph}"),
    ("é", r"(?U)\w"),
    ("b", "[a-c&&[b-d]]"),
    ("a", "[a-c&&[^b]]"),
    ("b", "[a[bc]]"),
    (":", "[[:alpha:]]"),
    ("]", "[]]"),
    ("-", "[a-]"),
    ("&", "[a&b]"),
    ("a", "[a&&]"),
    ("~", "[a~~b]"),
    ("\t", r"\h"),
    ("\n", r"\v"),
    ("\r\n", r"^\R$"),
    ("é", r"\X"),
    ("A", r"\x41\x{42}?"),
    ("A", r"\0101"),
    ("\u{1b}", r"\e"),
    ("\u{1}", r"\cA"),
    ("<", r"\<"),
    ("a\u{e9}", r"a\b"),
    ("aa", r"\Ga"),
    ("aab", "(?<=a+)b"),
    ("aab", "(?<=(a|aa))b"),
    ("😀", r"^.$"),
    ("😀", r"\uD83D\uDE00"),
    ("ab", "(?x)a b # c"),
    ("Ab", "(?i)a(?-i)b"),
    ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "^(a+)+$"),
    ("", ""),
    ("}", "}"),
];

const NOT_FOUND: &[(&str, &str)] = &[
    ("a", r"\p{InGreek}"),
    ("a", r"\p{InHigh Surrogates}"),
    ("abc", "a(?!b)"),
    ("abc", "(?<!a)b"),
    ("aaa", "a++a"),
    ("aaa", "(?>a+)a"),
    ("axb", r"\Qa.b\E"),
    ("é", r"\w"),
    ("٣", r"\d"),
    ("\u{a0}", r"\s"),
    ("\u{2028}", r"\s"),
    ("a\n\n", "a$"),
    ("a\nb", "a$"),
    ("a\n", r"a\z"),
    ("a\n", "(?m)^$"),
    ("", "(?m)^"),
    ("\r", "."),
    ("\u{85}", "."),
    ("\u{2029}", "."),
    ("É", "(?i)é"),
    ("ſ", "(?i)s"),
    ("AB", "(?i)a(?-i)b"),
    ("é", r"\p{Alpha}"),
    ("l", "[a-c&&b]"),
    ("aé", r"^aé\b"),
    ("A", r"\101"),
    ("ab", r"(a)(b)\2"),
    ("a", r"(a)\2"),
    ("b", r"(a)?\1b"),
    ("a", r"\1"),
    ("😀", r"\uD83D"),
    ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "^(a|a)*$"),
];

const MISTAKES: &[&str] = &[
    "(?P<x>ab)",
    r"\p{Greek}",
    r"\p{Nope}",
    "[a--b]",
    r"\u{41}",
    "a**",
    "a+*",
    "*",
    "a|*",
    "?",
    "a{",
    "a{,2}",
    "a{x}",
    "a{2,1}",
    "{",
    "(",
    ")",
    "[",
    "[]",
    "[[]",
    "[z-a]",
    "(?z)a",
    "(?",
    "(?<n_1>X)",
    "(?<n>a)(?<n>b)",
    r"\k<n>",
    r"\y",
    r"\0",
    "a\\",
    r"\c",
    r"\x4",
    r"\N",
];

#[test]
fn what_tries_too_many_ways_is_refused() {
    let text = format!("{}b", "a".repeat(40));
    assert!(is_match(r"^(a|a)*\1?$", &text).is_none());
    assert!(is_match(&"(".repeat(5_000), "a").is_none());
    assert!(is_match(&"[".repeat(5_000), "a").is_none());
    assert!(is_match(r"(((\p{L}{99}){99}){99})", "a").is_none());
}
