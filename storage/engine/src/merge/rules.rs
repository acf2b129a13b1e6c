//! Merge rules for paths of the system map, registered by pattern.

use std::sync::Arc;

use async_trait::async_trait;
use lochan_storage_model::{Conflict, ContentKey, SystemPath};

use crate::{error::Error, state::State};

/// Base, source and target of a merge, both domains of each.
pub struct Sides {
    /// The merge base.
    pub base: State,
    /// The source commit.
    pub source: State,
    /// The target's head.
    pub target: State,
}

/// What a rule wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleOutcome {
    /// The path holds this canonical JSON from now on (`None`: nothing), and these content keys are taken from the source
    /// with it, whatever their modes.
    Take {
        /// The value.
        value: Option<Vec<u8>>,
        /// Content keys to take along.
        with: Vec<ContentKey>,
    },
    /// The target keeps what it has.
    Keep,
    /// It conflicts, on any keys.
    Conflicts(Vec<Conflict>),
}

/// A rule that looks at both domains of all sides.
#[async_trait]
pub trait RuleFn: Send + Sync {
    /// Merges the value at `path`, which the source changed.
    async fn merge(&self, path: &SystemPath, sides: &Sides) -> Result<RuleOutcome, Error>;
}

/// How values at a path merge.
#[derive(Clone)]
pub enum Rule {
    /// The whole document: changed on one side it is taken, changed differently on both it conflicts.
    Whole,
    /// It never moves by a merge.
    NotMerged,
    /// A function decides.
    Function(Arc<dyn RuleFn>),
}

/// Rules by pattern; the first that fits counts, and [`Rule::Whole`] where none does.
#[derive(Clone, Default)]
pub struct Rules {
    rules: Vec<(Vec<Box<str>>, Rule)>,
}

impl Rules {
    /// Adds a rule. In a pattern, elements are separated by `/`, `*` stands for any one element.
    #[must_use]
    pub fn with(mut self, pattern: &str, rule: Rule) -> Self {
        self.rules.push((pattern.split('/').map(Into::into).collect(), rule));
        self
    }

    /// The rule for a path.
    #[must_use]
    pub fn find(&self, path: &SystemPath) -> Rule {
        let elements = path.elements();
        let fits = |pattern: &[Box<str>]| {
            pattern.len() == elements.len()
                && pattern.iter().zip(elements).all(|(want, found)| &**want == "*" || want == found)
        };
        self.rules.iter().find(|(pattern, _)| fits(pattern)).map_or(Rule::Whole, |(_, rule)| rule.clone())
    }
}
