//! A page of text under construction: lines, aligned columns, colours.

use anstyle::Style;
use lochan_api_spec::nessie::model::{CommitMetaV2, ContentKey, ReferenceV2};
use lochan_api_spec::syntax::Instant;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;

use super::{Look, time};
use crate::args::key;
use crate::client::HASH_DIGITS;

/// Digits of a hash where nobody asked for all.
pub const HASH_DIGITS_SHORT: usize = 12;

/// How long the first line of a message may be in a list, in characters: lists fit into 80 columns.
const MESSAGE_CHARS_MAX: usize = 44;

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

    /// Appends a line; blanks at its end are dropped.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end_matches(' '));
        self.text.push('\n');
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
        let line = self.commit_text(meta, true);
        self.line(&format!("{indent}{line}"));
    }

    /// One commit as one line; `padded` aligns the ages of several.
    pub fn commit_text(&self, meta: &CommitMetaV2, padded: bool) -> String {
        let hash = self.hash(meta.hash.as_deref().unwrap_or_default());
        let mut message = first_line(&self.message(&meta.message), MESSAGE_CHARS_MAX);
        if padded {
            message = pad(&message, MESSAGE_CHARS_MAX);
        }
        let age = meta.commit_time.map(|at| self.ago(at)).unwrap_or_default();
        format!("{hash}  {message}  {}", self.paint(style::FAINT, &age))
    }
}

/// The first line, cut with an ellipsis behind `most` characters.
pub fn first_line(text: &str, most: usize) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Fills with blanks up to a width in characters.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// The width of the widest text.
pub fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or_default()
}
