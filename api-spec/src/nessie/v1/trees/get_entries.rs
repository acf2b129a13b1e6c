//! `GET /api/v1/trees/tree/{ref}/entries`: lists the keys of a state, in key order.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::EntriesResponseV1;
use crate::nessie::parameters::{
    FILTER,
    v1::{HASH_ON_REF, MAX_RECORDS, NAMESPACE_DEPTH, PAGE_TOKEN},
};
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists the keys of a state, in key order.
#[derive(Debug)]
pub struct GetEntries;

impl GetEntries {
    /// The path, encoded.
    pub fn path(name: &str) -> String {
        format!("/api/v1/trees/tree/{}/entries", encode_segment(name))
    }
}

impl Endpoint for GetEntries {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/trees/tree/{ref}/entries",
        "getEntries",
        "Lists the keys of a state, in key order.",
    );
    type Query = Query;
    type Request = ();
    type Response = EntriesResponseV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `hashOnRef`: the state to read, as a hash, perhaps relative; absent is the head.
    pub hash_on_ref: Option<String>,
    /// `namespaceDepth`: cuts keys to this many elements; off when absent or not positive.
    pub namespace_depth: Option<i32>,
    /// `filter`: A CEL expression; absent is no filter.
    pub filter: Option<String>,
    /// `maxRecords`: most elements of a page; no limit of its own when absent or not positive.
    pub max_records: Option<i32>,
    /// `pageToken`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[HASH_ON_REF, NAMESPACE_DEPTH, FILTER, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            hash_on_ref: pairs.text("hashOnRef"),
            namespace_depth: pairs.int("namespaceDepth")?,
            filter: pairs.text("filter"),
            max_records: pairs.int("maxRecords")?,
            page_token: pairs.text("pageToken"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("hashOnRef", self.hash_on_ref.as_ref());
        out.int("namespaceDepth", self.namespace_depth);
        out.opt("filter", self.filter.as_ref());
        out.int("maxRecords", self.max_records);
        out.opt("pageToken", self.page_token.as_ref());
    }
}
