//! JSON bodies, with errors that name the field.

use serde::de::DeserializeOwned;

use crate::error::Refusal;

/// Reads a JSON document. An error names the field (`operations[0].key`) and the reason.
/// Nesting is bounded by the parser ([`crate::limits::JSON_DEPTH_MAX`]).
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) && !bytes.is_empty() {
        return from_json(b"");
    }
    serde_json::from_slice(bytes).map_err(|plain| Refusal::Malformed(describe::<T>(bytes, plain)))
}

/// Parses once more with a record of the path: only refused bodies pay for it.
fn describe<T: DeserializeOwned>(bytes: &[u8], plain: serde_json::Error) -> String {
    if bytes.is_empty() {
        return "The request body is empty, but a JSON document is required.".to_owned();
    }
    let mut source = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut source) {
        Err(error) if error.path().iter().next().is_some() => {
            format!("The request body is not valid: field '{}': {}", error.path(), error.inner())
        }
        _ => format!("The request body is not valid: {plain}"),
    }
}
