//! `If-None-Match` (RFC 9110, section 13.1.2).

use http::HeaderMap;
use http::header::IF_NONE_MATCH;

/// Whether the client already has `etag`, which is given with its quotes: tags are compared weakly, `*` is any.
pub fn none_matches(headers: &HeaderMap, etag: &str) -> bool {
    let mine = etag.strip_prefix("W/").unwrap_or(etag);
    headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).any(|list| {
        list.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == mine)
    })
}
