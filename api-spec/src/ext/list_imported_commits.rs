//! `GET /ext/v1/imports/{id}/commits`: lists old and new hashes of an import.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::parameters::{MAX_RECORDS, PAGE_TOKEN};
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Most rows of one page; also the size of a page when none is asked for.
pub const PAGE_ROWS_MAX: usize = 10_000;

/// Lists the old and new hash of every commit taken so far, by old hash. Empty for a Lochan stream, whose commits keep
/// their hashes (`hashesKept` of the import). The table stays after the import is done.
#[derive(Debug)]
pub struct ListImportedCommits;

impl ListImportedCommits {
    /// The path, encoded.
    pub fn path(id: &str) -> String {
        format!("/ext/v1/imports/{}/commits", encode_segment(id))
    }
}

impl Endpoint for ListImportedCommits {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Ext,
        Method::Get,
        "/ext/v1/imports/{id}/commits",
        "listImportedCommits",
        "Lists old and new hashes of an import.",
    );
    type Query = Query;
    type Request = ();
    type Response = ImportedCommits;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `max-records`: most rows of a page, 1 to [`PAGE_ROWS_MAX`]; more count as that many.
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

/// A page of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportedCommits {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins; set exactly when `hasMore` is.
    pub token: Option<String>,
    /// The rows.
    pub commits: Vec<ImportedCommit>,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportedCommit {
    /// The hash at the source.
    pub old_hash: String,
    /// The hash here.
    pub new_hash: String,
}
