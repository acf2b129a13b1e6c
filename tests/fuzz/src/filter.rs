//! The target for filters, apart from the others: it takes the whole application to build.

use lochan_server_catalog::nessie::probe_filter;

/// Filters in CEL, compiled and tried.
pub fn filter(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = probe_filter(text);
}
