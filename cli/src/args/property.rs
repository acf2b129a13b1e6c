//! Properties as people type them: `owner=ops`. A name with `=` in it stands in double quotes: `"a=b"=c`.

use super::key;

/// Reads `NAME=VALUE`.
pub fn parse(text: &str) -> Result<(String, String), String> {
    if text.starts_with('"') {
        let (name, behind) = key::unquoted(text).ok_or("a quote is not closed")?;
        let value = behind.strip_prefix('=').ok_or("= and a value must follow a name in quotes")?;
        return Ok((name, value.to_owned()));
    }
    let (name, value) = text.split_once('=').ok_or("a property is written NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Writes a property as [`parse`] reads it.
pub fn show(name: &str, value: &str) -> String {
    let name = if name.contains(['=', '"']) { key::quoted(name) } else { name.to_owned() };
    format!("{name}={value}")
}
