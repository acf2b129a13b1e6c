//! Regular expressions of filters, read as the reference server reads them ([`java`]), compiled once and not for every element.
//!
//! The parser turns every call of the method `matches` into one of ours; its name cannot be written in an expression. As a
//! function of two texts it does not exist in the reference server.

mod blocks;
mod brackets;
mod java;
mod set;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock, OnceLock};

use cel::common::ast::{CallExpr, Expr, IdedExpr};
use cel::common::types::{CelBool, CelString, STRING_TYPE};
use cel::common::value::CowVal;
use cel::parser::{Macro, MacroExprHelper};
use cel::{DeclarationError, Env, ExecutionError};
use fancy_regex::{Regex, RegexBuilder};
use quick_cache::sync::Cache;

use super::budget;
use java::{Texts, translate};

/// Compiled patterns kept.
const PATTERNS_MAX: usize = 256;
/// Largest compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// What compiling one costs, in steps.
const COMPILE_STEPS: u64 = 10_000;
/// Ways tried for one text, by patterns that look around or refer back; others need no more than one.
const WAYS_MAX: usize = 100_000;

const WRITTEN: &str = "matches";
const OURS: &str = "@matches";

static PATTERNS: LazyLock<Cache<Box<str>, Arc<Pattern>>> = LazyLock::new(|| Cache::new(PATTERNS_MAX));

/// Teaches `env` to keep patterns.
pub(super) fn teach(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_macro(Macro::receiver(WRITTEN, 1, |helper, target, args| {
        let pattern = args.pop();
        Ok(target.take().zip(pattern).map(|(text, pattern)| call(helper, text, pattern)))
    }))?;
    env.add_overload(OURS, "kept_pattern", vec![STRING_TYPE, STRING_TYPE], matches)
}

fn call(helper: &mut MacroExprHelper<'_>, text: IdedExpr, pattern: IdedExpr) -> IdedExpr {
    let call = CallExpr { func_name: OURS.to_owned(), target: None, args: vec![text, pattern] };
    helper.next_expr(Expr::Call(call))
}

fn matches<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let texts: Vec<&str> = arguments
        .iter()
        .filter_map(|argument| argument.downcast_ref::<CelString<'_>>().map(CelString::inner))
        .collect();
    let [text, pattern] = texts.as_slice() else {
        return Err(ExecutionError::function_error(WRITTEN, "it takes two texts"));
    };
    Ok(CowVal::owned(CelBool::from(is_match(pattern, text)?)))
}

/// Whether a pattern is found anywhere in a text.
fn is_match(pattern: &str, text: &str) -> Result<bool, ExecutionError> {
    let kept = PATTERNS.get(pattern).unwrap_or_else(|| {
        let new = Arc::new(Pattern::default());
        PATTERNS.insert(pattern.into(), new.clone());
        new
    });
    let is_plain = text.bytes().all(|byte| byte.is_ascii() && byte != b'\n' && byte != b'\r');
    let (place, texts) = if is_plain { (&kept.plain, Texts::Plain) } else { (&kept.any, Texts::Any) };
    if place.get().is_none() {
        budget::spend(COMPILE_STEPS)?;
    }
    let compiled = place.get_or_init(|| compiled(pattern, texts)).as_ref().map_err(mistake)?;
    compiled.is_match(text).map_err(|error| ExecutionError::function_error(WRITTEN, error))
}

fn mistake(message: &String) -> ExecutionError {
    ExecutionError::function_error(WRITTEN, message)
}

/// A pattern for either kind of text, or what is wrong with it.
#[derive(Default)]
struct Pattern {
    plain: OnceLock<Result<Regex, String>>,
    any: OnceLock<Result<Regex, String>>,
}

fn compiled(pattern: &str, texts: Texts) -> Result<Regex, String> {
    let translated = translate(pattern, texts).map_err(|problem| problem.to_string())?;
    RegexBuilder::new(&translated)
        .delegate_size_limit(PATTERN_BYTES_MAX)
        .backtrack_limit(WAYS_MAX)
        .build()
        .map_err(|error| error.to_string())
}
