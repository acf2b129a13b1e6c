//! The policy: what is allowed is what some rule allows (Nessie API, 14.3).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use lochan_server_catalog::access::rule::Rule;
use lochan_server_catalog::{Access, Authorizer, Check, Error, Principal, Subject};

/// Most rules of a policy.
pub const RULES_MAX: usize = 1_000;

/// A rule that is none.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It is no expression over the variables of rules that gives a boolean.
    #[error("rule '{name}' is not valid")]
    Invalid {
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: Error,
    },
    /// More than [`RULES_MAX`].
    #[error("there are more than {RULES_MAX} rules")]
    TooMany,
}

/// Compiled rules. Without any, nobody may do anything.
#[derive(Default)]
pub struct Policy(Vec<Named>);

struct Named {
    name: String,
    rule: Rule,
    /// Whether it was told that the rule fails.
    failed: AtomicBool,
}

/// What was answered within one question: a list asks the same of one reference again and again.
type Memory<'c> = HashMap<(Access, &'c str), bool>;

impl Policy {
    /// Compiles rules, given as name and expression.
    pub fn compile<'r>(rules: impl IntoIterator<Item = (&'r str, &'r str)>) -> Result<Self, RuleError> {
        let mut compiled = Vec::new();
        for (name, text) in rules {
            let name = name.to_owned();
            match Rule::compile(text) {
                Ok(rule) => compiled.push(Named { name, rule, failed: AtomicBool::new(false) }),
                Err(source) => return Err(RuleError::Invalid { name, source }),
            }
            if compiled.len() > RULES_MAX {
                return Err(RuleError::TooMany);
            }
        }
        Ok(Self(compiled))
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn allows<'c>(&self, who: &Principal, subject: &'c Subject, memory: &mut Memory<'c>) -> bool {
        match subject.access {
            Access::Connect => true,
            Access::ViewReference | Access::CreateReference => self.is_allowed(who, subject, memory),
            // Nothing can be done on a reference that may not be seen.
            access if access.concerns_reference() => {
                self.may_view(who, subject, memory) && self.is_allowed(who, subject, memory)
            }
            _ => self.any(who, subject, |_| true),
        }
    }

    fn may_view<'c>(&self, who: &Principal, subject: &'c Subject, memory: &mut Memory<'c>) -> bool {
        let place = (Access::ViewReference, subject.reference_word());
        *memory.entry(place).or_insert_with(|| {
            let view = Subject::of(Access::ViewReference, subject.reference.as_ref());
            self.any(who, &view, |_| true)
        })
    }

    fn is_allowed<'c>(&self, who: &Principal, subject: &'c Subject, memory: &mut Memory<'c>) -> bool {
        let place = (subject.access, subject.reference_word());
        if subject.content.is_none() {
            return *memory.entry(place).or_insert_with(|| self.any(who, subject, |_| true));
        }
        // Rules that do not look at the content answer once for all contents of a reference.
        let whole =
            memory.entry(place).or_insert_with(|| self.any(who, subject, |rule| !rule.looks_at_content()));
        *whole || self.any(who, subject, Rule::looks_at_content)
    }

    /// Whether any of some rules says yes. One that fails says no, and the log tells once that it does.
    fn any(&self, who: &Principal, subject: &Subject, of: impl Fn(&Rule) -> bool) -> bool {
        self.0.iter().filter(|named| of(&named.rule)).any(|named| match named.rule.allows(who, subject) {
            Ok(allowed) => allowed,
            Err(error) => {
                if !named.failed.swap(true, Ordering::Relaxed) {
                    tracing::warn!(rule = named.name, %error, "a rule fails, which counts as no");
                }
                false
            }
        })
    }
}

#[async_trait]
impl Authorizer for Policy {
    async fn check(&self, who: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        let mut memory = Memory::new();
        let mut answers = Vec::with_capacity(check.subjects.len());
        for subject in &check.subjects {
            tokio::task::consume_budget().await;
            answers.push(self.allows(who, subject, &mut memory));
        }
        Ok(answers)
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
