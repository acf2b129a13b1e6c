//! What stands in brackets, and escapes that stand for characters in them and outside.

use regex_syntax::hir::ClassUnicode;

use super::java::{Problem, Translator};
use super::set;

/// Behind `[`, to the `]` that closes it.
pub(super) fn class(from: &mut Translator<'_>) -> Result<ClassUnicode, Problem> {
    let negated = from.next_if('^');
    let found = members(from)?;
    if !from.next_if(']') {
        return Err(Problem::Unclosed);
    }
    Ok(if negated { set::not(found) } else { found })
}

/// To the `]` behind them: characters, ranges and further brackets, each adding to the set; `&&` leaves what both sides of it
/// have.
fn members(from: &mut Translator<'_>) -> Result<ClassUnicode, Problem> {
    let mut found = set::none();
    let mut is_first = true;
    loop {
        from.pass_comments();
        match from.peek().ok_or(Problem::Unclosed)? {
            ']' if !is_first => return Ok(found),
            '[' => {
                from.next();
                found.union(&from.deeper(class)?);
            }
            '&' => {
                from.next();
                if from.next_if('&') {
                    return both(from, found, is_first);
                }
                found.union(&from.cased(set::of("&")));
            }
            _ => found.union(&member(from)?),
        }
        is_first = false;
    }
}

/// Behind `&&`. Nothing there leaves the other side as it is.
fn both(from: &mut Translator<'_>, mut left: ClassUnicode, is_first: bool) -> Result<ClassUnicode, Problem> {
    let mut behind = false;
    while from.next_if('&') {
        behind = true;
    }
    from.pass_comments();
    if from.peek() == Some(']') {
        return if is_first { Err(Problem::Range) } else { Ok(left) };
    }
    let right = from.deeper(members)?;
    if is_first || (behind && left.ranges().is_empty()) {
        return Ok(right);
    }
    left.intersect(&right);
    Ok(left)
}

/// One character, a range of them, or what an escape stands for.
fn member(from: &mut Translator<'_>) -> Result<ClassUnicode, Problem> {
    let first = match single(from)? {
        Single::Set(set) => return Ok(set),
        Single::Char(first) => first,
    };
    from.pass_comments();
    if from.peek() != Some('-') {
        return Ok(from.cased(set::range(first, first)));
    }
    from.next();
    from.pass_comments();
    match from.peek() {
        // A dash before the end stands for itself.
        Some(']' | '[') => {
            let dash = set::of("-");
            Ok(set::either(from.cased(set::range(first, first)), &dash))
        }
        _ => match single(from)? {
            Single::Char(last) if last >= first => Ok(from.cased(set::range(first, last))),
            _ => Err(Problem::Range),
        },
    }
}

enum Single {
    Char(char),
    Set(ClassUnicode),
}

fn single(from: &mut Translator<'_>) -> Result<Single, Problem> {
    match from.next().ok_or(Problem::Unclosed)? {
        '\\' => match escape_of(from)? {
            Escape::Char(c) => Ok(Single::Char(c)),
            Escape::Set(set) => Ok(Single::Set(set)),
            Escape::Nothing => Ok(Single::Set(set::none())),
        },
        c => Ok(Single::Char(c)),
    }
}

enum Escape {
    Char(char),
    Set(ClassUnicode),
    /// Half of a pair of surrogates, which no text has.
    Nothing,
}

/// What stands behind `\` outside of brackets, where it is neither an anchor nor a reference; none for what no text has.
pub(super) fn escape(from: &mut Translator<'_>) -> Result<Option<ClassUnicode>, Problem> {
    Ok(match escape_of(from)? {
        Escape::Char(c) => Some(from.cased(set::range(c, c))),
        Escape::Set(set) => Some(set),
        Escape::Nothing => None,
    })
}

