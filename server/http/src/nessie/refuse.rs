//! The words for requests that are wrong in themselves (Nessie contract, 5, 6 and 13.4).

use lochan_api_spec::syntax::ReferenceError;

use crate::error::Refusal;
use crate::failure::Failure;

/// What a list that must not be empty is told.
pub const SIZE: &str = "size must be between 1 and 2147483647";
/// What a missing argument is told.
pub const NOT_NULL: &str = "must not be null";
/// What an empty name is told.
pub const NOT_BLANK: &str = "must not be blank";

/// A 400 in these words.
pub fn bad(message: impl Into<String>) -> Failure {
    Refusal::Malformed(message.into()).into()
}

/// A 400 that names an argument of a method.
pub fn violation(argument: &str, message: &str) -> Failure {
    bad(format!("{argument}: {message}"))
}

/// A 400 for the text of a reference; text of the wrong shape is told with the argument.
pub fn reference(argument: &str, error: &ReferenceError) -> Failure {
    if error.is_violation() { violation(argument, &error.to_string()) } else { bad(error.to_string()) }
}

/// A required argument.
pub fn required<T>(argument: &str, value: Option<T>) -> Result<T, Failure> {
    value.ok_or_else(|| violation(argument, NOT_NULL))
}

/// Arguments that must be there, all at once: those that are not are named in one message.
pub fn all_required(arguments: &[(&str, bool)]) -> Result<(), Failure> {
    let missing = arguments.iter().filter(|(_, present)| !present);
    all(&missing.map(|(argument, _)| (*argument, NOT_NULL)).collect::<Vec<_>>())
}

/// Several violations at once, in one message; nothing when there are none.
pub fn all(violations: &[(&str, &str)]) -> Result<(), Failure> {
    if violations.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> =
        violations.iter().map(|(argument, message)| format!("{argument}: {message}")).collect();
    Err(bad(texts.join(", ")))
}
