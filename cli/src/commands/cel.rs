//! Pieces of CEL filters.

use lochan_api_spec::nessie::model::ContentKey;

/// A string literal.
pub fn text(value: &str) -> String {
    let mut out = String::from("'");
    for c in value.chars() {
        match c {
            '\'' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// True of commits that touch a key; needs operations to be fetched.
pub fn touches(key: &ContentKey) -> String {
    let mut test = format!("op.key == {}", text(&key.to_string()));
    if key.elements.iter().any(|element| element.contains('.')) {
        // The plain join does not tell `a.b` from `"a.b"`.
        let elements: Vec<String> = key.elements.iter().map(|element| text(element)).collect();
        test.push_str(&format!(" && op.keyElements == [{}]", elements.join(", ")));
    }
    format!("operations.exists(op, {test})")
}

/// True when any of the values equals the field; nothing for no values.
pub fn any_of(field: &str, values: &[String]) -> Option<String> {
    let tests: Vec<String> = values.iter().map(|value| format!("{field} == {}", text(value))).collect();
    if tests.is_empty() { None } else { Some(format!("({})", tests.join(" || "))) }
}

/// All of the parts together.
pub fn all_of(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { None } else { Some(parts.join(" && ")) }
}
