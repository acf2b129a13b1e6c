use super::*;

#[test]
fn text_of_others_does_not_speak_to_the_terminal() {
    fn check(line: &str, shown: &str) {
        assert_eq!(harmless(line), shown, "{line:?}");
    }
    check("plain", "plain");
    check("\u{1b}[1;32mgreen\u{1b}[0m", "\u{1b}[1;32mgreen\u{1b}[0m");
    check("a\u{1b}[2Jb", "a[2Jb");
    check("a\u{1b}]0;title\u{7}b", "a]0;titleb");
    check("a\rb\tc\u{9b}2J", "ab c2J");
    check("\u{1b}[", "[");
    check("\u{1b}[31", "[31");
}

#[test]
fn widths_are_those_of_a_terminal() {
    assert_eq!(columns("日本"), 4);
    assert_eq!(columns("\u{1b}[1mab\u{1b}[0m"), 2);
    assert_eq!(first_line("日本語のテーブル", 7), "日本語…");
    assert_eq!(first_line("short\nsecond", 20), "short");
    assert_eq!(pad("日本", 6), "日本  ");
}

#[test]
fn prose_breaks_between_words() {
    assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    assert_eq!(wrap("  - one two", 7), ["  - one", "  two"]);
    assert_eq!(wrap("averyveryverylongword x", 8), ["averyveryverylongword", "x"]);
    assert_eq!(wrap("", 8), [""]);
    assert_eq!(wrap("a  b", 8), ["a  b"]);
}
