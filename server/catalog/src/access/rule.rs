//! Rules in CEL about who may do what, with the variables of Nessie's (Nessie API, 14.3).
//!
//! The language is that of filters, and so are its bounds.

use crate::{
    access::{Access, Principal, Subject},
    error::Error,
    nessie::filter::{Filter, Filters, Kind, values},
};

/// Actions of Nessie's that this server does not tell: a rule that looks for one would never be right.
const ACTIONS_NOT_TOLD: &str = "SNAP_";
/// Variables that differ between the contents of one reference.
const ABOUT_CONTENT: [&str; 3] = ["path", "contentType", "actions"];

/// A compiled rule.
pub struct Rule {
    filter: Filter,
    looks_at_content: bool,
}

impl Rule {
    /// Compiles a rule. It must give a boolean, and not fail on whatever it can be asked.
    pub fn compile(text: &str) -> Result<Self, Error> {
        let empty = || Error::BadRequest("the rule is empty".into());
        let filter = Filters::default().compile(Kind::Rules, Some(text))?.ok_or_else(empty)?;
        if text.contains(ACTIONS_NOT_TOLD) {
            return Err(Error::BadRequest(format!("actions {ACTIONS_NOT_TOLD}… are not told to rules")));
        }
        let looks_at_content = ABOUT_CONTENT.iter().any(|name| filter.looks_at(name));
        let rule = Self { filter, looks_at_content };
        let sample = Principal { name: "name".into(), roles: vec!["role".into()], ..Principal::default() };
        for access in Access::ALL {
            rule.allows(&sample, &Subject::of(*access, None))?;
        }
        Ok(rule)
    }

    /// Whether the answer may differ between contents of one reference.
    #[must_use]
    pub const fn looks_at_content(&self) -> bool {
        self.looks_at_content
    }

    /// Whether the rule allows it. Each question has the whole budget of a filter to itself.
    pub fn allows(&self, who: &Principal, subject: &Subject) -> Result<bool, Error> {
        self.filter.anew().accepts(&values::Asked { who, subject })
    }
}
