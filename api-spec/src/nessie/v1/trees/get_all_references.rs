//! `GET /api/v1/trees`: lists branches, then tags, by name.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::fetch::{fetch, write_fetch};
use crate::nessie::model::{CommitMetaV1, Fetch, ReferencesResponse};
use crate::nessie::parameters::{
    FETCH, FILTER,
    v1::{MAX_RECORDS, PAGE_TOKEN},
};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists branches, then tags, by name.
#[derive(Debug)]
pub struct GetAllReferences;

impl GetAllReferences {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetAllReferences {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/trees",
        "getAllReferences",
        "Lists branches, then tags, by name.",
    );
    type Query = Query;
    type Request = ();
    type Response = ReferencesResponse<CommitMetaV1>;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `fetch`: how much is filled in.
    pub fetch: Fetch,
    /// `filter`: A CEL expression; absent is no filter.
    pub filter: Option<String>,
    /// `maxRecords`: most elements of a page; no limit of its own when absent or not positive.
    pub max_records: Option<i32>,
    /// `pageToken`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[FETCH, FILTER, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            fetch: fetch(pairs)?,
            filter: pairs.text("filter"),
            max_records: pairs.int("maxRecords")?,
            page_token: pairs.text("pageToken"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        write_fetch(out, self.fetch);
        out.opt("filter", self.filter.as_ref());
        out.int("maxRecords", self.max_records);
        out.opt("pageToken", self.page_token.as_ref());
    }
}
