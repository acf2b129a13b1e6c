//! Filters: expressions in CEL over references, commits, entries and differences (Nessie API, 11).
//!
//! An expression is compiled and checked once ([`check`]): unknown names are refused before anything is listed, and which
//! variables and fields it looks at is noted, so that only those are built for each element ([`values`]). Length, nesting
//! and the work of one evaluation are bounded.

mod check;
mod patterns;
mod schema;
pub(crate) mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cel::{Context, Env, Program, Value};
use quick_cache::sync::Cache;

use crate::error::Error;
use check::Uses;
pub(crate) use schema::Kind;

/// Longest expression, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Deepest nesting of brackets in an expression.
const BRACKETS_DEPTH_MAX: usize = 48;
/// Most operators, dots and opening brackets of an expression; a chain of them nests as deep as it is long.
const JOINTS_MAX: usize = 2_000;
/// Compiled expressions kept.
const COMPILED_MAX: usize = 256;

/// Compiled filters.
pub(crate) struct Filters {
    env: Arc<Env>,
    compiled: Cache<(Kind, Arc<str>), Arc<Filter>>,
}

impl Default for Filters {
    fn default() -> Self {
        let mut env = Env::stdlib();
        // Only a name taken twice could fail, and a test evaluates what this declares.
        if let Err(error) = patterns::teach(&mut env) {
            tracing::error!(%error, "patterns of filters cannot be kept");
        }
        Self { env: Arc::new(env), compiled: Cache::new(COMPILED_MAX) }
    }
}

impl Filters {
    /// The filter of an expression over elements of a kind; none without an expression.
    pub(crate) fn compile(&self, kind: Kind, text: Option<&str>) -> Result<Option<Arc<Filter>>, Error> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::BadRequest(format!(
                "A filter must not be longer than {TEXT_BYTES_MAX} bytes."
            )));
        }
        let key = (kind, Arc::from(text));
        if let Some(found) = self.compiled.get(&key) {
            return Ok(Some(found));
        }
        if text.trim().is_empty() {
            return Err(Error::BadRequest("No source code.".into()));
        }
        check_nesting(text)?;
        let program = self
            .env
            .compile(text)
            .map_err(|errors| Error::BadRequest(format!("The filter cannot be parsed: {errors}")))?;
        let uses = check::check(program.expression(), kind)
            .map_err(|problem| Error::BadRequest(format!("The filter is not valid: {problem}")))?;
        let filter = Arc::new(Filter { env: self.env.clone(), program, uses });
        self.compiled.insert(key, filter.clone());
        Ok(Some(filter))
    }
}

/// Refuses what would nest so deep that it takes the parser's stack: brackets, signs in a row, and chains of operators,
/// of which each is one level. Characters in texts count too, for only the parser knows for certain what is one.
fn check_nesting(text: &str) -> Result<(), Error> {
    let mut brackets = 0usize;
    let mut signs = 0usize;
    let mut joints = 0usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        signs = match byte {
            b'!' | b'-' => signs + 1,
            b' ' | b'\t' | b'\n' | b'\r' => signs,
            _ => 0,
        };
        joints += usize::from(b".[({?:!+-*/%<>=&|".contains(&byte));
        if brackets + signs > BRACKETS_DEPTH_MAX {
            return Err(Error::BadRequest(format!(
                "A filter must not nest deeper than {BRACKETS_DEPTH_MAX}."
            )));
        }
    }
    // The only operator of letters.
    joints += text.matches("in").count();
    if joints > JOINTS_MAX {
        return Err(Error::BadRequest(format!("A filter must not have more than {JOINTS_MAX} operators.")));
    }
    Ok(())
}

/// Something that a filter can look at.
pub(crate) trait Subject {
    /// The value of a variable, with the fields that are looked at.
    fn variable(&self, name: &str, uses: &Uses) -> Value;

    /// Greatest number of elements that a list of the subject has.
    fn longest_list(&self) -> usize;
}

/// A compiled filter.
pub(crate) struct Filter {
    env: Arc<Env>,
    program: Program,
    uses: Uses,
}

impl Filter {
    /// Whether the filter accepts the subject. What fails while it is evaluated, or gives no boolean, is the client's
    /// mistake.
    pub(crate) fn accepts(&self, subject: &dyn Subject) -> Result<bool, Error> {
        self.uses.check_cost(subject.longest_list()).map_err(Error::BadRequest)?;
        let mut context = Context::with_env(self.env.clone());
        for name in self.uses.variables() {
            context.add_variable_from_value(name, subject.variable(name, &self.uses));
        }
        match self.program.execute(&context) {
            Ok(Value::Bool(accepted)) => Ok(accepted),
            Ok(other) => Err(Error::BadRequest(format!(
                "A filter must give a boolean, but this one gives: {}",
                other.type_of()
            ))),
            Err(error) => Err(Error::BadRequest(format!("The filter failed: {error}"))),
        }
    }
}
