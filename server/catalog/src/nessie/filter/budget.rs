//! What the evaluation of a filter may cost: steps, counted as they are taken, and time.
//!
//! The interpreter knows no bound of its own. So a parsed expression is rewritten ([`instrument`]): every turn of a loop
//! first asks whether it may go on, and every text or list that is made anew is paid for by its size. What is spent is
//! counted per thread while one evaluation runs, which has no point at which it could change threads. Time is that of the
//! processor, so that a busy machine refuses nothing that an idle one answers.

use std::cell::Cell;
use std::time::Duration;

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use cel::common::types::{CelBool, CelBytes, CelList, CelMap, CelString, DYN_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};
use rustix::time::{ClockId, clock_gettime};

/// Most steps of one evaluation: turns of loops, elements and each [`STEP_BYTES`] of text made.
pub(super) const STEPS_MAX: u64 = 200_000;
/// Longest time of one evaluation. Steps end almost everything sooner; this ends long scans of long texts.
const EVALUATION_TIME_MAX: Duration = Duration::from_secs(1);
/// Text that counts as one step, in bytes.
const STEP_BYTES: usize = 64;
/// Steps after which the clock is read.
const CLOCK_STEPS: u64 = 16;

/// Asks whether to go on. The names of both functions cannot be written in an expression.
const GO_ON: &str = "@go_on";
/// Pays for a value made anew.
const MADE: &str = "@made";

#[derive(Clone, Copy)]
struct Left {
    steps: u64,
    read_clock_at: u64,
    deadline: Duration,
    overdrawn: bool,
}

const NOTHING: Left = Left { steps: 0, read_clock_at: 0, deadline: Duration::ZERO, overdrawn: false };

thread_local! {
    static LEFT: Cell<Left> = const { Cell::new(NOTHING) };
}

/// The evaluation has cost more than it may.
#[derive(Debug)]
pub(super) struct Overdrawn;

/// Runs an evaluation that may take `time` at most, and no more than any may. Gives the time it took too.
pub(super) fn within<T>(time: Duration, evaluate: impl FnOnce() -> T) -> (Result<T, Overdrawn>, Duration) {
    let begun = processor_time();
    let deadline = begun + time.min(EVALUATION_TIME_MAX);
    LEFT.set(Left { steps: STEPS_MAX, read_clock_at: STEPS_MAX, deadline, overdrawn: false });
    let result = evaluate();
    // An error in one operand is forgotten where the other decides, but what was spent stays spent.
    let result = if LEFT.replace(NOTHING).overdrawn { Err(Overdrawn) } else { Ok(result) };
    (result, processor_time().saturating_sub(begun))
}

/// Time that the processor has given to this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Spends `steps` of the evaluation that runs on this thread.
pub(super) fn spend(steps: u64) -> Result<(), ExecutionError> {
    let mut left = LEFT.get();
    if !left.overdrawn {
        match left.steps.checked_sub(steps) {
            Some(fewer) => left.steps = fewer,
            None => left.overdrawn = true,
        }
        if left.steps <= left.read_clock_at {
            left.read_clock_at = left.steps.saturating_sub(CLOCK_STEPS);
            left.overdrawn |= processor_time() > left.deadline;
        }
        LEFT.set(left);
    }
    if left.overdrawn { Err(ExecutionError::function_error("filter", "it takes too long")) } else { Ok(()) }
}

/// Teaches `env` the functions that a rewritten expression calls.
pub(super) fn teach(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload(GO_ON, "go_on", vec![], |_| {
        spend(1)?;
        Ok(CowVal::owned(CelBool::from(true)))
    })?;
    env.add_overload(MADE, "made", vec![DYN_TYPE], |mut arguments| {
        let made = arguments.pop().ok_or_else(|| ExecutionError::invalid_argument_count(1, 0))?;
        pay(made.as_ref())?;
        Ok(made)
    })
}

/// Pays for a value and all that it holds.
fn pay(value: &(dyn Val + '_)) -> Result<(), ExecutionError> {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        spend(1 + (text.inner().len() / STEP_BYTES) as u64)
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        spend(1 + (bytes.inner().len() / STEP_BYTES) as u64)
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        spend(1)?;
        list.inner().iter().try_for_each(|element| pay(element.as_ref()))
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        spend(1 + map.inner().len() as u64)?;
        map.inner().values().try_for_each(|element| pay(element.as_ref()))
    } else {
        spend(value.as_sizer().map_or(1, |sized| u64::try_from(*sized.size().inner()).unwrap_or(1)))
    }
}

/// Rewrites an expression so that its evaluation pays for what it does.
pub(super) fn instrument(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| instrument(target));
            call.args.iter_mut().for_each(instrument);
            // The sum by which a loop gathers its result is paid for by its turns; others can double with every link of
            // a chain.
            let gathers = matches!(call.args.first(), Some(IdedExpr { expr: Expr::Ident(name), .. }) if name.starts_with('@'));
            if call.func_name == operators::ADD && !gathers {
                wrap(expression, made);
            }
        }
        Expr::Select(select) => instrument(&mut select.operand),
        Expr::Comprehension(parts) => {
            let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } =
                parts.as_mut();
            [iter_range, accu_init, loop_cond, loop_step, result].into_iter().for_each(instrument);
            ask_each_turn(parts);
        }
        Expr::List(list) => list.elements.iter_mut().for_each(paid),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    paid(&mut entry.key);
                    paid(&mut entry.value);
                }
            }
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => {}
    }
}

/// Makes every turn of a loop ask first. The shape around the work of a turn stays: the interpreter knows it by sight.
fn ask_each_turn(parts: &mut ComprehensionExpr) {
    let ComprehensionExpr { accu_var, loop_step, .. } = parts;
    let is_gathered = |expr: &IdedExpr| matches!(&expr.expr, Expr::Ident(name) if name == accu_var);
    if let Expr::Call(step) = &mut loop_step.expr {
        match (step.func_name.as_str(), step.args.as_mut_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [first, work]) if is_gathered(first) => {
                return wrap(work, asked);
            }
            (operators::ADD, [first, IdedExpr { expr: Expr::List(list), .. }]) if is_gathered(first) => {
                return list.elements.iter_mut().for_each(|work| wrap(work, asked));
            }
            (operators::CONDITIONAL, [guard, _, last]) if is_gathered(last) => return wrap(guard, asked),
            _ => {}
        }
    }
    wrap(loop_step, asked);
}

/// Makes an element of a list or map pay for what it copies.
fn paid(element: &mut IdedExpr) {
    instrument(element);
    if !matches!(element.expr, Expr::Literal(_)) {
        wrap(element, made);
    }
}

fn asked(work: IdedExpr) -> IdedExpr {
    let never = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Boolean(false.into())) };
    call(operators::CONDITIONAL, vec![call(GO_ON, Vec::new()), work, never])
}

fn made(value: IdedExpr) -> IdedExpr {
    call(MADE, vec![value])
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }) }
}

fn wrap(expression: &mut IdedExpr, in_what: impl FnOnce(IdedExpr) -> IdedExpr) {
    *expression = in_what(std::mem::take(expression));
}
