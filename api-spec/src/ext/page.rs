//! Query parameters of lists that are asked for page by page and nothing else.

use crate::ext::parameters::{MAX_RECORDS, PAGE_TOKEN};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `max-records`: most elements of a page, at least 1; more than the bound of the list count as that many.
    pub max_records: Option<i32>,
    /// `page-token`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { max_records: pairs.int("max-records")?, page_token: pairs.text("page-token") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.int("max-records", self.max_records);
        out.opt("page-token", self.page_token.as_ref());
    }
}
