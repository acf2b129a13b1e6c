//! Content keys as strings, and the limits of keys.
//!
//! Three string forms exist (Nessie API, content keys): *legacy* (dots inside an element become U+001D), *escaped*
//! (spec 2.2) and *canonical* (for people). [`decode`] reads all three. The JSON form is
//! [`crate::nessie::model::ContentKey`].

use std::fmt::Write as _;

/// Most elements a key may have.
pub const ELEMENTS_MAX: usize = 20;

/// Greatest total length of a key's elements, in UTF-16 code units.
pub const LENGTH_UTF16_MAX: usize = 500;

const LEGACY_DOT: char = '\u{1d}';

/// A key that breaks a limit, or text that is no key. Messages are those of the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// More than [`ELEMENTS_MAX`] elements.
    #[error("{0} too long, max allowed number of elements: {ELEMENTS_MAX}")]
    Elements(&'static str),
    /// More than [`LENGTH_UTF16_MAX`] code units.
    #[error("{0} too long, max allowed length: {LENGTH_UTF16_MAX}")]
    Length(&'static str),
    /// An element of no characters.
    #[error("{what} '{shown}' must not contain an empty element")]
    EmptyElement {
        /// `Content key` or `Namespace`.
        what: &'static str,
        /// The elements as `[a, b]`.
        shown: String,
    },
    /// A character below U+0020.
    #[error("{what} '{shown}' must not contain characters less than 0x20")]
    Control {
        /// `Content key` or `Namespace`.
        what: &'static str,
        /// The elements as `[a, b]`.
        shown: String,
    },
    /// U+007F.
    #[error("{what} '{shown}' must not contain the character 0x7F")]
    Delete {
        /// `Content key` or `Namespace`.
        what: &'static str,
        /// The elements as `[a, b]`.
        shown: String,
    },
    /// A namespace whose last element is a single dot.
    #[error("Namespace '{0}' must not contain a '.' element")]
    DotElement(String),
    /// No elements where some are needed.
    #[error("Content key must not be empty")]
    Empty,
    /// `*` before a character that is no escape.
    #[error("Illegal escaping sequence *{escape} in encoded path: {text}")]
    Escape {
        /// The character behind the star.
        escape: char,
        /// The whole text.
        text: String,
    },
    /// `*` at the end of escaped text.
    #[error("Illegal escaping sequence at the end of encoded path: {0}")]
    EscapeEnd(String),
}

/// Checks the limits of a content key; a key of no elements passes.
pub fn check_key<S: AsRef<str>>(elements: &[S]) -> Result<(), KeyError> {
    check("Content key", elements)
}

/// Checks the limits of a namespace's elements: those of a key, and the last one is not `.`.
pub fn check_namespace<S: AsRef<str>>(elements: &[S]) -> Result<(), KeyError> {
    check("Namespace", elements)?;
    match elements.last() {
        Some(last) if last.as_ref() == "." => Err(KeyError::DotElement(shown(elements))),
        _ => Ok(()),
    }
}

fn check<S: AsRef<str>>(what: &'static str, elements: &[S]) -> Result<(), KeyError> {
    if elements.len() > ELEMENTS_MAX {
        return Err(KeyError::Elements(what));
    }
    let mut length = 0;
    for element in elements {
        let element = element.as_ref();
        if element.is_empty() {
            return Err(KeyError::EmptyElement { what, shown: shown(elements) });
        }
        if let Some(bad) = element.bytes().find(|b| *b < 0x20 || *b == 0x7f) {
            let shown = shown(elements);
            return Err(if bad == 0x7f {
                KeyError::Delete { what, shown }
            } else {
                KeyError::Control { what, shown }
            });
        }
        length += if element.is_ascii() { element.len() } else { element.encode_utf16().count() };
    }
    if length > LENGTH_UTF16_MAX { Err(KeyError::Length(what)) } else { Ok(()) }
}

fn shown<S: AsRef<str>>(elements: &[S]) -> String {
    let mut out = String::from("[");
    for (i, element) in elements.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(element.as_ref());
    }
    out.push(']');
    out
}

