//! Sets of characters: what stands in brackets, and what has a name.

use regex_syntax::Parser;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

use super::blocks;
use super::java::Problem;

/// No character.
pub(super) fn none() -> ClassUnicode {
    ClassUnicode::empty()
}

/// The characters from `first` to `last`.
pub(super) fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// All of `chars`.
pub(super) fn of(chars: &str) -> ClassUnicode {
    ClassUnicode::new(chars.chars().map(|c| ClassUnicodeRange::new(c, c)))
}

/// All other characters.
pub(super) fn not(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// The characters of either.
pub(super) fn either(mut one: ClassUnicode, other: &ClassUnicode) -> ClassUnicode {
    one.union(other);
    one
}

/// The set, with both cases of every letter of ASCII in it, or of every letter.
pub(super) fn any_case(mut set: ClassUnicode, unicode: bool) -> ClassUnicode {
    if unicode {
        // Fails only without the tables of cases, which are built in.
        let _ = set.try_case_fold_simple();
        return set;
    }
    let mut letters = set.clone();
    letters.intersect(&either(range('a', 'z'), &range('A', 'Z')));
    let other_case =
        |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    for letter in letters.iter() {
        set.push(ClassUnicodeRange::new(other_case(letter.start()), other_case(letter.end())));
    }
    set
}

/// The set as the engine writes it.
pub(super) fn written(set: &ClassUnicode) -> String {
    if set.ranges().is_empty() {
        return NEVER.to_owned();
    }
    let ranges = set.iter().map(|range| {
        let (first, last) = (u32::from(range.start()), u32::from(range.end()));
        if first == last { format!("\\x{{{first:x}}}") } else { format!("\\x{{{first:x}}}-\\x{{{last:x}}}") }
    });
    format!("[{}]", ranges.collect::<String>())
}

/// What matches nowhere.
pub(super) const NEVER: &str = "(?:(?!))";

/// The set of an escape such as `\d`; with `unicode`, beyond ASCII.
pub(super) fn escaped(letter: char, unicode: bool) -> Option<ClassUnicode> {
    let set = match (letter.to_ascii_lowercase(), unicode) {
        ('d', false) => range('0', '9'),
        ('d', true) => known(r"\p{Nd}")?,
        ('w', false) => word(),
        ('w', true) => known(r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}")?,
        ('s', false) => of(" \t\n\u{b}\u{c}\r"),
        ('s', true) => known(r"\p{White_Space}")?,
        ('h', _) => known(r" \t\u{a0}\u{1680}\u{180e}\u{2000}-\u{200a}\u{202f}\u{205f}\u{3000}")?,
        ('v', _) => of("\n\u{b}\u{c}\r\u{85}\u{2028}\u{2029}"),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { not(set) } else { set })
}

/// Letters, digits and the underscore of ASCII.
fn word() -> ClassUnicode {
    either(alnum(), &of("_"))
}

fn alnum() -> ClassUnicode {
    either(either(range('a', 'z'), &range('A', 'Z')), &range('0', '9'))
}

/// The set of a name in `\p{…}`: a POSIX class, a category, a script, a property, or one of the language's own.
pub(super) fn named(name: &str, unicode: bool) -> Result<ClassUnicode, Problem> {
    posix(name, unicode).or_else(|| own(name)).or_else(|| of_unicode(name)).ok_or(Problem::Property)
}

fn posix(name: &str, unicode: bool) -> Option<ClassUnicode> {
    if unicode {
        let wide = match name {
            "Lower" => r"\p{Lowercase}",
            "Upper" => r"\p{Uppercase}",
            "Alpha" => r"\p{Alphabetic}",
            "Digit" => r"\p{Nd}",
            "Alnum" => r"\p{Alphabetic}\p{Nd}",
            "Punct" => r"\p{P}",
            "Graph" => r"[^\p{White_Space}\p{Cc}\p{Cs}\p{Cn}]",
            "Print" => r"[^\p{White_Space}\p{Cc}\p{Cs}\p{Cn}]\p{Zs}",
            "Blank" => r"\p{Zs}\t",
            "Cntrl" => r"\p{Cc}",
            "XDigit" => r"\p{Nd}\p{Hex_Digit}",
            "Space" => r"\p{White_Space}",
            _ => return if name == "ASCII" { Some(range('\0', '\u{7f}')) } else { None },
        };
        return known(wide);
    }
    Some(match name {
        "Lower" => range('a', 'z'),
        "Upper" => range('A', 'Z'),
        "ASCII" => range('\0', '\u{7f}'),
        "Alpha" => either(range('a', 'z'), &range('A', 'Z')),
        "Digit" => range('0', '9'),
        "Alnum" => alnum(),
        "Punct" => known(r"!-/:-@\[-`{-~")?,
        "Graph" => range('!', '~'),
        "Print" => range(' ', '~'),
        "Blank" => of(" \t"),
        "Cntrl" => either(range('\0', '\u{1f}'), &of("\u{7f}")),
        "XDigit" => known("0-9a-fA-F")?,
        "Space" => escaped('s', false)?,
        _ => return None,
    })
}

fn own(name: &str) -> Option<ClassUnicode> {
    known(match name {
        "all" => return Some(range('\0', char::MAX)),
        "L1" => return Some(range('\0', '\u{ff}')),
        "LD" => r"\p{L}\p{Nd}",
        "javaLowerCase" => r"\p{Lowercase}",
        "javaUpperCase" => r"\p{Uppercase}",
        "javaAlphabetic" => r"\p{Alphabetic}",
        "javaIdeographic" => r"\p{Ideographic}",
        "javaTitleCase" => r"\p{Lt}",
        "javaDigit" => r"\p{Nd}",
        "javaDefined" => r"[^\p{Cn}]",
        "javaLetter" => r"\p{L}",
        "javaLetterOrDigit" => r"\p{L}\p{Nd}",
        "javaSpaceChar" => r"\p{Z}",
        "javaWhitespace" => r"[\p{Z}--[\u{a0}\u{2007}\u{202f}]]\t-\r\u{1c}-\u{1f}",
        "javaISOControl" => r"\p{Cc}",
        _ => return None,
    })
}

/// A category (`Lu`, `IsLu`, `gc=Lu`), a script (`IsGreek`, `script=Greek`), a block (`InGreek`, `block=Greek`) or a property
/// (`IsAlphabetic`).
fn of_unicode(name: &str) -> Option<ClassUnicode> {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if let Some((kind, value)) = name.split_once('=') {
        let kind = match kind.to_ascii_lowercase().as_str() {
            "sc" | "script" => "sc",
            "gc" | "general_category" => "gc",
            "blk" | "block" => return blocks::named(value),
            _ => return None,
        };
        return if plain(value) { known(&format!(r"\p{{{kind}={value}}}")) } else { None };
    }
    if let Some(block) = name.strip_prefix("In") {
        return blocks::named(block);
    }
    let is = name.strip_prefix("Is");
    let wanted = is.unwrap_or(name);
    if !plain(wanted) {
        return None;
    }
    let category = || if wanted.len() <= 2 { known(&format!(r"\p{{gc={wanted}}}")) } else { None };
    match is {
        None => category(),
        Some(_) => category().or_else(|| known(&format!(r"\p{{{wanted}}}"))),
    }
}

/// A set in the engine's own words.
fn known(words: &str) -> Option<ClassUnicode> {
    match Parser::new().parse(&format!("[{words}]")).ok()?.into_kind() {
        HirKind::Class(regex_syntax::hir::Class::Unicode(set)) => Some(set),
        HirKind::Literal(one) => Some(of(std::str::from_utf8(&one.0).ok()?)),
        _ => None,
    }
}
