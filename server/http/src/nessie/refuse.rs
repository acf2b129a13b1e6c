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

/// The arguments of one request being judged: everything that has the wrong shape is told in one message.
#[derive(Default)]
pub struct Checks {
    violations: Vec<String>,
    /// An argument of the right shape that is wrong all the same; told where nothing has the wrong shape.
    other: Option<Failure>,
}

impl Checks {
    /// Notes what is wrong with an argument.
    pub fn violation(&mut self, argument: &str, message: &str) {
        self.violations.push(format!("{argument}: {message}"));
    }

    /// Notes that an argument breaks a rule, if it does.
    pub fn require(&mut self, argument: &str, holds: bool, message: &str) {
        if !holds {
            self.violation(argument, message);
        }
    }

    /// An argument that must be there.
    pub fn present<T>(&mut self, argument: &str, value: Option<T>) -> Option<T> {
        self.require(argument, value.is_some(), NOT_NULL);
        value
    }

    /// Text of a reference.
    pub fn reference<T>(&mut self, argument: &str, parsed: Result<T, ReferenceError>) -> Option<T> {
        match parsed {
            Ok(value) => return Some(value),
            Err(error) if error.is_violation() => self.violation(argument, &error.to_string()),
            Err(error) => _ = self.other.get_or_insert_with(|| bad(error.to_string())),
        }
        None
    }

    /// What the arguments come to, which is there when nothing is wrong with any.
    pub fn done<T>(self, value: Option<T>) -> Result<T, Failure> {
        if !self.violations.is_empty() {
            return Err(bad(self.violations.join(", ")));
        }
        match (self.other, value) {
            (Some(other), _) => Err(other),
            (None, value) => value.ok_or_else(|| bad(NOT_NULL)),
        }
    }
}
