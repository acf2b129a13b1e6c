//! Regular expressions as the reference server's language (Java) reads them, written anew for the engine.
//!
//! The two differ in what anchors, dots, cases, borders of words and `\d`, `\w`, `\s` mean, in the syntax of sets, and in
//! what is a mistake. Everything is written out, so that nothing of the engine's own reading is left.

use std::collections::HashMap;
use std::iter::{Copied, Peekable};
use std::slice::Iter;

use super::brackets;
use super::set::{self, NEVER};

/// Deepest nesting of groups and brackets.
pub(super) const NESTING_MAX: usize = 32;

/// What is wrong with an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    /// A quantifier without anything before it.
    #[error("dangling meta character")]
    Dangling,
    /// `{` without a count.
    #[error("illegal repetition")]
    Repetition,
    /// Something is not closed, or was never opened.
    #[error("unclosed group, class or escape")]
    Unclosed,
    /// `(?` and what nobody knows.
    #[error("unknown group or inline modifier")]
    Group,
    /// `\` and what nobody knows.
    #[error("illegal or unsupported escape sequence")]
    Escape,
    /// A range whose end comes first.
    #[error("illegal character range")]
    Range,
    /// `\p` and a name that is not known.
    #[error("unknown character property")]
    Property,
    /// `\N{…}`.
    #[error("characters are not known by their names (\\N); write \\x{{…}} with the number")]
    Named,
    /// `\b{g}`.
    #[error("borders of graphemes (\\b{{g}}) are not known; \\X matches a grapheme")]
    Grapheme,
    /// More than [`NESTING_MAX`].
    #[error("groups are nested too deep")]
    Deep,
}

/// Which texts an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// Those of ASCII on one line, where the engine's anchors and borders of words are right and fast.
    Plain,
    /// All.
    Any,
}

/// Writes an expression for the engine.
pub(super) fn translate(pattern: &str, texts: Texts) -> Result<String, Problem> {
    let chars = unquoted(pattern);
    // Whether `\2` is a group is known only at the end.
    let mut counting = Translator::new(&chars, texts, u32::MAX);
    counting.whole()?;
    Translator::new(&chars, texts, counting.groups).whole()
}

/// Writes out what stands between `\Q` and `\E`.
fn unquoted(pattern: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\\Q") {
            let (quoted, behind) = after.split_once("\\E").unwrap_or((after, ""));
            for c in quoted.chars() {
                if c.is_ascii() && !c.is_ascii_alphanumeric() {
                    out.push('\\');
                }
                out.push(c);
            }
            rest = behind;
            continue;
        }
        let taken = if c == '\\' { rest.chars().take(2).map(char::len_utf8).sum() } else { c.len_utf8() };
        let (now, behind) = rest.split_at(taken);
        out.extend(now.chars());
        rest = behind;
    }
    out
}

/// What `(?idmsux)` switches on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) any_case: bool,
    pub(super) unicode_case: bool,
    pub(super) unicode_classes: bool,
    pub(super) comments: bool,
    unix_lines: bool,
    multiline: bool,
    dot_all: bool,
}

impl Flags {
    fn switch(&mut self, letter: char, on: bool) -> Result<(), Problem> {
        match letter {
            'i' => self.any_case = on,
            'd' => self.unix_lines = on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            'u' => self.unicode_case = on,
            'x' => self.comments = on,
            'U' => (self.unicode_classes, self.unicode_case) = (on, on),
            _ => return Err(Problem::Group),
        }
        Ok(())
    }
}

/// Reads an expression once, from its beginning to its end.
#[derive(Clone)]
pub(super) struct Translator<'p> {
    chars: Peekable<Copied<Iter<'p, char>>>,
    pub(super) flags: Flags,
    texts: Texts,
    /// Groups begun so far, and in all.
    groups: u32,
    all_groups: u32,
    names: HashMap<String, u32>,
    depth: usize,
}

impl<'p> Translator<'p> {
    fn new(chars: &'p [char], texts: Texts, all_groups: u32) -> Self {
        let chars = chars.iter().copied().peekable();
        Self { chars, flags: Flags::default(), texts, groups: 0, all_groups, names: HashMap::new(), depth: 0 }
    }

    fn whole(&mut self) -> Result<String, Problem> {
        let out = self.alternatives()?;
        // Only a bracket that was never opened ends them sooner.
        if self.peek().is_some() { Err(Problem::Unclosed) } else { Ok(out) }
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.chars.peek().copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        self.chars.next()
    }

