//! Checking a parsed expression: that it knows what it names, calls functions with what they take, and is no larger than it
//! may be. Where the reference server means something else than the interpreter, the expression is rewritten.

use std::collections::{BTreeMap, BTreeSet};

use cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr, operators},
};

use super::{
    moments,
    schema::{Field, Kind, Shape},
    text,
    types::{Type, of_call, undeclared},
};

/// Deepest expression after macros are expanded.
const EXPRESSION_DEPTH_MAX: usize = 256;
/// Most parts of an expression after macros are expanded.
const EXPRESSION_PARTS_MAX: usize = 8_192;
/// Most loops inside one another.
const LOOPS_DEPTH_MAX: u32 = 8;
/// Which variables and fields an expression looks at, and how deep it loops.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    fields: BTreeMap<&'static str, Fields>,
    loops: u32,
    parts: usize,
}

#[derive(Debug, Default)]
struct Fields {
    whole: bool,
    single: BTreeSet<&'static str>,
}

impl Uses {
    /// The variables looked at.
    pub(super) fn variables(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.fields.keys().copied()
    }

    /// Whether a field of a variable is looked at.
    pub(super) fn has(&self, variable: &str, field: &str) -> bool {
        self.fields.get(variable).is_some_and(|fields| fields.whole || fields.single.contains(field))
    }
}

/// Checks an expression over elements of `kind`. The error is the words of the problem.
pub(super) fn check(root: &mut IdedExpr, kind: Kind) -> Result<Uses, String> {
    let mut checker = Checker { kind, uses: Uses::default(), scopes: Vec::new() };
    checker.walk(root, 0)?;
    Ok(checker.uses)
}

struct Checker {
    kind: Kind,
    uses: Uses,
    /// Variables of macros, the innermost last.
    scopes: Vec<(String, Type)>,
}

impl Checker {
    /// Every form has a function of its own, for what stands on the stack at each level bounds how deep it can go.
    fn walk(&mut self, expr: &mut IdedExpr, depth: usize) -> Result<Type, String> {
        self.uses.parts += 1;
        if depth > EXPRESSION_DEPTH_MAX || self.uses.parts > EXPRESSION_PARTS_MAX {
            return too_large();
        }
        let depth = depth + 1;
        match &mut expr.expr {
            Expr::Ident(name) => self.ident(name, None),
            Expr::Select(_) => self.select(expr, depth),
            Expr::Call(_) => self.call(expr, depth),
            Expr::Comprehension(parts) => self.comprehension(parts, depth),
            Expr::List(list) => self.list(list, depth),
            Expr::Map(map) => self.map(map, depth),
            Expr::Struct(object) => Err(undeclared(&object.type_name)),
            Expr::Literal(literal) => Ok(of_literal(literal)),
            Expr::Unspecified => Ok(Type::Any),
        }
    }

    fn list(&mut self, list: &mut ListExpr, depth: usize) -> Result<Type, String> {
        let mut found = Vec::with_capacity(list.elements.len());
        for element in &mut list.elements {
            found.push(self.walk(element, depth)?);
        }
        Ok(Type::list(Type::common(found)))
    }

    fn map(&mut self, map: &mut MapExpr, depth: usize) -> Result<Type, String> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for entry in &mut map.entries {
            if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                keys.push(self.walk(&mut entry.key, depth)?);
                values.push(self.walk(&mut entry.value, depth)?);
            }
        }
        Ok(Type::map(Type::common(keys), Type::common(values)))
    }

    fn select(&mut self, expr: &mut IdedExpr, depth: usize) -> Result<Type, String> {
        let Expr::Select(select) = &mut expr.expr else { return Ok(Type::Any) };
        let operand = match &mut select.operand.expr {
            Expr::Ident(name) => self.ident(name, Some(&select.field))?,
            _ => self.walk(&mut select.operand, depth)?,
        };
        selected(expr, operand)
    }

    /// The type of a call.
    fn call(&mut self, expr: &mut IdedExpr, depth: usize) -> Result<Type, String> {
        let Expr::Call(of) = &mut expr.expr else { return Ok(Type::Any) };
        let mut arguments = Vec::with_capacity(of.args.len() + 1);
        for argument in of.target.iter_mut().map(|target| &mut **target).chain(&mut of.args) {
            arguments.push(self.walk(argument, depth)?);
        }
        called(expr, &arguments)
    }

    fn comprehension(&mut self, parts: &mut ComprehensionExpr, depth: usize) -> Result<Type, String> {
        if parts.iter_var2.is_some() {
            return Err("macros take one variable".into());
        }
        let element = match self.walk(&mut parts.iter_range, depth)? {
            Type::List(element) => *element,
            Type::Map(key, _) => *key,
            Type::Any => Type::Any,
            other => return Err(format!("type '{other}' cannot be the range of a macro")),
        };
        let start = self.walk(&mut parts.accu_init, depth)?;
        let outer = self.scopes.len();
        self.scopes.push((parts.accu_var.clone(), start.clone()));
        self.scopes.push((parts.iter_var.clone(), element));
        let step = self.loops_within(|checker| {
            checker.walk(&mut parts.loop_cond, depth)?;
            checker.walk(&mut parts.loop_step, depth)
        });
        self.scopes.truncate(outer);
        // A list begins empty, so only its first step says of what it is one.
        let gathered = start.clone().either(step?).unwrap_or(start);
        self.scopes.push((parts.accu_var.clone(), gathered));
        let result = self.walk(&mut parts.result, depth);
        self.scopes.truncate(outer);
        result
    }

    /// Runs `inside` one loop deeper and notes how deep loops get.
    fn loops_within(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<Type, String>,
    ) -> Result<Type, String> {
        let before = std::mem::take(&mut self.uses.loops);
        let result = inside(self);
        self.uses.loops = before.max(self.uses.loops + 1);
        if self.uses.loops > LOOPS_DEPTH_MAX {
            return Err(format!("more than {LOOPS_DEPTH_MAX} macros that loop are nested"));
        }
        result
    }

    /// The type of a name, of which `selected` is looked at, or all. A dot before it passes by the variables of macros.
    fn ident(&mut self, name: &mut String, selected: Option<&str>) -> Result<Type, String> {
        let local = |name: &str, scopes: &[(String, Type)]| {
            scopes.iter().rev().find(|(local, _)| local == name).map(|(_, found)| found.clone())
        };
        if let Some(found) = local(name, &self.scopes) {
            return Ok(found);
        }
        let global = name.strip_prefix('.').unwrap_or(name);
        let known = field(self.kind.variables(), global).filter(|_| local(global, &self.scopes).is_none());
        let Some((variable, found)) = known else { return Err(undeclared(name)) };
        let uses = self.uses.fields.entry(variable).or_default();
        match (found, selected) {
            (Shape::Object(fields), Some(selected)) => {
                uses.single.extend(field(fields, selected).map(|(name, _)| name));
            }
            _ => uses.whole = true,
        }
        variable.clone_into(name);
        Ok(found.of())
    }
}

