//! Namespaces of the Iceberg REST API in paths and in the `parent` parameter.
//!
//! Levels are joined by the unit separator (`%1F` on the wire), each form-encoded. As a superset a plain dot
//! separates too, since HTTP libraries rewrite `%2E`; but a level may itself contain dots, so both readings are
//! given and the catalog takes the dotted one only when the literal one does not exist.

use crate::syntax::percent::{decode_form, decode_segment};

/// What separates levels once decoded.
pub const SEPARATOR: char = '\u{1f}';

/// What separates levels on the wire, as announced.
pub const SEPARATOR_ENCODED: &str = "%1F";

/// A namespace as a client named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespacePath {
    /// The levels, outermost first; none for an empty parent.
    pub levels: Vec<String>,
    /// The reading with dots as separators, when there was no other separator and every part is non-empty.
    pub dotted: Option<Vec<String>>,
}

impl NamespacePath {
    /// Reads a raw, still encoded path segment; `+` is a blank, as the Java client sends it.
    pub fn from_segment(raw: &str) -> Self {
        Self::from_text(&decode_form(raw))
    }

    /// Reads the `parent` parameter, already decoded once as part of the query. Some clients encode it twice, so
    /// it is decoded once more when that uncovers a separator.
    pub fn from_parent(value: &str) -> Self {
        if !value.contains(SEPARATOR) && value.contains('%') {
            let again = decode_segment(value);
            if again.contains(SEPARATOR) {
                return Self::from_text(&again);
            }
        }
        Self::from_text(value)
    }

    fn from_text(text: &str) -> Self {
        if text.is_empty() {
            return Self { levels: Vec::new(), dotted: None };
        }
        let split = |by: char| text.split(by).map(str::to_owned).collect::<Vec<_>>();
        let levels = split(SEPARATOR);
        let dotted = (levels.len() == 1 && text.contains('.'))
            .then(|| split('.'))
            .filter(|parts| parts.iter().all(|part| !part.is_empty()));
        Self { levels, dotted }
    }
}

/// Writes levels as one path segment.
pub fn encode_segment<S: AsRef<str>>(levels: &[S]) -> String {
    let mut out = String::new();
    for (i, level) in levels.iter().enumerate() {
        if i > 0 {
            out.push_str(SEPARATOR_ENCODED);
        }
        out.push_str(&crate::syntax::percent::encode_segment(level.as_ref()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments() {
        let check =
            |raw: &str, levels: &[&str]| assert_eq!(NamespacePath::from_segment(raw).levels, levels, "{raw}");
        check("eu%1Fweb", &["eu", "web"]);
        check("eu%1fweb", &["eu", "web"]);
        check("a%2Fb%1Fc+d%2Be%20f", &["a/b", "c d+e f"]);
        check("a.b", &["a.b"]);
        assert_eq!(NamespacePath::from_segment("a.b").dotted, Some(vec!["a".into(), "b".into()]));
        assert_eq!(NamespacePath::from_segment("a.b%1Fc").dotted, None);
        assert_eq!(NamespacePath::from_segment("a..b").dotted, None);
        assert_eq!(encode_segment(&["a/b", "c d"]), "a%2Fb%1Fc%20d");
    }

    #[test]
    fn parents() {
        let levels = |value: &str| NamespacePath::from_parent(value).levels;
        assert_eq!(levels("a\u{1f}b"), ["a", "b"]);
        assert_eq!(levels("a%1Fb"), ["a", "b"]);
        assert_eq!(levels("50%25"), ["50%25"]);
        assert!(levels("").is_empty());
    }
}
