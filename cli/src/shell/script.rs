//! From text to statements, and from a statement to words.
//!
//! A statement ends at `;` or at the end of its line. A line goes on with the next one when it ends with a backslash, inside
//! quotes or in the middle of a statement, or when the next one begins with a word that only continues statements (`INTO`,
//! `ON`, `FROM` …). What stands behind `#`, or `--` and a blank, at the begin of a line is a remark.

use super::statement;
use crate::args::key;

/// Words that begin no statement: a line that begins with one belongs to the line before.
const CONTINUATIONS: [&str; 18] = [
    "INTO",
    "ON",
    "AT",
    "FROM",
    "SET",
    "AND",
    "TO",
    "BEHAVIOR",
    "BEHAVIORS",
    "FILTER",
    "STARTING",
    "CONTAINING",
    "LIMIT",
    "REMOVE",
    "USING",
    "ALLOW",
    "OF",
    "WITH",
];

/// A statement and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its text, without the semicolon.
    pub text: String,
    /// The line it begins on, counted from 1.
    pub line: usize,
}

/// Text whose last statement is not finished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// A quote is open.
    #[error("a quote is not closed: {0}")]
    Quote(char),
    /// The last line ends with a backslash.
    #[error("the last line goes on, but there is no further one")]
    Backslash,
}

/// Cuts a text into statements.
pub fn split(source: &str) -> Result<Vec<Statement>, Unfinished> {
    let mut statements = Vec::new();
    let (mut text, mut began) = (String::new(), 1);
    let mut quote = None;
    let mut lines = source.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        if quote.is_none() && is_remark(line) {
            continue;
        }
        let mut chars = line.chars().peekable();
        let mut goes_on = false;
        while let Some(c) = chars.next() {
            if text.trim().is_empty() {
                began = at + 1;
            }
            match (quote, c) {
                (None, ';') => {
                    push(&mut statements, &mut text, began);
                    continue;
                }
                (None, '\\') if chars.peek().is_none() => {
                    goes_on = true;
                    continue;
                }
                (Some('"'), '\\') => {
                    text.push(c);
                    text.extend(chars.next());
                    continue;
                }
                (None, '\'' | '"' | '`') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                _ => {}
            }
            text.push(c);
        }
        if quote.is_some() {
            text.push('\n');
        } else if goes_on {
            if lines.peek().is_none() {
                return Err(Unfinished::Backslash);
            }
            text.push(' ');
        } else {
            while lines.next_if(|(_, next)| next.trim().is_empty() || is_remark(next)).is_some() {}
            let continued =
                lines.peek().is_some_and(|(_, next)| continues(next) || statement::is_open(&text));
            if continued && !text.trim().is_empty() {
                text.push(' ');
            } else {
                push(&mut statements, &mut text, began);
            }
        }
    }
    if let Some(open) = quote {
        return Err(Unfinished::Quote(open));
    }
    push(&mut statements, &mut text, began);
    Ok(statements)
}

fn push(statements: &mut Vec<Statement>, text: &mut String, line: usize) {
    let found = std::mem::take(text);
    if !found.trim().is_empty() {
        statements.push(Statement { text: found.trim().to_owned(), line });
    }
}

fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') || line == "--" || line.starts_with("-- ")
}

fn continues(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    CONTINUATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// A word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    ///
    /// Quotes around it, or around all that stands behind its `=`, only hold it together. Elsewhere they belong to it, and all
    /// three kinds are double quotes: ``sales.`a.b` `` is the key `sales."a.b"`.
    pub text: String,
    /// Whether something in it stands in quotes: it is no keyword then.
    pub quoted: bool,
    pieces: Vec<Piece>,
}

/// A part of a word that stands in quotes, or outside.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    text: String,
    quoted: bool,
}

impl Word {
    fn of(pieces: Vec<Piece>) -> Self {
        let (mut text, mut begins) = (String::new(), true);
        let mut rest = pieces.iter().peekable();
        while let Some(piece) = rest.next() {
            // `"a.b".c` is a key whose first element is quoted.
            let goes_on = rest.peek().is_some_and(|next| !next.quoted && next.text.starts_with('.'));
            if piece.quoted && (goes_on || !begins) {
                text.push_str(&key::quoted(&piece.text));
            } else {
                text.push_str(&piece.text);
            }
            begins = !piece.quoted && ends_with_sign(&piece.text);
        }
        Self { text, quoted: pieces.iter().any(|piece| piece.quoted), pieces }
    }

    /// Whether nothing stands there, not even quotes.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What stands before and behind its first `=` outside of quotes.
    pub fn at_sign(&self) -> Option<(Self, Self)> {
        let at = self.pieces.iter().position(|piece| !piece.quoted && piece.text.contains('='))?;
        let (before, behind) = self.pieces.get(at)?.text.split_once('=')?;
        let part = |text: &str| (!text.is_empty()).then(|| Piece { text: text.to_owned(), quoted: false });
        let name = self.pieces.iter().take(at).cloned().chain(part(before));
        let value = part(behind).into_iter().chain(self.pieces.iter().skip(at + 1).cloned());
        Some((Self::of(name.collect()), Self::of(value.collect())))
    }
}

/// Whether a value begins behind this text: `==` and its like compare.
fn ends_with_sign(text: &str) -> bool {
    text.strip_suffix('=').is_some_and(|name| !name.ends_with(['=', '!', '<', '>']))
}

/// Cuts a statement into words, at blanks outside of quotes. A quote twice inside of its like is one.
pub fn words(statement: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut chars = statement.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {
                if !pieces.is_empty() {
                    words.push(Word::of(std::mem::take(&mut pieces)));
                }
            }
            '\'' | '"' | '`' => {
                let mut text = String::new();
                while let Some(inside) = chars.next() {
                    match inside {
                        inside if inside == c && chars.next_if_eq(&c).is_none() => break,
                        '\\' if c == '"' => text.extend(chars.next()),
                        inside => text.push(inside),
                    }
                }
                pieces.push(Piece { text, quoted: true });
            }
            c => match pieces.last_mut().filter(|piece| !piece.quoted) {
                Some(piece) => piece.text.push(c),
                None => pieces.push(Piece { text: c.to_string(), quoted: false }),
            },
        }
    }
    if !pieces.is_empty() {
        words.push(Word::of(pieces));
    }
    words
}
