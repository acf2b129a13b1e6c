//! `GET /ext/v1/reflog`: lists changes of references, newest first.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::LogEntry;
use crate::ext::parameters::{MAX_RECORDS, OPERATION, PAGE_TOKEN, PRINCIPAL, REF, SINCE, UNTIL};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Most entries of one page; also the size of a page when none is asked for.
pub const PAGE_ENTRIES_MAX: usize = 1_000;

/// Lists changes of references, newest first: of one, or of all. A deleted reference keeps its log.
///
/// Entries of references that the caller may not view are left out. 404 when a named reference has never existed.
#[derive(Debug)]
pub struct GetReflog;

impl GetReflog {
    /// The path.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetReflog {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Ext,
        Method::Get,
        "/ext/v1/reflog",
        "getReflog",
        "Lists changes of references, newest first.",
    );
    type Query = Query;
    type Request = ();
    type Response = Reflog;
}

/// Query parameters. Filters are joined by "and".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `ref`: changes of this reference only.
    pub reference: Option<String>,
    /// `operation`: changes of these kinds only ([`super::model::LogOperation`]); may be repeated.
    pub operations: Vec<String>,
    /// `principal`: changes made by this principal only.
    pub principal: Option<String>,
    /// `since`: changes at or after this instant.
    pub since: Option<String>,
    /// `until`: changes at or before this instant.
    pub until: Option<String>,
    /// `max-records`: most entries of a page, 1 to [`PAGE_ENTRIES_MAX`]; more count as that many.
    pub max_records: Option<i32>,
    /// `page-token`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] =
        &[REF, OPERATION, PRINCIPAL, SINCE, UNTIL, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            reference: pairs.text("ref"),
            operations: pairs.all("operation"),
            principal: pairs.text("principal"),
            since: pairs.text("since"),
            until: pairs.text("until"),
            max_records: pairs.int("max-records")?,
            page_token: pairs.text("page-token"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("ref", self.reference.as_ref());
        out.all("operation", &self.operations);
        out.opt("principal", self.principal.as_ref());
        out.opt("since", self.since.as_ref());
        out.opt("until", self.until.as_ref());
        out.int("max-records", self.max_records);
        out.opt("page-token", self.page_token.as_ref());
    }
}

/// A page of the ref log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reflog {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins; set exactly when `hasMore` is.
    pub token: Option<String>,
    /// The entries, newest first.
    pub entries: Vec<LogEntry>,
}
