//! Percent-encoding of path segments and query values.
//!
//! Routing works on the raw, still encoded path; these helpers decode one segment at a time afterwards, so
//! that `%2F` inside a name never becomes a separator.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986; `*` stays as it is, as the Java clients leave it.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// Encodes text as one path segment: `a/b@c` becomes `a%2Fb%40c`.
pub fn encode_segment(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, SEGMENT).into()
}

/// Encodes text as a query value; the same set as [`encode_segment`], so a blank is `%20` and never `+`.
pub fn encode_query(text: &str) -> Cow<'_, str> {
    encode_segment(text)
}

/// Decodes one path segment; `+` stays a plus. Bytes that are no UTF-8 become U+FFFD, which no name allows.
pub fn decode_segment(raw: &str) -> Cow<'_, str> {
    percent_decode_str(raw).decode_utf8_lossy()
}

/// Decodes form text: `+` is a blank, `%2B` a plus.
///
/// Right for query strings, and for path segments of the Iceberg API, whose Java client form-encodes names.
pub fn decode_form(raw: &str) -> Cow<'_, str> {
    if raw.contains('+') {
        let spaced = raw.replace('+', " ");
        Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned())
    } else {
        decode_segment(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_keep_plus_and_forms_do_not() {
        assert_eq!(decode_segment("a+b%2Fc"), "a+b/c");
        assert_eq!(decode_form("a+b%2Bc%2Fd"), "a b+c/d");
        assert_eq!(decode_form("%C3%A9"), "é");
    }

    #[test]
    fn encoding_follows_the_java_clients() {
        assert_eq!(encode_segment("my/branch@0f~1^2:*"), "my%2Fbranch%400f%7E1%5E2%3A*");
        assert_eq!(encode_segment("a b"), "a%20b");
        assert_eq!(encode_segment("a\u{1d}b"), "a%1Db");
    }

    #[test]
    fn broken_sequences_do_not_fail() {
        assert_eq!(decode_segment("%"), "%");
        assert_eq!(decode_segment("%zz"), "%zz");
        assert_eq!(decode_segment("%ff"), "\u{fffd}");
    }
}
