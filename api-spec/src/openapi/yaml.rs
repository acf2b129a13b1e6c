//! Writes a JSON value as YAML 1.2: block style, text in double quotes wherever it could be read as anything else.

use std::fmt::Write as _;

use serde_json::Value;

const INDENT: &str = "  ";

/// The value as a YAML document.
pub(super) fn write(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

/// Writes a value that begins a line, or follows `- `.
fn block(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (at, (name, member)) in members.iter().enumerate() {
                indent(out, if at == 0 { 0 } else { depth });
                scalar(out, name);
                out.push(':');
                nested(out, member, depth + 1);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                indent(out, if at == 0 { 0 } else { depth });
                out.push_str("- ");
                block(out, item, depth + 1);
            }
        }
        leaf => {
            inline(out, leaf);
            out.push('\n');
        }
    }
}

/// Writes a value behind `name:`.
fn nested(out: &mut String, value: &Value, depth: usize) {
    let is_block = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_block {
        out.push('\n');
        indent(out, depth);
    } else {
        out.push(' ');
    }
    block(out, value, depth);
}

fn inline(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => scalar(out, text),
        // Empty objects and arrays, numbers, booleans and null are written alike in both.
        other => drop(write!(out, "{other}")),
    }
}

/// Text: plain when it is a word that means nothing else, else as JSON, which YAML reads the same way.
fn scalar(out: &mut String, text: &str) {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.'))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .iter()
            .any(|taken| text.eq_ignore_ascii_case(taken));
    if is_word {
        out.push_str(text);
    } else {
        let _ = write!(out, "{}", Value::from(text));
    }
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str(INDENT);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_and_scalars() {
        let value = json!({
            "openapi": "3.1.0",
            "/a/{b}": { "get": { "tags": ["x", "no"], "none": {}, "list": [{ "a": 1, "b": [true, null] }, []] } },
            "text": "one: \"two\"\nthree",
        });
        assert_eq!(
            write(&value),
            "openapi: \"3.1.0\"\n\"/a/{b}\":\n  get:\n    tags:\n      - x\n      - \"no\"\n    none: {}\n    list:\n      \
             - a: 1\n        b:\n          - true\n          - null\n      - []\ntext: \"one: \\\"two\\\"\\nthree\"\n"
        );
    }
}
