//! `GET /api/v1/trees/tree/{ref}/log`: lists commits, newest first.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::fetch::{fetch, write_fetch};
use crate::nessie::model::{Fetch, LogResponseV1};
use crate::nessie::parameters::{
    FETCH, FILTER,
    v1::{END_HASH, MAX_RECORDS, PAGE_TOKEN, START_HASH},
};
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists commits, newest first.
#[derive(Debug)]
pub struct GetCommitLog;

impl GetCommitLog {
    /// The path, encoded.
    pub fn path(name: &str) -> String {
        format!("/api/v1/trees/tree/{}/log", encode_segment(name))
    }
}

impl Endpoint for GetCommitLog {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/trees/tree/{ref}/log",
        "getCommitLog",
        "Lists commits, newest first.",
    );
    type Query = Query;
    type Request = ();
    type Response = LogResponseV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `startHash`: the **oldest** commit to return, as a plain hash.
    pub start_hash: Option<String>,
    /// `endHash`: the **youngest** commit to return, perhaps relative.
    pub end_hash: Option<String>,
    /// `filter`: A CEL expression; absent is no filter.
    pub filter: Option<String>,
    /// `fetch`: how much is filled in.
    pub fetch: Fetch,
    /// `maxRecords`: most elements of a page; no limit of its own when absent or not positive.
    pub max_records: Option<i32>,
    /// `pageToken`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[START_HASH, END_HASH, FILTER, FETCH, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            start_hash: pairs.text("startHash"),
            end_hash: pairs.text("endHash"),
            filter: pairs.text("filter"),
            fetch: fetch(pairs)?,
            max_records: pairs.int("maxRecords")?,
            page_token: pairs.text("pageToken"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("startHash", self.start_hash.as_ref());
        out.opt("endHash", self.end_hash.as_ref());
        out.opt("filter", self.filter.as_ref());
        write_fetch(out, self.fetch);
        out.int("maxRecords", self.max_records);
        out.opt("pageToken", self.page_token.as_ref());
    }
}
