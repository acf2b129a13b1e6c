//! A page of text under construction: lines, aligned columns, colours.

use std::borrow::Cow;

use anstyle::Style;
use lochan_api_spec::nessie::model::{CommitMetaV2, ContentKey, ReferenceV2};
use lochan_api_spec::syntax::Instant;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Look, time};
use crate::args::key;
use crate::client::HASH_DIGITS;

/// Digits of a hash where nobody asked for all.
pub const HASH_DIGITS_SHORT: usize = 12;

/// Columns that an age takes: `119 seconds ago`.
pub const AGE_COLUMNS: usize = 15;

/// Columns that a message has at least beside other things on its line.
pub const SUBJECT_COLUMNS_MIN: usize = 16;

/// Columns below which no message is cut, however narrow the line.
const MESSAGE_COLUMNS_MIN: usize = 32;

/// Columns to which short messages are filled, so that the ages behind them stand below each other.
const MESSAGE_COLUMNS_FILLED_MAX: usize = 47;

/// What colours mean.
pub mod style {
    use anstyle::{AnsiColor, Style};

    const fn color(color: AnsiColor) -> Style {
        color.on_default()
    }

    /// A commit.
    pub const HASH: Style = color(AnsiColor::Yellow);
    /// A branch or tag.
    pub const NAME: Style = color(AnsiColor::Green).bold();
    /// A key.
    pub const KEY: Style = Style::new().bold();
    /// Something that came.
    pub const ADDED: Style = color(AnsiColor::Green);
    /// Something that went.
    pub const REMOVED: Style = color(AnsiColor::Red);
    /// Something that is different.
    pub const CHANGED: Style = color(AnsiColor::Cyan);
    /// What matters less.
    pub const FAINT: Style = Style::new().dimmed();
    /// The word `error:`, conflicts.
    pub const ERROR: Style = color(AnsiColor::Red).bold();
    /// The word `hint:`.
    pub const HINT: Style = color(AnsiColor::Cyan).bold();
}

/// Text with colours, line by line.
pub struct Page {
    text: String,
    look: Look,
}

impl Page {
    /// An empty page.
    pub fn new(look: Look) -> Self {
        Self { text: String::new(), look }
    }

    /// The text, colours included.
    pub fn finish(self) -> String {
        self.text
    }

