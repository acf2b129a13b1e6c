//! Regular expressions of filters, compiled once and not for every element.
//!
//! The parser turns every call of the method `matches` into one of ours; its name cannot be written in an expression. As a
//! function of two texts it does not exist in the reference server.

use std::sync::{Arc, LazyLock};

use cel::common::ast::{CallExpr, Expr, IdedExpr};
use cel::common::types::{CelBool, CelString, STRING_TYPE};
use cel::common::value::CowVal;
use cel::parser::{Macro, MacroExprHelper};
use cel::{DeclarationError, Env, ExecutionError};
use quick_cache::sync::Cache;
use regex::{Regex, RegexBuilder};

use super::budget;

/// Compiled patterns kept.
const PATTERNS_MAX: usize = 256;
/// Largest compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// What compiling one costs, in steps.
const COMPILE_STEPS: u64 = 10_000;

const WRITTEN: &str = "matches";
const OURS: &str = "@matches";

static PATTERNS: LazyLock<Cache<Box<str>, Arc<Regex>>> = LazyLock::new(|| Cache::new(PATTERNS_MAX));

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
    let found = compiled(pattern)?.is_match(text);
    Ok(CowVal::owned(CelBool::from(found)))
}

fn compiled(pattern: &str) -> Result<Arc<Regex>, ExecutionError> {
    if let Some(kept) = PATTERNS.get(pattern) {
        return Ok(kept);
    }
    budget::spend(COMPILE_STEPS)?;
    let compiled = RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| ExecutionError::function_error(WRITTEN, error))?;
    let compiled = Arc::new(compiled);
    PATTERNS.insert(pattern.into(), compiled.clone());
    Ok(compiled)
}
