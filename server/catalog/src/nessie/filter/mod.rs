//! Filters: expressions in CEL over references, commits, entries and differences (Nessie API, 11).
//!
//! An expression is compiled and checked once ([`check`], [`types`]): unknown names and calls that cannot work are refused
//! before anything is listed, and which variables and fields it looks at is noted, so that only those are built for each
//! element ([`values`]). Length and nesting are bounded, and so is what an evaluation, and all evaluations of one request,
//! may cost ([`budget`]).

mod budget;
mod check;
mod moments;
mod patterns;
mod probe;
mod schema;
mod text;
mod types;
pub(crate) mod values;

#[cfg(test)]
mod tests;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;

use cel::{Context, Env, Value, common::ast::IdedExpr};
use quick_cache::sync::Cache;

use crate::error::Error;
use check::Uses;
pub use probe::probe_filter;
pub(crate) use schema::Kind;

/// Longest expression, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Deepest nesting of brackets in an expression.
const BRACKETS_DEPTH_MAX: usize = 48;
/// Most operators, dots and opening brackets of an expression; a chain of them nests as deep as it is long.
const JOINTS_MAX: usize = 2_000;
/// Compiled expressions kept.
const COMPILED_MAX: usize = 256;
/// Longest time of the processor for all evaluations of one request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);

/// Compiled filters.
pub(crate) struct Filters {
    env: Arc<Env>,
    compiled: Cache<(Kind, Arc<str>), Arc<Compiled>>,
}

impl Default for Filters {
    fn default() -> Self {
        let mut env = Env::stdlib().with_optional_support(false);
        // Only a name taken twice could fail, and a test evaluates what this declares.
        if let Err(error) = teach(&mut env) {
            tracing::error!(%error, "filters cannot be bounded");
        }
        Self { env: Arc::new(env), compiled: Cache::new(COMPILED_MAX) }
    }
}

impl Filters {
    /// The filter of an expression over elements of a kind; none without an expression.
    pub(crate) fn compile(&self, kind: Kind, text: Option<&str>) -> Result<Option<Filter>, Error> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::BadRequest(format!(
                "A filter must not be longer than {TEXT_BYTES_MAX} bytes."
            )));
        }
        let key = (kind, Arc::from(text));
        if let Some(found) = self.compiled.get(&key) {
            return Ok(Some(Filter::of(found)));
        }
        if text.trim().is_empty() {
            return Err(Error::BadRequest("No source code.".into()));
        }
        check_nesting(text)?;
        let mut expression = self
            .env
            .parser()
            .parse(text)
            .map_err(|errors| Error::BadRequest(format!("The filter cannot be parsed: {errors}")))?;
        let uses = check::check(&mut expression, kind)
            .map_err(|problem| Error::BadRequest(format!("The filter is not valid: {problem}")))?;
        budget::instrument(&mut expression);
        let compiled = Arc::new(Compiled { env: self.env.clone(), expression, uses });
        self.compiled.insert(key, compiled.clone());
        Ok(Some(Filter::of(compiled)))
    }
}

/// Teaches `env` what the interpreter lacks or does otherwise.
fn teach(env: &mut Env) -> Result<(), cel::DeclarationError> {
    patterns::teach(env)?;
    text::teach(env)?;
    moments::teach(env)?;
    budget::teach(env)
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
}

/// A parsed and checked expression.
struct Compiled {
    env: Arc<Env>,
    expression: IdedExpr,
    uses: Uses,
}

/// The filter of one request.
pub(crate) struct Filter {
    compiled: Arc<Compiled>,
    spent_us: AtomicU64,
}

impl Filter {
    fn of(compiled: Arc<Compiled>) -> Self {
        Self { compiled, spent_us: AtomicU64::new(0) }
    }

    /// The same filter, with nothing spent.
    pub(crate) fn anew(&self) -> Self {
        Self::of(self.compiled.clone())
    }

    /// Whether it looks at a variable.
    pub(crate) fn looks_at(&self, variable: &str) -> bool {
        self.compiled.uses.variables().any(|used| used == variable)
    }

    /// Whether the filter accepts the subject. What fails while it is evaluated, gives no boolean or costs too much is
    /// the client's mistake.
    pub(crate) fn accepts(&self, subject: &dyn Subject) -> Result<bool, Error> {
        let Compiled { env, expression, uses } = &*self.compiled;
        let spent = Duration::from_micros(self.spent_us.load(Ordering::Relaxed));
        let Some(left) = REQUEST_TIME_MAX.checked_sub(spent) else {
            return Err(Error::BadRequest(format!(
                "The filter takes more than {} s on all elements.",
                REQUEST_TIME_MAX.as_secs()
            )));
        };
        let mut context = Context::with_env(env.clone());
        for name in uses.variables() {
            context.add_variable_from_value(name, subject.variable(name, uses));
        }
        let (result, took) = budget::within(left, || context.resolve(expression));
        self.spent_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        match result {
            Ok(Ok(Value::Bool(accepted))) => Ok(accepted),
            Ok(Ok(other)) => Err(Error::BadRequest(format!(
                "A filter must give a boolean, but this one gives: {}",
                other.type_of()
            ))),
            Ok(Err(error)) => Err(Error::BadRequest(format!("The filter failed: {error}"))),
            Err(budget::Overdrawn) => Err(Error::BadRequest(format!(
                "The filter takes more than {} steps, or too long, on one element.",
                budget::STEPS_MAX
            ))),
        }
    }
}
