//! `Accept`, `Accept-Encoding` and `Content-Type`.

use std::borrow::Cow;

use http::header::{ACCEPT, ACCEPT_ENCODING, AsHeaderName, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use crate::error::Refusal;

/// Media types cannot hold these.
const MEDIA_MARKS: &str = "()/:;<=>?@[\\],";

/// A media type or a range of them, read as the reference server reads it; parameters, weights too, play no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Media<'t> {
    kind: &'t str,
    subtype: &'t str,
}

impl<'t> Media<'t> {
    /// `type/subtype`, or a lone `*`; blanks within belong to the names.
    fn parse(text: &'t str) -> Option<Self> {
        let (kind, subtype) = match text.split_once('/') {
            Some((kind, rest)) => (kind, rest.split(';').next()?),
            None if text.split(';').next() == Some("*") => ("*", "*"),
            None => return None,
        };
        let is_name = |part: &str| !part.is_empty() && !part.contains(|c| MEDIA_MARKS.contains(c));
        (is_name(kind) && is_name(subtype)).then_some(Media { kind, subtype })
    }

    fn takes_json(self) -> bool {
        let takes = |part: &str, wanted: &str| part == "*" || part.eq_ignore_ascii_case(wanted);
        takes(self.kind, "application") && takes(self.subtype, "json")
    }

    fn is_half_open(self) -> bool {
        self.kind == "*" && self.subtype != "*"
    }
}

/// Whether `Accept` takes `application/json`. An absent or empty header takes everything.
pub(crate) fn accepts_json(headers: &HeaderMap) -> bool {
    let values: Vec<_> = headers.get_all(ACCEPT).iter().map(text_of).collect();
    values.iter().all(|value| value.is_empty()) || values.iter().any(|value| lists_json(value))
}

/// Whether an element of the list takes JSON. Nothing behind an element that is no media type is looked at, nor a last one
/// of a single character behind a comma: the reference server drops it.
fn lists_json(list: &str) -> bool {
    let list = match list.as_bytes() {
        [.., b',', last] if *last != b',' => list.get(..list.len() - 1).unwrap_or(list),
        _ => list,
    };
    list.split(',').map_while(|element| Media::parse(element.trim())).any(Media::takes_json)
}

/// Whether `Accept-Encoding` takes gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    weight(headers, ACCEPT_ENCODING, &["gzip", "x-gzip", "*"]).is_some_and(|weight| weight > 0.0)
}

/// Refuses a body that says it is no JSON. A missing or empty type counts as JSON, so do wildcards.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let text = text_of(value);
    let name = text.split(';').next().unwrap_or("").trim();
    let known = ["", "application/json", "application/*", "*/*"];
    if known.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    Err(no_json(name))
}

/// The same for the Nessie API, which looks at the header of requests without a body too.
pub(crate) fn check_nessie_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(CONTENT_TYPE).map(text_of) {
        Some(text) if !text.is_empty() && !Media::parse(&text).is_some_and(Media::takes_json) => {
            Err(no_json(&text))
        }
        _ => Ok(()),
    }
}

/// Refuses a body of the Nessie API that nobody can read: `*/json` is no type of one, though it would take JSON.
pub(crate) fn check_nessie_body(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(CONTENT_TYPE).map(text_of) {
        Some(text) if Media::parse(&text).is_some_and(Media::is_half_open) => Err(no_json(&text)),
        _ => Ok(()),
    }
}

/// The same for the repository's configuration, which the reference server reads by other means: there is no default for a type
/// that is missing, and what is no type is malformed.
pub(crate) fn check_repository_config(headers: &HeaderMap) -> Result<(), Refusal> {
    let text = headers.get(CONTENT_TYPE).map(text_of).unwrap_or_default();
    match Media::parse(&text) {
        Some(media) if media.takes_json() && !media.is_half_open() => Ok(()),
        None if !text.is_empty() => {
            let text = text.escape_default();
            Err(Refusal::Malformed(format!("Content-Type says '{text}', which is no media type.")))
        }
        None => Err(Refusal::UnsupportedMediaType("HTTP 415 Unsupported Media Type".to_owned())),
        Some(_) => Err(no_json(&text)),
    }
}

fn no_json(name: &str) -> Refusal {
    Refusal::UnsupportedMediaType(format!(
        "The body must be application/json, but Content-Type says '{}'.",
        name.escape_default()
    ))
}

/// The text of a header; what is none in it reads as a character that no name of a type known here holds.
fn text_of(value: &HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

/// Weight of the first of `names`, most telling first, that the header lists.
fn weight(headers: &HeaderMap, header: impl AsHeaderName + Clone, names: &[&str]) -> Option<f32> {
    names.iter().find_map(|wanted| {
        offers(headers, header.clone()).find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, q)| q)
    })
}

/// The elements of a header of weighted names; a weight that is no number counts as 1.
fn offers(headers: &HeaderMap, header: impl AsHeaderName) -> impl Iterator<Item = (&str, f32)> {
    headers
        .get_all(header)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|element| {
            let mut parts = element.split(';').map(str::trim);
            let name = parts.next().unwrap_or("");
            let q = parts
                .find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
                .and_then(|q| q.trim().parse().ok())
                .unwrap_or(1.0);
            (name, q)
        })
}
