//! The `{prefix}` of the Iceberg REST API: `{reference}|{warehouse}`.

use std::borrow::Cow;

use crate::syntax::percent::{decode_segment, encode_segment};
use crate::syntax::reference::DEFAULT_BRANCH_ALIAS;
use crate::syntax::{RefSpec, ReferenceError};

/// The pattern, as announced in `nessie.prefix-pattern`.
pub const PATTERN: &str = "{ref}|{warehouse}";

/// Which state of which warehouse a request is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The reference; `None` is the default branch at its head.
    pub reference: Option<RefSpec>,
    /// The warehouse's name; `None` is the default warehouse.
    pub warehouse: Option<String>,
}

impl Prefix {
    /// Reads a raw path segment. `main%7Csales`, `main|sales` and `main%257Csales` are the same: clients encode what
    /// they were handed once more or not at all. A unit separator stands for a slash in a reference name.
    pub fn parse(raw: &str) -> Result<Self, ReferenceError> {
        let mut text = decode_segment(raw);
        // No reference contains a percent sign, so one on the left means another round of encoding.
        if text.split('|').next().is_some_and(|left| left.contains('%')) {
            text = Cow::Owned(decode_segment(&text).into_owned());
        }
        let (reference, warehouse) = text.split_once('|').unwrap_or((&text, ""));
        let reference = match reference {
            "" | DEFAULT_BRANCH_ALIAS => None,
            spec => Some(RefSpec::parse(&spec.replace('\u{1f}', "/"))?),
        };
        Ok(Self { reference, warehouse: (!warehouse.is_empty()).then(|| warehouse.to_owned()) })
    }

    /// Writes the prefix, percent-encoded as clients insert it into paths verbatim.
    pub fn encode(&self) -> String {
        let reference =
            self.reference.as_ref().map_or_else(|| DEFAULT_BRANCH_ALIAS.to_owned(), ToString::to_string);
        match &self.warehouse {
            Some(warehouse) => encode_segment(&format!("{reference}|{warehouse}")).into_owned(),
            None => encode_segment(&reference).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_clients_write_it() {
        let sales = Prefix { reference: Some(RefSpec::named("main")), warehouse: Some("sales".into()) };
        for raw in ["main%7Csales", "main|sales", "main%257Csales", "main%7csales"] {
            assert_eq!(Prefix::parse(raw).as_ref(), Ok(&sales), "{raw}");
        }
        assert_eq!(sales.encode(), "main%7Csales");
    }

    #[test]
    fn parts_may_be_absent() {
        let default =
            |warehouse: Option<&str>| Prefix { reference: None, warehouse: warehouse.map(Into::into) };
        assert_eq!(Prefix::parse("-"), Ok(default(None)));
        assert_eq!(Prefix::parse(""), Ok(default(None)));
        assert_eq!(Prefix::parse("%7Csales"), Ok(default(Some("sales"))));
        assert_eq!(Prefix::parse("-%7C"), Ok(default(None)));
        assert_eq!(Prefix::parse("dev").unwrap().reference, Some(RefSpec::named("dev")));
        assert_eq!(Prefix::parse("a%7Cb%7Cc").unwrap().warehouse.as_deref(), Some("b|c"));
    }

    #[test]
    fn references_in_full() {
        let spec = |raw: &str| Prefix::parse(raw).unwrap().reference.unwrap().to_string();
        assert_eq!(spec("a%1Fb%7Cw"), "a/b@");
        assert_eq!(spec("a%2Fb%7Cw"), "a/b@");
        assert_eq!(spec("a%252Fb"), "a/b@");
        assert_eq!(spec("main%40cafebabe%7E1"), "main@cafebabe~1");
        assert_eq!(Prefix::parse("a..b%7Cw"), Err(ReferenceError::Path));
    }
}