/// Joins the elements with dots, as keys are printed in messages; not reversible.
pub fn join_plain<S: AsRef<str>>(elements: &[S]) -> String {
    join(elements, |out, element| out.push_str(element))
}

/// Writes the legacy form: dots (and NUL) inside an element become U+001D.
pub fn encode_legacy<S: AsRef<str>>(elements: &[S]) -> String {
    join(elements, |out, element| {
        out.extend(element.chars().map(|c| if matches!(c, '.' | '\0') { LEGACY_DOT } else { c }));
    })
}

/// Writes the escaped form of spec 2.2: `.foo.*.bar` for `["foo", ".bar"]`.
pub fn encode_escaped<S: AsRef<str>>(elements: &[S]) -> String {
    escape(elements, &['.', '/', '\\', '%'], true)
}

/// Writes the canonical form for people: only dots (and then stars) are escaped.
pub fn encode_canonical<S: AsRef<str>>(elements: &[S]) -> String {
    escape(elements, &['.'], false)
}

fn join<S: AsRef<str>>(elements: &[S], mut write: impl FnMut(&mut String, &str)) -> String {
    let mut out = String::with_capacity(elements.iter().map(|e| e.as_ref().len() + 1).sum());
    for (i, element) in elements.iter().enumerate() {
        if i > 0 {
            out.push('.');
        }
        write(&mut out, element.as_ref());
    }
    out
}

fn escape<S: AsRef<str>>(elements: &[S], triggers: &[char], all: bool) -> String {
    if !elements.iter().any(|element| element.as_ref().contains(triggers)) {
        return join_plain(elements);
    }
    let mut out = String::new();
    for element in elements {
        out.push('.');
        for c in element.as_ref().chars() {
            let _ = match c {
                '.' => out.write_str("*."),
                '*' => out.write_str("**"),
                '/' if all => out.write_str("*{"),
                '\\' if all => out.write_str("*}"),
                '%' if all => out.write_str("*["),
                c => out.write_char(c),
            };
        }
    }
    out
}

/// Reads any of the three forms and checks the limits. A lone `.` (and empty text) is the key of no elements.
pub fn parse(text: &str) -> Result<Vec<String>, KeyError> {
    let elements = decode(text)?;
    check_key(&elements)?;
    Ok(elements)
}

/// Reads any of the three forms without checking limits.
pub fn decode(text: &str) -> Result<Vec<String>, KeyError> {
    let mut elements = Vec::new();
    let mut current = String::new();
    for c in text.chars() {
        match c {
            '.' if current.is_empty() => return decode_escaped(text, elements),
            '.' => elements.push(std::mem::take(&mut current)),
            LEGACY_DOT | '\0' => current.push('.'),
            c => current.push(c),
        }
    }
    if !current.is_empty() {
        elements.push(current);
    }
    Ok(elements)
}

/// Starts over behind the first character, now with `*` as escape. What was finished before stays in front, which
/// only shows in the message of a key that is refused anyway.
fn decode_escaped(text: &str, mut elements: Vec<String>) -> Result<Vec<String>, KeyError> {
    let mut current = String::new();
    let mut chars = text.chars();
    chars.next();
    while let Some(c) = chars.next() {
        match c {
            '.' => elements.push(std::mem::take(&mut current)),
            '*' => current.push(match chars.next() {
                Some(same @ ('.' | '*')) => same,
                Some('{') => '/',
                Some('}') => '\\',
                Some('[') => '%',
                Some(escape) => return Err(KeyError::Escape { escape, text: text.to_owned() }),
                None => return Err(KeyError::EscapeEnd(text.to_owned())),
            }),
            // What stood for a dot before there were escapes is a character like any other here.
            c => current.push(c),
        }
    }
    if !current.is_empty() {
        elements.push(current);
    }
    Ok(elements)
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
