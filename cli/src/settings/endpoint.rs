//! Addresses of servers.

use crate::error::Error;

/// Reduces an endpoint to the server's root: `http://host:1/api/v2/`, `http://host:1/iceberg` and `http://host:1` are one.
pub fn root(endpoint: &str) -> Result<String, Error> {
    let bad = |reason: &str| Error::Settings(format!("the endpoint '{endpoint}' {reason}"));
    let lower = endpoint.to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Err(bad("must begin with http:// or https://"));
    }
    if endpoint.contains(['?', '#']) || endpoint.contains(char::is_whitespace) {
        return Err(bad("must be an address without query, fragment or blanks"));
    }
    let mut root = endpoint.trim_end_matches('/');
    for api in ["/api/v2", "/api/v1", "/api", "/iceberg"] {
        if let Some(rest) = root.strip_suffix(api) {
            root = rest.trim_end_matches('/');
            break;
        }
    }
    let host = root.split_once("://").map_or("", |(_, host)| host);
    if host.is_empty() || host.starts_with('/') {
        return Err(bad("names no host"));
    }
    if host.split('/').next().is_some_and(|authority| authority.contains('@')) {
        // Error messages and `lochan config` show the endpoint.
        return Err(Error::Settings(
            "the endpoint must not carry a user or password; give a token".to_owned(),
        ));
    }
    Ok(root.to_owned())
}
