//! `GET /ext/v1/imports`: lists imports, by name.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::ImportState;
use crate::ext::parameters::{MAX_RECORDS, PAGE_TOKEN};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Most imports of one page; also the size of a page when none is asked for.
pub const PAGE_IMPORTS_MAX: usize = 1_000;

/// Lists imports by name, those that are done among them. What references they made is told of each on its own; here
/// `imported` and `kept` are empty. Needs the permission to import.
#[derive(Debug)]
pub struct ListImports;

impl ListImports {
    /// The path.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for ListImports {
    const INFO: EndpointInfo =
        EndpointInfo::reads(Surface::Ext, Method::Get, "/ext/v1/imports", "listImports", "Lists imports.");
    type Query = Query;
    type Request = ();
    type Response = Imports;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `max-records`: most imports of a page, 1 to [`PAGE_IMPORTS_MAX`]; more count as that many.
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

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Imports {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins; set exactly when `hasMore` is.
    pub token: Option<String>,
    /// The imports.
    pub imports: Vec<ImportState>,
}