    /// Appends a line; blanks at its end are dropped. What servers send may hold anything: control characters other than
    /// colours are taken out, so that no text moves the cursor or speaks to the terminal.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(&harmless(line.trim_end_matches(' ')));
        self.text.push('\n');
    }

    /// Columns of a line.
    pub fn columns(&self) -> usize {
        self.look.columns
    }

    /// Columns left for a message on a line where `taken` are used by the rest.
    pub fn message_columns(&self, taken: usize) -> usize {
        self.look.columns.saturating_sub(taken).max(MESSAGE_COLUMNS_MIN)
    }

    /// Appends text that people wrote, broken between words where a terminal would break it anywhere.
    pub fn prose(&mut self, indent: &str, text: &str) {
        let room = self.message_columns(columns(indent));
        for line in text.lines() {
            for part in wrap(line, room) {
                self.line(&format!("{indent}{part}"));
            }
        }
    }

    /// Appends an empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Appends a name and its value, values aligned at a column.
    pub fn field(&mut self, width: usize, name: &str, value: &str) {
        let name = self.paint(style::FAINT, &pad(&format!("{name}:"), width));
        self.line(&format!("{name} {value}"));
    }

    /// Colours a text.
    pub fn paint(&self, style: Style, text: &str) -> String {
        format!("{style}{text}{style:#}")
    }

    /// A hash, short unless all digits were asked for.
    pub fn hash(&self, hash: &str) -> String {
        self.paint(style::HASH, self.digits(hash))
    }

    /// The digits of a hash to show, without colour.
    pub fn digits<'a>(&self, hash: &'a str) -> &'a str {
        let digits = if self.look.full { hash.len() } else { HASH_DIGITS_SHORT };
        hash.get(..digits).unwrap_or(hash)
    }

    /// The hash of a reference; the beginning has a word instead.
    pub fn head(&self, hash: Option<&str>) -> String {
        match hash {
            Some(hash) if hash != NO_ANCESTOR_HASH => self.hash(hash),
            _ => self.paint(style::FAINT, "no commits"),
        }
    }

    /// A key.
    pub fn key(&self, key: &ContentKey) -> String {
        self.paint(style::KEY, &key::show(key))
    }

    /// The name of a branch or tag.
    pub fn name(&self, name: &str) -> String {
        self.paint(style::NAME, name)
    }

    /// How a state is called: its name, or its hash.
    pub fn state(&self, reference: &ReferenceV2) -> String {
        let hash = reference.hash.as_deref().unwrap_or_default();
        match &reference.name {
            Some(name) => format!("{} ({})", self.name(name), self.head(Some(hash))),
            None => self.head(Some(hash)),
        }
    }

    /// How long ago, and when.
    pub fn time(&self, at: Instant) -> String {
        time::both(at, &self.look)
    }

    /// How long ago.
    pub fn ago(&self, at: Instant) -> String {
        time::relative(at, self.look.now)
    }

    /// A message. Full hashes in it, which servers write into those of merges and errors, are shortened like any other.
    pub fn message(&self, text: &str) -> String {
        let is_hash = |word: &str| word.len() == HASH_DIGITS && word.bytes().all(|b| b.is_ascii_hexdigit());
        text.split_inclusive(|c: char| !c.is_ascii_alphanumeric())
            .map(|part| {
                let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
                let behind = part.get(word.len()..).unwrap_or_default();
                if is_hash(word) { format!("{}{behind}", self.digits(word)) } else { part.to_owned() }
            })
            .collect()
    }

    /// Appends one commit as one line: hash, first line of the message, age.
    pub fn commit_line(&mut self, indent: &str, meta: &CommitMetaV2) {
        let line = self.commit_text(columns(indent), meta, true);
        self.line(&format!("{indent}{line}"));
    }

    /// One commit as one line, behind `taken` columns; `padded` aligns the ages of several.
    pub fn commit_text(&self, taken: usize, meta: &CommitMetaV2, padded: bool) -> String {
        let digits = self.digits(meta.hash.as_deref().unwrap_or_default());
        let room = self.message_columns(taken + columns(digits) + 4 + AGE_COLUMNS);
        let mut message = first_line(&self.message(&meta.message), room);
        if padded {
            message = pad(&message, room.min(MESSAGE_COLUMNS_FILLED_MAX));
        }
        let age = meta.commit_time.map(|at| self.ago(at)).unwrap_or_default();
        format!("{}  {message}  {}", self.paint(style::HASH, digits), self.paint(style::FAINT, &age))
    }
}

/// Takes control characters out, colours (`ESC [ … m`) excepted.
fn harmless(line: &str) -> Cow<'_, str> {
    if !line.chars().any(char::is_control) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let colour = rest.strip_prefix("\u{1b}[").and_then(|behind| {
            let end = behind.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            behind.get(end..)?.starts_with('m').then_some(2 + end + 1)
        });
        let length = colour.unwrap_or(c.len_utf8());
        match (colour, c) {
            (Some(_), _) => out.push_str(rest.get(..length).unwrap_or_default()),
            (None, '\t') => out.push(' '),
            (None, c) if c.is_control() => {}
            (None, c) => out.push(c),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(out)
}

/// Columns that a text takes; colours take none.
pub fn columns(text: &str) -> usize {
    if text.contains('\u{1b}') {
        return UnicodeWidthStr::width(anstream::adapter::strip_str(text).to_string().as_str());
    }
    UnicodeWidthStr::width(text)
}

/// Breaks a line between words; a word that is longer than the room stands alone. Leading blanks stay with each part.
fn wrap(line: &str, room: usize) -> Vec<String> {
    let body = line.trim_start_matches(' ');
    let lead = line.get(..line.len() - body.len()).unwrap_or_default();
    let mut parts = vec![lead.to_owned()];
    for word in body.split(' ') {
        let Some(last) = parts.last_mut() else { break };
        let first_word = last.len() == lead.len();
        if !first_word && columns(last) + 1 + columns(word) > room {
            parts.push(format!("{lead}{word}"));
        } else {
            if !first_word {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    parts
}

/// The first line, cut with an ellipsis behind `most` columns.
pub fn first_line(text: &str, most: usize) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    if columns(line) <= most {
        return line.to_owned();
    }
    let mut cut = String::new();
    let mut taken = 1;
    for c in line.chars() {
        taken += UnicodeWidthChar::width(c).unwrap_or(0);
        if taken > most {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// Fills with blanks up to a width in columns.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(columns(text));
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// The columns of the widest text.
pub fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(columns).max().unwrap_or_default()
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
