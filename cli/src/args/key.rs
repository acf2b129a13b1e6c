//! Keys as people type them: dots separate elements, double quotes protect (`sales."a.b"`), `""` is a quote. What begins with
//! a dot is the canonical form of Nessie (`.sales.a*.b`): no element is empty.

use std::fmt::Write as _;

use lochan_api_spec::nessie::model::ContentKey;

/// Reads a key.
pub fn parse(text: &str) -> Result<ContentKey, String> {
    if text.starts_with('.') {
        let key = ContentKey::parse(text).map_err(|error| error.to_string())?;
        return if key.elements.is_empty() {
            Err(format!("the key '{text}' has no element"))
        } else {
            Ok(key)
        };
    }
    let mut elements = Vec::new();
    let mut rest = text;
    loop {
        let (element, behind) = element(rest)?;
        if element.is_empty() {
            return Err(format!("the key '{text}' has an empty element"));
        }
        elements.push(element);
        match behind {
            None => break,
            Some(behind) => rest = behind,
        }
    }
    ContentKey::new(elements).map_err(|error| error.to_string())
}

/// The first element and what stands behind its dot.
fn element(text: &str) -> Result<(String, Option<&str>), String> {
    let Some(mut quoted) = text.strip_prefix('"') else {
        let (element, rest) = match text.split_once('.') {
            Some((element, rest)) => (element, Some(rest)),
            None => (text, None),
        };
        if element.contains('"') {
            return Err(format!("a quote must open an element, not stand inside one: {text}"));
        }
        return Ok((element.to_owned(), rest));
    };
    let mut element = String::new();
    loop {
        let Some((inside, behind)) = quoted.split_once('"') else {
            return Err(format!("a quote is not closed: {text}"));
        };
        element.push_str(inside);
        if let Some(more) = behind.strip_prefix('"') {
            element.push('"');
            quoted = more;
        } else if behind.is_empty() {
            return Ok((element, None));
        } else if let Some(rest) = behind.strip_prefix('.') {
            return Ok((element, Some(rest)));
        } else {
            return Err(format!("a dot must follow a closed quote: {text}"));
        }
    }
}

/// Writes a key as [`parse`] reads it.
pub fn show(key: &ContentKey) -> String {
    let mut out = String::new();
    for (i, element) in key.elements.iter().enumerate() {
        if i > 0 {
            out.push('.');
        }
        if element.contains(['.', '"', '=']) || element.contains(char::is_whitespace) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\"{}\"", element.replace('"', "\"\""));
        } else {
            out.push_str(element);
        }
    }
    out
}

/// Writes a word so that a shell reads it as one.
pub fn in_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/@~^:=+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