    pub(super) fn next_if(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    /// Runs `inside` one level deeper.
    pub(super) fn deeper<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(Problem::Deep);
        }
        let found = inside(self);
        self.depth -= 1;
        found
    }

    /// Passes by blanks and comments where they do not count.
    pub(super) fn pass_comments(&mut self) {
        if !self.flags.comments {
            return;
        }
        while let Some(c) = self.peek() {
            if c == '#' {
                while self.chars.next_if(|c| !"\n\r\u{85}\u{2028}\u{2029}".contains(*c)).is_some() {}
            } else if !(c.is_ascii_whitespace() || c == '\u{b}') {
                return;
            }
            self.chars.next();
        }
    }

    fn alternatives(&mut self) -> Result<String, Problem> {
        let mut out = String::new();
        loop {
            self.pass_comments();
            match self.peek() {
                None | Some(')') => return Ok(out),
                Some('|') => {
                    self.chars.next();
                    out.push('|');
                }
                Some(_) => {
                    let atom = self.atom()?;
                    self.pass_comments();
                    out.push_str(&self.repeated(atom)?);
                }
            }
        }
    }

    fn repeated(&mut self, atom: String) -> Result<String, Problem> {
        let count = match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.chars.next();
                c.to_string()
            }
            Some('{') => {
                self.chars.next();
                self.count()?
            }
            _ => return Ok(atom),
        };
        Ok(if self.next_if('+') {
            format!("(?>(?:{atom}){count})")
        } else if self.next_if('?') {
            format!("(?:{atom}){count}?")
        } else {
            format!("(?:{atom}){count}")
        })
    }

    /// What stands behind `{`: `n}`, `n,}` or `n,m}`.
    fn count(&mut self) -> Result<String, Problem> {
        let first = self.number().ok_or(Problem::Repetition)?;
        if !self.next_if(',') {
            return if self.next_if('}') { Ok(format!("{{{first}}}")) } else { Err(Problem::Repetition) };
        }
        let last = self.number();
        match last {
            _ if !self.next_if('}') => Err(Problem::Repetition),
            None => Ok(format!("{{{first},}}")),
            Some(last) if last < first => Err(Problem::Repetition),
            Some(last) => Ok(format!("{{{first},{last}}}")),
        }
    }

    fn number(&mut self) -> Option<u32> {
        let mut found = None::<u32>;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.chars.next();
            found = Some(found.unwrap_or(0).saturating_mul(10).saturating_add(digit));
        }
        found
    }

    fn atom(&mut self) -> Result<String, Problem> {
        let Some(c) = self.chars.next() else { return Ok(String::new()) };
        Ok(match c {
            '*' | '+' | '?' => return Err(Problem::Dangling),
            '{' => return Err(Problem::Repetition),
            '(' => return self.deeper(Self::group),
            '[' => set::written(&self.deeper(brackets::class)?),
            '\\' => return self.escape(),
            '^' => self.begin().to_owned(),
            '$' => self.end(self.flags.multiline).to_owned(),
            '.' => self.dot().to_owned(),
            c => self.literal(c),
        })
    }

    /// A character that stands for itself.
    fn literal(&self, c: char) -> String {
        set::written(&self.cased(set::range(c, c)))
    }

    /// A set, in whatever case the flags say.
    pub(super) fn cased(&self, set: regex_syntax::hir::ClassUnicode) -> regex_syntax::hir::ClassUnicode {
        if self.flags.any_case { set::any_case(set, self.flags.unicode_case) } else { set }
    }

    fn dot(&self) -> &'static str {
        match (self.texts, self.flags.dot_all, self.flags.unix_lines) {
            (Texts::Plain, ..) | (_, true, _) => "(?s:.)",
            (_, _, true) => r"[^\n]",
            _ => r"[^\n\r\x{85}\x{2028}\x{2029}]",
        }
    }

    fn begin(&self) -> &'static str {
        match (self.flags.multiline, self.texts, self.flags.unix_lines) {
            (false, ..) => r"\A",
            (_, Texts::Plain, _) => r"(?:\A(?!\z))",
            (_, _, true) => r"(?:(?:\A|(?<=\n))(?!\z))",
            _ => r"(?:(?:\A|(?<=[\n\x{85}\x{2028}\x{2029}])|(?<=\r)(?!\n))(?!\z))",
        }
    }

    /// The end of the text, perhaps before its last line end; or of any line.
    fn end(&self, multiline: bool) -> &'static str {
        match (self.texts, multiline, self.flags.unix_lines) {
            (Texts::Plain, ..) => r"\z",
            (_, true, true) => r"(?:\z|(?=\n))",
            (_, false, true) => r"(?:\z|(?=\n\z))",
            (_, true, false) => r"(?:\z|(?=[\r\x{85}\x{2028}\x{2029}])|(?<!\r)(?=\n))",
            (_, false, false) => r"(?:\z|(?=\r\n\z)|(?=[\r\x{85}\x{2028}\x{2029}]\z)|(?<!\r)(?=\n\z))",
        }
    }

    /// What stands behind `(`, to the bracket that closes it.
    fn group(&mut self) -> Result<String, Problem> {
        let before = self.flags;
        if !self.next_if('?') {
            self.groups += 1;
            return self.rest_of_group("(", before);
        }
        match self.chars.next().ok_or(Problem::Unclosed)? {
            ':' => self.rest_of_group("(?:", before),
            '=' => self.rest_of_group("(?=", before),
            '!' => self.rest_of_group("(?!", before),
            '>' => self.rest_of_group("(?>", before),
            '<' if self.next_if('=') => self.rest_of_group("(?<=", before),
            '<' if self.next_if('!') => self.rest_of_group("(?<!", before),
            '<' => {
                let name = self.name()?;
                self.groups += 1;
                if self.names.insert(name, self.groups).is_some() {
                    return Err(Problem::Group);
                }
                self.rest_of_group("(", before)
            }
            first => self.modifiers(first, before),
        }
    }

    fn rest_of_group(&mut self, begin: &str, before: Flags) -> Result<String, Problem> {
        let inner = self.alternatives()?;
        self.flags = before;
        if self.next_if(')') { Ok(format!("{begin}{inner})")) } else { Err(Problem::Unclosed) }
    }

    /// `(?i-s)` switches for the rest of the group around it, `(?i-s:…)` for what is inside.
    fn modifiers(&mut self, first: char, before: Flags) -> Result<String, Problem> {
        let mut on = true;
        let mut letter = first;
        loop {
            match letter {
                ')' => return Ok(String::new()),
                ':' => return self.rest_of_group("(?:", before),
                '-' if on => on = false,
                letter => self.flags.switch(letter, on)?,
            }
            letter = self.chars.next().ok_or(Problem::Unclosed)?;
        }
    }

    /// A name, to the `>` behind it.
    fn name(&mut self) -> Result<String, Problem> {
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_alphanumeric) {
            name.push(c);
        }
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic()) && self.next_if('>');
        if good { Ok(name) } else { Err(Problem::Group) }
    }

    /// What stands behind `\` outside of brackets.
    fn escape(&mut self) -> Result<String, Problem> {
        let c = self.peek().ok_or(Problem::Unclosed)?;
        let fixed = match c {
            'A' | 'G' => r"\A",
            'z' => r"\z",
            'Z' => self.end(false),
            'R' => r"(?:\r\n|[\n\x0b\x0c\r\x{85}\x{2028}\x{2029}])",
            'X' => r"(?>\r\n|\P{M}\p{M}*|\p{M}+)",
            'b' => self.border(),
            'B' => self.no_border(),
            '1'..='9' => {
                self.chars.next();
                return Ok(self.reference(c));
            }
            'k' => {
                self.chars.next();
                if !self.next_if('<') {
                    return Err(Problem::Escape);
                }
                let name = self.name()?;
                let group = *self.names.get(&name).ok_or(Problem::Group)?;
                return Ok(self.repeat_of(group));
            }
            _ => {
                return Ok(brackets::escape(self)?.map_or_else(|| NEVER.to_owned(), |set| set::written(&set)));
            }
        };
        self.chars.next();
        if c == 'b' && self.peek() == Some('{') {
            return Err(Problem::Grapheme);
        }
        Ok(fixed.to_owned())
    }

    fn border(&self) -> &'static str {
        match (self.texts, self.flags.unicode_classes) {
            (Texts::Plain, _) | (_, true) => r"\b",
            _ => r"(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))",
        }
    }

    fn no_border(&self) -> &'static str {
        match (self.texts, self.flags.unicode_classes) {
            (Texts::Plain, _) | (_, true) => r"\B",
            _ => r"(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))",
        }
    }

    /// `\1`: as many digits as name a group begun already.
    fn reference(&mut self, first: char) -> String {
        let mut group = first.to_digit(10).unwrap_or(0);
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let longer = group.saturating_mul(10).saturating_add(digit);
            if longer > self.groups {
                break;
            }
            self.chars.next();
            group = longer;
        }
        self.repeat_of(group)
    }

    fn repeat_of(&self, group: u32) -> String {
        if group > self.all_groups {
            return NEVER.to_owned();
        }
        if self.flags.any_case { format!("(?i:\\{group})") } else { format!("(?:\\{group})") }
    }
}