/// The type of a field of `operand`, in an expression that selects one. Whether a field of an object is there is asked of its
/// value: every field is, and one without a value holds null.
fn selected(expr: &mut IdedExpr, operand: Type) -> Result<Type, String> {
    let Expr::Select(select) = &mut expr.expr else { return Ok(Type::Any) };
    let fields = match operand {
        Type::Object(fields) => fields,
        Type::Map(_, value) => return Ok(if select.test { Type::Bool } else { *value }),
        Type::Any => return Ok(if select.test { Type::Bool } else { Type::Any }),
        other => return Err(format!("type '{other}' does not support field selection")),
    };
    let Some((_, found)) = field(fields, &select.field) else {
        return Err(format!("undefined field '{}'", select.field));
    };
    if !select.test {
        return Ok(found.of());
    }
    select.test = false;
    let value = std::mem::take(expr);
    let null = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Null) };
    *expr = call(operators::NOT_EQUALS, vec![value, null]);
    Ok(Type::Bool)
}

/// The type of a call with such arguments, the receiver first. Where the interpreter means something else by it than the
/// reference server, a call of ours takes its place.
fn called(expr: &mut IdedExpr, arguments: &[Type]) -> Result<Type, String> {
    let Expr::Call(of) = &mut expr.expr else { return Ok(Type::Any) };
    if let Some(global) = of.func_name.strip_prefix('.') {
        of.func_name = global.to_owned();
    }
    let name = of.func_name.as_str();
    let found = of_call(name, of.target.is_some(), arguments)?;
    let sign = text::SIGNS.iter().position(|(sign, _)| *sign == name);
    let ours = match (name, arguments) {
        (operators::EQUALS | operators::NOT_EQUALS, [one, other]) if is_time(one) || is_time(other) => {
            text::SAME_TIME
        }
        (_, [Type::Text, Type::Text]) if sign.is_some() => text::COMPARED,
        ("string", [Type::Double]) => text::OF_DOUBLE,
        ("duration", [Type::Text]) => text::SPAN,
        ("timestamp", [Type::Text]) => text::TIME,
        ("string", [Type::Time]) => text::OF_TIME,
        ("string", [Type::Span]) => text::OF_SPAN,
        ("int", [Type::Span]) => text::NANOS,
        ("double", [Type::Text]) => text::DOUBLE,
        ("bool", [Type::Text]) => text::BOOL,
        (method, _) if moments::kind(method).is_some() => moments::PART,
        _ => return Ok(found),
    };
    let is_negated = name == operators::NOT_EQUALS;
    let kind =
        moments::kind(name).or(sign.map(|sign| sign as i64)).map(|kind| LiteralValue::Int(kind.into()));
    let kind = kind.map(|kind| IdedExpr { id: 0, expr: Expr::Literal(kind) });
    let mut given: Vec<IdedExpr> = kind.into_iter().chain(of.target.take().map(|target| *target)).collect();
    given.append(&mut of.args);
    *expr = call(ours, given);
    if is_negated {
        let equal = std::mem::take(expr);
        *expr = call(operators::LOGICAL_NOT, vec![equal]);
    }
    Ok(found)
}

fn of_literal(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::Text,
        LiteralValue::UInt(_) => Type::Uint,
    }
}

fn too_large() -> Result<Type, String> {
    Err("it is too large".into())
}

/// Whether equality is asked of a moment or a duration, which the reference server answers for nothing but its like.
const fn is_time(of: &Type) -> bool {
    matches!(of, Type::Time | Type::Span)
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }) }
}

fn field(fields: &'static [Field], name: &str) -> Option<Field> {
    fields.iter().find(|(known, _)| *known == name).copied()
}
