//! Query strings, read leniently and written with encoded values.

use std::borrow::Cow;

use crate::parameter::Parameter;
use crate::syntax::percent::{decode_form, encode_query};

/// The decoded parameters of one query string, in order of appearance.
///
/// An empty value counts as absent and the first of several wins (Nessie API, common query parameters); the
/// few parameters for which an empty value means something are read with [`Pairs::raw`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairs<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// What was asked for: tests compare it with what is declared.
    #[cfg(test)]
    asked: std::cell::RefCell<std::collections::BTreeSet<String>>,
}

/// A parameter whose text is not of its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Not a decimal 32-bit integer.
    #[error("query parameter '{name}' must be a 32-bit integer, but was: {value}")]
    Integer {
        /// The wire name.
        name: &'static str,
        /// The text sent.
        value: String,
    },
    /// Not one of the words of a closed list.
    #[error("query parameter '{name}' must be one of {allowed}, but was: {value}")]
    Word {
        /// The wire name.
        name: &'static str,
        /// The words allowed, joined by commas.
        allowed: &'static str,
        /// The text sent.
        value: String,
    },
}

impl<'a> Pairs<'a> {
    /// Splits a raw query string (without `?`) and decodes names and values.
    pub fn parse(raw: &'a str) -> Self {
        let pairs = raw
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                (decode_form(name), decode_form(value))
            })
            .collect();
        Self {
            pairs,
            #[cfg(test)]
            asked: Default::default(),
        }
    }

    /// The names that were asked for so far.
    #[cfg(all(test, feature = "openapi"))]
    pub(crate) fn asked(&self) -> std::collections::BTreeSet<&'static str> {
        // A test's own leak: a few dozen names.
        self.asked.borrow().iter().map(|name| &*String::leak(name.clone())).collect()
    }

    fn note(&self, _name: &str) {
        #[cfg(test)]
        self.asked.borrow_mut().insert(_name.to_owned());
    }

    /// The first value of `name`, an empty one included.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.note(name);
        self.pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_ref())
    }

    /// The first value of `name`; `None` when it is absent or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.raw(name).filter(|value| !value.is_empty())
    }

    /// As [`Pairs::get`], owned.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// Every non-empty value of a repeatable parameter, in order.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.note(name);
        self.pairs
            .iter()
            .filter(|(n, v)| n == name && !v.is_empty())
            .map(|(_, v)| v.as_ref().to_owned())
            .collect()
    }

    /// True when the first value is `true` in any case; anything else, or nothing, is false.
    pub fn flag(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// A decimal 32-bit integer.
    pub fn int(&self, name: &'static str) -> Result<Option<i32>, QueryError> {
        self.get(name)
            .map(|value| {
                value.parse::<i32>().ok().ok_or_else(|| QueryError::Integer { name, value: value.to_owned() })
            })
            .transpose()
    }
}

/// Writes a query string for the client side: `?a=1&b=x%20y`, or nothing when no parameter is set.
#[derive(Debug, Default)]
pub struct QueryWriter {
    text: String,
}

impl QueryWriter {
    /// Starts an empty query.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one parameter, encoded.
    pub fn push(&mut self, name: &str, value: &str) {
        self.text.push(if self.text.is_empty() { '?' } else { '&' });
        self.text.push_str(name);
        self.text.push('=');
        self.text.push_str(&encode_query(value));
    }

    /// Appends a parameter that is set.
    pub fn opt(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.push(name, value.as_ref());
        }
    }

    /// Appends a number that is set.
    pub fn int(&mut self, name: &str, value: Option<i32>) {
        if let Some(value) = value {
            self.push(name, &value.to_string());
        }
    }

    /// Appends `name=true` when set.
    pub fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.push(name, "true");
        }
    }

    /// Appends a repeatable parameter once per value.
    pub fn all(&mut self, name: &str, values: &[String]) {
        for value in values {
            self.push(name, value);
        }
    }

    /// The query string with its leading `?`, or empty.
    pub fn finish(self) -> String {
        self.text
    }
}

/// Query parameters of one endpoint: read by the server, written by clients.
pub trait QueryParams: Sized + Default {
    /// Every parameter that is read.
    const PARAMETERS: &'static [Parameter];

    /// Reads the parameters; unknown ones are ignored.
    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError>;

    /// Writes the parameters that are set.
    fn write(&self, out: &mut QueryWriter);

    /// Reads a raw query string (without `?`).
    fn from_raw(raw: &str) -> Result<Self, QueryError> {
        Self::parse(&Pairs::parse(raw))
    }

    /// The query string with its leading `?`, or empty.
    fn to_query(&self) -> String {
        let mut out = QueryWriter::new();
        self.write(&mut out);
        out.finish()
    }
}

/// An endpoint without query parameters.
impl QueryParams for () {
    const PARAMETERS: &'static [Parameter] = &[];

    fn parse(_: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(())
    }

    fn write(&self, _: &mut QueryWriter) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_is_absent_and_the_first_wins() {
        let pairs = Pairs::parse("a=&a=2&b=1&b=2&c&flag=TRUE&key=x%2Fy&key=&key=z+w");
        assert_eq!(pairs.get("a"), None);
        assert_eq!(pairs.raw("a"), Some(""));
        assert_eq!(pairs.get("b"), Some("1"));
        assert_eq!(pairs.raw("c"), Some(""));
        assert_eq!(pairs.raw("d"), None);
        assert!(pairs.flag("flag"));
        assert!(!pairs.flag("b"));
        assert_eq!(pairs.all("key"), ["x/y", "z w"]);
    }

    #[test]
    fn integers_are_32_bit_and_plain() {
        let int = |raw| Pairs::parse(raw).int("n");
        assert_eq!(int("n=%31"), Ok(Some(1)));
        assert_eq!(int("n=-1"), Ok(Some(-1)));
        assert_eq!(int("n="), Ok(None));
        assert_eq!(int("n=2147483647"), Ok(Some(i32::MAX)));
        for bad in ["n=2147483648", "n=abc", "n=1.5", "n=+1"] {
            assert!(int(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn writing_encodes() {
        let mut out = QueryWriter::new();
        out.opt("filter", Some("a == 'b'"));
        out.int("max-records", Some(3));
        out.flag("content", false);
        out.all("key", &["a.b".into(), "c\u{1d}d".into()]);
        assert_eq!(out.finish(), "?filter=a%20%3D%3D%20%27b%27&max-records=3&key=a.b&key=c%1Dd");
    }
}
