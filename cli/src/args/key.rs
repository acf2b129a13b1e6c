//! Keys as people type them: dots separate elements, double quotes protect (`sales."a.b"`), `""` is a quote. What begins with
//! a dot is the canonical form of Nessie (`.sales.a*.b`): no element is empty.

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
    if !text.starts_with('"') {
        let (element, rest) = match text.split_once('.') {
            Some((element, rest)) => (element, Some(rest)),
            None => (text, None),
        };
        if element.contains('"') {
            return Err(format!("a quote must open an element, not stand inside one: {text}"));
        }
        return Ok((element.to_owned(), rest));
    }
    let (element, behind) = unquoted(text).ok_or_else(|| format!("a quote is not closed: {text}"))?;
    match behind.strip_prefix('.') {
        Some(rest) => Ok((element, Some(rest))),
        None if behind.is_empty() => Ok((element, None)),
        None => Err(format!("a dot must follow a closed quote: {text}")),
    }
}

/// What stands between double quotes at the begin of a text, and what behind them; `None` where they are not closed.
pub fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut quoted = text.strip_prefix('"')?;
    let mut out = String::new();
    loop {
        let (inside, behind) = quoted.split_once('"')?;
        out.push_str(inside);
        match behind.strip_prefix('"') {
            Some(more) => {
                out.push('"');
                quoted = more;
            }
            None => return Some((out, behind)),
        }
    }
}

/// Writes a text between double quotes as [`unquoted`] reads it.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Writes a key as [`parse`] reads it.
pub fn show(key: &ContentKey) -> String {
    let mut out = String::new();
    for (i, element) in key.elements.iter().enumerate() {
        if i > 0 {
            out.push('.');
        }
        if element.contains(['.', '"', '=']) || element.contains(char::is_whitespace) {
            out.push_str(&quoted(element));
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
