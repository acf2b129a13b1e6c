//! `GET /ext/v1/imports`: lists imports, by name.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::ImportState;
use crate::ext::page::Query;

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
