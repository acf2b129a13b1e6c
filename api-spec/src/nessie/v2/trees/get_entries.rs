//! `GET /api/v2/trees/{ref}/entries`: lists the keys of a state, in key order.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::EntriesResponseV2;
use crate::nessie::parameters::{
    FILTER,
    v2::{CONTENT, KEY, MAX_KEY, MAX_RECORDS, MIN_KEY, PAGE_TOKEN, PREFIX_KEY},
};
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists the keys of a state, in key order.
#[derive(Debug)]
pub struct GetEntries;

impl GetEntries {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}/entries", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for GetEntries {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{ref}/entries",
        "getEntries",
        "Lists the keys of a state, in key order.",
    );
    type Query = Query;
    type Request = ();
    type Response = EntriesResponseV2;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `key`: only these keys, in string form.
    pub keys: Vec<String>,
    /// `min-key`: the lowest key, inclusive.
    pub min_key: Option<String>,
    /// `max-key`: the highest key, inclusive; not what lies below it.
    pub max_key: Option<String>,
    /// `prefix-key`: this key and every key below it.
    pub prefix_key: Option<String>,
    /// `content`: whether contents are filled in.
    pub content: bool,
    /// `filter`: A CEL expression; absent is no filter.
    pub filter: Option<String>,
    /// `max-records`: most elements of a page; no limit of its own when absent or not positive.
    pub max_records: Option<i32>,
    /// `page-token`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] =
        &[KEY, MIN_KEY, MAX_KEY, PREFIX_KEY, CONTENT, FILTER, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            keys: pairs.all("key"),
            min_key: pairs.text("min-key"),
            max_key: pairs.text("max-key"),
            prefix_key: pairs.text("prefix-key"),
            content: pairs.flag("content"),
            filter: pairs.text("filter"),
            max_records: pairs.int("max-records")?,
            page_token: pairs.text("page-token"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.all("key", &self.keys);
        out.opt("min-key", self.min_key.as_ref());
        out.opt("max-key", self.max_key.as_ref());
        out.opt("prefix-key", self.prefix_key.as_ref());
        out.flag("content", self.content);
        out.opt("filter", self.filter.as_ref());
        out.int("max-records", self.max_records);
        out.opt("page-token", self.page_token.as_ref());
    }
}
