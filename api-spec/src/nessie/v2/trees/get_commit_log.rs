//! `GET /api/v2/trees/{ref}/history`: lists commits, newest first.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::fetch::{fetch, write_fetch};
use crate::nessie::model::{Fetch, LogResponseV2};
use crate::nessie::parameters::{
    FETCH, FILTER,
    v2::{LIMIT_HASH, MAX_RECORDS, PAGE_TOKEN},
};
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists commits, newest first.
#[derive(Debug)]
pub struct GetCommitLog;

impl GetCommitLog {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}/history", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for GetCommitLog {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{ref}/history",
        "getCommitLog",
        "Lists commits, newest first.",
    );
    type Query = Query;
    type Request = ();
    type Response = LogResponseV2;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `fetch`: how much is filled in.
    pub fetch: Fetch,
    /// `limit-hash`: the last commit to return, inclusive; perhaps relative.
    pub limit_hash: Option<String>,
    /// `filter`: A CEL expression; absent is no filter.
    pub filter: Option<String>,
    /// `max-records`: most elements of a page; no limit of its own when absent or not positive.
    pub max_records: Option<i32>,
    /// `page-token`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[FETCH, LIMIT_HASH, FILTER, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            fetch: fetch(pairs)?,
            limit_hash: pairs.text("limit-hash"),
            filter: pairs.text("filter"),
            max_records: pairs.int("max-records")?,
            page_token: pairs.text("page-token"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        write_fetch(out, self.fetch);
        out.opt("limit-hash", self.limit_hash.as_ref());
        out.opt("filter", self.filter.as_ref());
        out.int("max-records", self.max_records);
        out.opt("page-token", self.page_token.as_ref());
    }
}