fn escape_of(from: &mut Translator<'_>) -> Result<Escape, Problem> {
    let c = from.next().ok_or(Problem::Unclosed)?;
    if let Some(found) = set::escaped(c, from.flags.unicode_classes) {
        return Ok(Escape::Set(found));
    }
    Ok(Escape::Char(match c {
        't' => '\t',
        'n' => '\n',
        'r' => '\r',
        'f' => '\u{c}',
        'a' => '\u{7}',
        'e' => '\u{1b}',
        'x' => hex(from)?,
        '0' => octal(from)?,
        'c' => control(from)?,
        'u' => return unit(from),
        'p' | 'P' => {
            let found = property(from)?;
            return Ok(Escape::Set(if c == 'P' { set::not(found) } else { found }));
        }
        'N' => return Err(Problem::Named),
        c if c.is_ascii_alphanumeric() => return Err(Problem::Escape),
        c => c,
    }))
}

/// `\xhh` or `\x{h…}`.
fn hex(from: &mut Translator<'_>) -> Result<char, Problem> {
    let mut value = 0;
    if !from.next_if('{') {
        for _ in 0..2 {
            value = value * 16 + digit(from, 16)?;
        }
        return char::from_u32(value).ok_or(Problem::Escape);
    }
    let mut digits = 0;
    while !from.next_if('}') {
        value = value * 16 + digit(from, 16)?;
        digits += 1;
        if value > u32::from(char::MAX) {
            return Err(Problem::Escape);
        }
    }
    if digits == 0 { Err(Problem::Escape) } else { char::from_u32(value).ok_or(Problem::Escape) }
}

/// `\0n`, `\0nn` or `\0mnn`, no more than a byte.
fn octal(from: &mut Translator<'_>) -> Result<char, Problem> {
    let mut value = digit(from, 8)?;
    for _ in 0..2 {
        let Some(next) = from.peek().and_then(|c| c.to_digit(8)) else { break };
        if value * 8 + next > 0o377 {
            break;
        }
        from.next();
        value = value * 8 + next;
    }
    char::from_u32(value).ok_or(Problem::Escape)
}

fn control(from: &mut Translator<'_>) -> Result<char, Problem> {
    let c = from.next().ok_or(Problem::Escape)?;
    char::from_u32(u32::from(c) ^ 64).ok_or(Problem::Escape)
}

/// `\uhhhh`, or two that make one character.
fn unit(from: &mut Translator<'_>) -> Result<Escape, Problem> {
    let first = four(from)?;
    if let Some(c) = char::from_u32(first) {
        return Ok(Escape::Char(c));
    }
    let mut ahead = from.clone();
    if ahead.next() == Some('\\')
        && ahead.next() == Some('u')
        && let Ok(second @ 0xdc00..=0xdfff) = four(&mut ahead)
        && (0xd800..0xdc00).contains(&first)
    {
        *from = ahead;
        let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return char::from_u32(joined).map(Escape::Char).ok_or(Problem::Escape);
    }
    Ok(Escape::Nothing)
}

fn four(from: &mut Translator<'_>) -> Result<u32, Problem> {
    let mut value = 0;
    for _ in 0..4 {
        value = value * 16 + digit(from, 16)?;
    }
    Ok(value)
}

fn digit(from: &mut Translator<'_>, radix: u32) -> Result<u32, Problem> {
    from.next().and_then(|c| c.to_digit(radix)).ok_or(Problem::Escape)
}

/// `\pL` or `\p{name}`.
fn property(from: &mut Translator<'_>) -> Result<ClassUnicode, Problem> {
    let mut name = String::new();
    match from.next().ok_or(Problem::Property)? {
        '{' => loop {
            match from.next().ok_or(Problem::Unclosed)? {
                '}' => break,
                c => name.push(c),
            }
        },
        c => name.push(c),
    }
    // Of letters of either case, where cases do not count.
    let wanted = match name.as_str() {
        "Lower" | "Upper" if from.flags.any_case => "Alpha",
        name => name,
    };
    set::named(wanted, from.flags.unicode_classes)
}
