//! `Accept`, `Accept-Encoding` and `Content-Type`.

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, AsHeaderName, CONTENT_TYPE};

use crate::error::Refusal;

/// Whether `Accept` takes `application/json`. An absent header takes everything.
pub(crate) fn accepts_json(headers: &HeaderMap) -> bool {
    if !headers.contains_key(ACCEPT) {
        return true;
    }
    weight(headers, ACCEPT, &["application/json", "application/*", "*/*"]).is_none_or(|weight| weight > 0.0)
        && offers(headers, ACCEPT).any(|(name, _)| {
            ["application/json", "application/*", "*/*"].iter().any(|known| name.eq_ignore_ascii_case(known))
        })
}

/// Whether `Accept-Encoding` takes gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    weight(headers, ACCEPT_ENCODING, &["gzip", "x-gzip", "*"]).is_some_and(|weight| weight > 0.0)
}

/// Refuses a body that says it is no JSON. A missing or empty type counts as JSON, so do wildcards.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let text = value.to_str().unwrap_or("?");
    let name = text.split(';').next().unwrap_or("").trim();
    let known = ["", "application/json", "application/*", "*/*"];
    if known.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    Err(Refusal::UnsupportedMediaType(format!(
        "The body must be application/json, but Content-Type says '{}'.",
        name.escape_default()
    )))
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
