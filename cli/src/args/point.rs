//! Points in the history as people type them.

use lochan_api_spec::syntax::reference::{check_name, is_hash};
use lochan_api_spec::syntax::{RefSpec, ReferenceError};

/// Reads `main`, `main~2`, `main@HASH`, `HASH`, `@HASH^2` or `-`.
///
/// A word of 8 to 64 hexadecimal digits is a hash: no reference can have such a name.
pub fn parse(text: &str) -> Result<RefSpec, String> {
    if text.len() > 2 && text.contains("..") {
        return Err("two points are a range, as `log -r A..B` and `diff A B` take one".to_owned());
    }
    let end = text.find(['@', '~', '^', '*']).unwrap_or(text.len());
    let hash_first = text.get(..end).is_some_and(is_hash);
    let spec = if hash_first { RefSpec::parse(&format!("@{text}")) } else { RefSpec::parse(text) };
    let spec = spec.map_err(|error| match error {
        ReferenceError::Path => {
            "a point is a branch, a tag, a hash of at least 8 digits, or one of these with steps such as ~2, ^2 or \
             *2026-05-01T00:00:00Z"
                .to_owned()
        }
        other => other.to_string(),
    })?;
    if spec == RefSpec::default() { Err("a point cannot be empty".to_owned()) } else { Ok(spec) }
}

/// Reads the name of a branch or tag.
pub fn parse_name(text: &str) -> Result<String, String> {
    check_name(text).map(|()| text.to_owned()).map_err(|_| {
        "a name begins with a letter, goes on with letters, digits or one of ./_- and ends with neither dot nor slash"
            .to_owned()
    })
}

/// Writes a point for people: hashes at `digits`.
pub fn show(spec: &RefSpec, digits: usize) -> String {
    let mut out = spec.name.clone().unwrap_or_default();
    if let Some(hash) = &spec.hash {
        if spec.name.is_some() {
            out.push('@');
        }
        out.push_str(hash.get(..digits).unwrap_or(hash));
    }
    for part in &spec.parts {
        out.push_str(&part.to_string());
    }
    out
}
