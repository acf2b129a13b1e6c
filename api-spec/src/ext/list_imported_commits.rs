//! `GET /ext/v1/imports/{id}/commits`: lists old and new hashes of an import.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::page::Query;
use crate::syntax::percent::encode_segment;

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
