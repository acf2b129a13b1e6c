//! Paging of listings.

use crate::iceberg::parameters::{PAGE_SIZE, PAGE_TOKEN};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Page size announced in `rest-page-size`, in elements.
pub const PAGE_SIZE_DEFAULT: i32 = 200;

/// Largest page given, in elements.
pub const PAGE_SIZE_MAX: i32 = 500;

/// The page asked for. Without a token everything is returned; an empty token asks for the first page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// `pageToken`: absent, empty, or what the last answer handed out.
    pub token: Option<String>,
    /// `pageSize`: counts only with a token.
    pub size: Option<i32>,
}

impl QueryParams for Page {
    const PARAMETERS: &'static [Parameter] = &[PAGE_TOKEN, PAGE_SIZE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { token: pairs.raw("pageToken").map(str::to_owned), size: pairs.int("pageSize")? })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("pageToken", self.token.as_ref());
        out.int("pageSize", self.size);
    }
}
