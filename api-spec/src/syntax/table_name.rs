//! Table and view names that carry a reference: `` `orders@dev#2026-01-01` ``.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

use crate::syntax::{HashSpec, Instant};

/// A table or view name of the Iceberg API, from a decoded path segment or a `name` in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The name alone.
    pub name: String,
    /// The branch or tag after `@`; `None` is the request's own.
    pub reference: Option<String>,
    /// The state after `#`; `None` is the head, or what the request is pinned to.
    pub at: Option<At>,
}

/// A state of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A commit, possibly relative.
    Hash(HashSpec),
    /// The newest commit made at or before this instant.
    Time(Instant),
}

/// A name that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableNameError {
    /// Nothing is left before `@` or `#`.
    #[error("table name must not be empty: {0}")]
    Empty(String),
    /// `@` or `#` is there, and nothing behind it.
    #[error("'{0}' names no reference behind '@', or no hash or timestamp behind '#'")]
    Part(String),
    /// A path cannot hold it: clients resolve such segments before they send them.
    #[error("a table cannot be named '{0}'")]
    Dots(String),
    /// What follows `#` is neither a hash nor a time.
    #[error("'{at}' in '{text}' is neither a commit hash nor a timestamp")]
    At {
        /// What follows `#`.
        at: String,
        /// The whole text.
        text: String,
    },
}

impl TableName {
    /// A name without reference.
    pub fn plain(name: impl Into<String>) -> Self {
        Self { name: name.into(), reference: None, at: None }
    }

    /// Reads `name[@reference][#hash-or-timestamp]`, perhaps within back-ticks or single quotes.
    pub fn parse(text: &str) -> Result<Self, TableNameError> {
        let inner = unquote(text);
        let (left, at) = match inner.split_once('#') {
            Some((left, at)) => (left, Some(at)),
            None => (inner, None),
        };
        let (name, reference) = match left.split_once('@') {
            Some((name, reference)) => (name, Some(reference)),
            None => (left, None),
        };
        if name.is_empty() {
            return Err(TableNameError::Empty(text.to_owned()));
        }
        if [reference, at].contains(&Some("")) {
            return Err(TableNameError::Part(text.to_owned()));
        }
        if [".", ".."].contains(&name) {
            return Err(TableNameError::Dots(name.to_owned()));
        }
        let at = at
            .map(|at| {
                parse_at(at).ok_or_else(|| TableNameError::At { at: at.to_owned(), text: text.to_owned() })
            })
            .transpose()?;
        Ok(Self { name: name.to_owned(), reference: reference.map(str::to_owned), at })
    }

    /// True when the name points at a fixed state, which cannot be written to.
    pub fn is_pinned(&self) -> bool {
        self.at.is_some()
    }
}

fn unquote(text: &str) -> &str {
    ['`', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// A hash before a time, except that up to 19 decimal digits are milliseconds: a full hash is longer, and a short
/// one names no commit.
fn parse_at(text: &str) -> Option<At> {
    let decimal = text.len() < 20 && text.bytes().all(|b| b.is_ascii_digit());
    if !decimal && let Ok(spec) = HashSpec::parse(text) {
        return Some(At::Hash(spec));
    }
    parse_time(text).map(At::Time)
}

/// Epoch milliseconds, ISO-8601 with offset (or a zone in brackets behind it), truncated ISO-8601 read as UTC,
/// RFC 1123, or the style of git dates.
fn parse_time(text: &str) -> Option<Instant> {
    let text = text.trim();
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(Instant::from_millis);
    }
    let text = text.strip_suffix(']').and_then(|text| text.split_once('[')).map_or(text, |(iso, _)| iso);
    if let Ok(at) = Instant::parse_loose(&text.replacen(' ', "T", 1)) {
        return Some(at);
    }
    let micros = DateTime::parse_from_rfc2822(text)
        .or_else(|_| DateTime::parse_from_str(text, "%a %b %e %H:%M:%S %Y %z"))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S %z"))
        .map(|at| at.timestamp_micros())
        .ok();
    let utc = || {
        let text = text.replacen(' ', "T", 1);
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(&text, format).ok())
            .or_else(|| {
                NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok().map(|day| day.and_time(Default::default()))
            })
            .map(|at| at.and_utc().timestamp_micros())
    };
    micros.or_else(utc).map(Instant::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn names_references_and_hashes() {
        let check = |text: &str, name: &str, reference: Option<&str>, at: Option<At>| {
            let wanted = TableName { name: name.into(), reference: reference.map(Into::into), at };
            assert_eq!(TableName::parse(text), Ok(wanted), "{text}");
        };
        check("t", "t", None, None);
        check("t@dev", "t", Some("dev"), None);
        check("`t@dev`", "t", Some("dev"), None);
        check("'t@a/b'", "t", Some("a/b"), None);
        check(&format!("t@dev#{H}"), "t", Some("dev"), Some(At::Hash(HashSpec::of(H))));
        check(&format!("t#{H}~1"), "t", None, Some(At::Hash(HashSpec::parse(&format!("{H}~1")).unwrap())));
        check("t.with.dots", "t.with.dots", None, None);
    }

    #[test]
    fn times() {
        let wanted = Instant::parse("2026-05-01T10:20:30Z").unwrap();
        for text in [
            "2026-05-01T10:20:30Z",
            "2026-05-01T12:20:30+02:00",
            "2026-05-01T12:20:30+02:00[Europe/Berlin]",
            "2026-05-01T10:20:30",
            "2026-05-01 10:20:30",
            "2026-05-01 12:20:30 +0200",
            "Fri, 1 May 2026 10:20:30 GMT",
            "Fri May 1 12:20:30 2026 +0200",
            "1777630830000",
        ] {
            let name = TableName::parse(&format!("t#{text}")).unwrap();
            assert_eq!(name.at, Some(At::Time(wanted)), "{text}");
        }
        let day = Instant::parse("2026-05-01T00:00:00Z").unwrap();
        assert_eq!(TableName::parse("t#2026-05-01").unwrap().at, Some(At::Time(day)));
        assert_eq!(TableName::parse("t#2026-05-01T00:00").unwrap().at, Some(At::Time(day)));
    }

    #[test]
    fn what_is_refused() {
        assert!(matches!(TableName::parse("t#nonsense"), Err(TableNameError::At { .. })));
        assert!(matches!(TableName::parse("@dev"), Err(TableNameError::Empty(_))));
        assert!(matches!(TableName::parse(""), Err(TableNameError::Empty(_))));
        for cut in ["t@", "t#", "t@dev#", "t@#2026-05-01", "`t@`"] {
            assert!(matches!(TableName::parse(cut), Err(TableNameError::Part(_))), "{cut}");
        }
        for dots in [".", "..", "..@dev"] {
            assert!(matches!(TableName::parse(dots), Err(TableNameError::Dots(_))), "{dots}");
        }
    }
}
