//! A cursor over the words of a statement.

use lochan_api_spec::syntax::RefSpec;

use super::script::Word;
use super::statement::At;
use crate::args::point;

/// Why words are no statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Something else was expected.
    #[error("expected {expected}, found {}", found.as_deref().unwrap_or("the end"))]
    Expected {
        /// What.
        expected: String,
        /// The word that stands there, as it is told.
        found: Option<String>,
    },
    /// Text that is no time.
    #[error("'{0}' is no time; write 2026-05-01T10:20:30Z or 2026-05-01")]
    NoTime(String),
    /// Text that is no point in the history.
    #[error("'{text}' is no point: {message}")]
    NoPoint {
        /// The text.
        text: String,
        /// Why not.
        message: String,
    },
}

/// Words still to be read.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    words: &'a [Word],
    here: &'a str,
}

impl<'a> Cursor<'a> {
    /// All words of a statement, said where `here` is the current branch or tag.
    pub fn new(words: &'a [Word], here: &'a str) -> Self {
        Self { words, here }
    }

    /// The current branch or tag.
    pub fn here(&self) -> &'a str {
        self.here
    }

    fn next(&mut self) -> Option<&'a Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// The error of something else being here.
    pub fn trouble(&self, expected: impl Into<String>) -> Trouble {
        let quotes = |word: &Word| if word.quoted { " in quotes" } else { "" };
        let found = self.words.first().map(|word| format!("'{}'{}", word.text, quotes(word)));
        Trouble::Expected { expected: expected.into(), found }
    }

    /// Whether nothing is left.
    pub fn is_end(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the next word is this keyword.
    pub fn is_keyword(&self, keyword: &str) -> bool {
        self.words.first().is_some_and(|word| is(word, keyword))
    }

    /// Whether the word behind the next one is this keyword.
    pub fn is_keyword_behind(&self, keyword: &str) -> bool {
        self.words.get(1).is_some_and(|word| is(word, keyword))
    }

    /// Takes the next word when it is this keyword.
    pub fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.next();
        }
        found
    }

    /// Takes a keyword that must stand here.
    pub fn expect(&mut self, keyword: &str) -> Result<(), Trouble> {
        if self.keyword(keyword) { Ok(()) } else { Err(self.trouble(keyword)) }
    }

    /// Takes one of some keywords.
    pub fn one_of(&mut self, keywords: &[&'static str]) -> Result<&'static str, Trouble> {
        match keywords.iter().find(|keyword| self.is_keyword(keyword)) {
            Some(keyword) => {
                self.next();
                Ok(keyword)
            }
            None => Err(self.trouble(keywords.join(", "))),
        }
    }

    /// Takes `BRANCH` or `TAG`, which says nothing that the name does not say. A name that is so called has no further
    /// word behind it.
    pub fn kind(&mut self) {
        let more = self.words.len() > 1 && !self.is_keyword_behind("INTO") && !self.is_keyword_behind("AT");
        if more && (self.is_keyword("BRANCH") || self.is_keyword("TAG")) {
            self.next();
        }
    }

    /// Takes a word, whatever it is.
    pub fn word(&mut self, expected: &str) -> Result<String, Trouble> {
        match self.next() {
            Some(word) => Ok(word.text.clone()),
            None => Err(self.trouble(expected)),
        }
    }

    /// Takes a reference with what may stand behind it: `ref [at]`.
    pub fn place(&mut self, expected: &str) -> Result<RefSpec, Trouble> {
        let text = self.word(expected)?;
        match self.at()? {
            Some(at) => at.of(&text),
            None => point::parse(&text).map_err(|message| Trouble::NoPoint { text, message }),
        }
    }

    /// Takes `[[ON] [type] ref] [at]`; with `on` the reference must stand behind `ON`.
    pub fn optional_place(&mut self, on: bool) -> Result<Option<RefSpec>, Trouble> {
        let named = if self.keyword("ON") {
            true
        } else {
            !on && !self.is_end() && !self.is_keyword("AT") && !self.is_keyword("LIMIT")
        };
        if named {
            self.kind();
            return self.place("a branch or tag").map(Some);
        }
        self.at()?.map(|at| at.of(self.here)).transpose()
    }

    /// Takes `AT [TIMESTAMP|COMMIT] x`.
    pub fn at(&mut self) -> Result<Option<At>, Trouble> {
        if !self.keyword("AT") {
            return Ok(None);
        }
        let kind = self.one_of(&["TIMESTAMP", "COMMIT"]).ok();
        let text = self.word("a commit or a time")?;
        At::parse(kind, &text).map(Some)
    }

    /// Takes `k = v [AND k = v]*`; the sign may stand beside either word.
    pub fn assignments(&mut self) -> Result<Vec<(String, String)>, Trouble> {
        let mut found = vec![self.assignment()?];
        while self.keyword("AND") {
            found.push(self.assignment()?);
        }
        Ok(found)
    }

    fn assignment(&mut self) -> Result<(String, String), Trouble> {
        let trouble = self.trouble("name = value");
        let first = self.next().ok_or_else(|| trouble.clone())?;
        let (name, value) = match first.at_sign() {
            Some((name, _)) if name.is_empty() => return Err(trouble),
            Some(parts) => parts,
            None => (first.clone(), self.sign()?),
        };
        let value = if value.is_empty() { self.word("a value")? } else { value.text };
        Ok((name.text, value))
    }

    /// Takes a word that begins with `=`; what stands behind the sign.
    fn sign(&mut self) -> Result<Word, Trouble> {
        match self.words.first().and_then(Word::at_sign) {
            Some((before, behind)) if before.is_empty() => {
                self.next();
                Ok(behind)
            }
            _ => Err(self.trouble("=")),
        }
    }

    /// Takes `x [AND x]*`.
    pub fn listed(&mut self, expected: &str) -> Result<Vec<String>, Trouble> {
        let mut found = vec![self.word(expected)?];
        while self.keyword("AND") {
            found.push(self.word(expected)?);
        }
        Ok(found)
    }

    /// Takes all words that are left.
    pub fn rest(&mut self) -> Option<String> {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        self.words = &[];
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Sees to it that nothing is left.
    pub fn end(&self) -> Result<(), Trouble> {
        if self.is_end() { Ok(()) } else { Err(self.trouble("the end")) }
    }
}

fn is(word: &Word, keyword: &str) -> bool {
    !word.quoted && word.text.eq_ignore_ascii_case(keyword)
}
