//! Checking a parsed expression: that it knows what it names, and is no larger than it may be.

use std::collections::{BTreeMap, BTreeSet};

use cel::{
    IdedExpr,
    common::ast::{EntryExpr, Expr, LiteralValue, operators},
};

use super::schema::{FUNCTIONS, Field, Kind, Number, TYPES, Type};

/// Deepest expression after macros are expanded.
const EXPRESSION_DEPTH_MAX: usize = 256;
/// Most parts of an expression after macros are expanded.
const EXPRESSION_PARTS_MAX: usize = 8_192;
/// Most loops inside one another.
const LOOPS_DEPTH_MAX: u32 = 3;
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
pub(super) fn check(root: &IdedExpr, kind: Kind) -> Result<Uses, String> {
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
    fn walk(&mut self, expr: &IdedExpr, depth: usize) -> Result<Type, String> {
        self.uses.parts += 1;
        if depth > EXPRESSION_DEPTH_MAX || self.uses.parts > EXPRESSION_PARTS_MAX {
            return Err("it is too large".into());
        }
        let depth = depth + 1;
        match &expr.expr {
            Expr::Ident(name) => self.ident(name, None),
            Expr::Select(select) => {
                let operand = match &select.operand.expr {
                    Expr::Ident(name) => self.ident(name, Some(&select.field))?,
                    _ => self.walk(&select.operand, depth)?,
                };
                let found = match operand {
                    Type::Object(fields) => field(fields, &select.field)
                        .map(|(_, found)| found)
                        .ok_or_else(|| format!("undefined field '{}'", select.field)),
                    Type::Any => Ok(Type::Any),
                    Type::Number(_) => Err(format!("a number has no field '{}'", select.field)),
                    Type::List(_) => Err(format!("a list has no field '{}'", select.field)),
                };
                // Whether a field is set is a boolean, whatever the field is.
                if select.test { found.map(|_| Type::Any) } else { found }
            }
            Expr::Call(call) => {
                let name = call.func_name.as_str();
                let is_operator = name.starts_with(['_', '!', '-', '@']);
                let is_optional = matches!(name, operators::OPT_INDEX | operators::OPT_SELECT);
                if is_optional || !is_operator && !FUNCTIONS.contains(&name) {
                    return Err(format!("undeclared reference to '{name}'"));
                }
                if let Some(target) = &call.target {
                    self.walk(target, depth)?;
                }
                let types = call.args.iter().map(|argument| self.walk(argument, depth));
                result_of(name, &types.collect::<Result<Vec<_>, _>>()?)
            }
            Expr::Comprehension(parts) => {
                let range = self.walk(&parts.iter_range, depth)?;
                let element = if let Type::List(element) = range { *element } else { Type::Any };
                self.walk(&parts.accu_init, depth)?;
                let outer = self.scopes.len();
                self.scopes.push((parts.accu_var.clone(), Type::Any));
                let result = {
                    self.scopes.push((parts.iter_var.clone(), element));
                    if let Some(second) = &parts.iter_var2 {
                        self.scopes.push((second.clone(), Type::Any));
                    }
                    let loops = self.loops_within(|checker| {
                        checker.walk(&parts.loop_cond, depth)?;
                        checker.walk(&parts.loop_step, depth)
                    });
                    self.scopes.truncate(outer + 1);
                    loops.and_then(|_| self.walk(&parts.result, depth))
                };
                self.scopes.truncate(outer);
                result
            }
            Expr::List(list) => {
                for element in &list.elements {
                    self.walk(element, depth)?;
                }
                Ok(Type::List(&Type::Any))
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), depth),
            Expr::Struct(object) => Err(format!("undeclared reference to '{}'", object.type_name)),
            Expr::Literal(LiteralValue::Int(_)) => Ok(Type::Number(Number::Int)),
            Expr::Literal(LiteralValue::UInt(_)) => Ok(Type::Number(Number::UInt)),
            Expr::Literal(LiteralValue::Double(_)) => Ok(Type::Number(Number::Double)),
            Expr::Literal(_) | Expr::Unspecified => Ok(Type::Any),
        }
    }

    fn entries<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e EntryExpr>,
        depth: usize,
    ) -> Result<Type, String> {
        for entry in entries {
            match entry {
                EntryExpr::StructField(field) => self.walk(&field.value, depth)?,
                EntryExpr::MapEntry(entry) => {
                    self.walk(&entry.key, depth)?;
                    self.walk(&entry.value, depth)?
                }
            };
        }
        Ok(Type::Any)
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

    /// The type of a name, of which `selected` is looked at, or all.
    fn ident(&mut self, name: &str, selected: Option<&str>) -> Result<Type, String> {
        if let Some((_, found)) = self.scopes.iter().rev().find(|(local, _)| local == name) {
            return Ok(*found);
        }
        if let Some((variable, found)) = field(self.kind.variables(), name) {
            let uses = self.uses.fields.entry(variable).or_default();
            match (found, selected) {
                (Type::Object(fields), Some(selected)) => {
                    uses.single.extend(field(fields, selected).map(|(name, _)| name));
                }
                _ => uses.whole = true,
            }
            return Ok(found);
        }
        if self.kind == Kind::Rules && TYPES.contains(&name) {
            return Ok(Type::Any);
        }
        Err(format!("undeclared reference to '{name}'"))
    }
}

/// The type of what an operator or function gives, as far as it is known. What it cannot take is refused, as far as that is.
fn result_of(name: &str, arguments: &[Type]) -> Result<Type, String> {
    let none = || Err(format!("found no matching overload for '{name}'"));
    match (name, arguments) {
        (operators::INDEX, [Type::List(element), ..]) => Ok(**element),
        (operators::INDEX, [Type::Object(_), ..]) | (operators::IN, [_, Type::Object(_)]) => none(),
        (
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS
            | operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO,
            [Type::Number(one), Type::Number(other)],
        ) if one != other => none(),
        (operators::LOGICAL_AND | operators::LOGICAL_OR, operands)
            if operands.iter().any(|operand| !matches!(operand, Type::Any)) =>
        {
            none()
        }
        _ => Ok(Type::Any),
    }
}

fn field(fields: &'static [Field], name: &str) -> Option<Field> {
    fields.iter().find(|(known, _)| *known == name).copied()
}
