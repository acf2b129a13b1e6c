//! `GET /api/v2/trees/{from}/diff/{to}`: lists keys whose content differs between two states.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::DiffResponseV2;
use crate::nessie::parameters::{
    FILTER,
    v2::{KEY, MAX_KEY, MAX_RECORDS, MIN_KEY, PAGE_TOKEN, PREFIX_KEY},
};
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists keys whose content differs between two states.
#[derive(Debug)]
pub struct GetDiff;

impl GetDiff {
    /// The path, encoded.
    pub fn path(from: &RefSpec, to: &RefSpec) -> String {
        format!(
            "/api/v2/trees/{}/diff/{}",
            encode_segment(&from.to_string()),
            encode_segment(&to.to_string())
        )
    }
}

impl Endpoint for GetDiff {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{from}/diff/{to}",
        "getDiff",
        "Lists keys whose content differs between two states.",
    );
    type Query = Query;
    type Request = ();
    type Response = DiffResponseV2;
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
    /// `filter`: A CEL expression; absent is no filter.
    pub filter: Option<String>,
    /// `max-records`: most elements of a page; no limit of its own when absent or not positive.
    pub max_records: Option<i32>,
    /// `page-token`: where the page begins.
    pub page_token: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] =
        &[KEY, MIN_KEY, MAX_KEY, PREFIX_KEY, FILTER, MAX_RECORDS, PAGE_TOKEN];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            keys: pairs.all("key"),
            min_key: pairs.text("min-key"),
            max_key: pairs.text("max-key"),
            prefix_key: pairs.text("prefix-key"),
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
        out.opt("filter", self.filter.as_ref());
        out.int("max-records", self.max_records);
        out.opt("page-token", self.page_token.as_ref());
    }
}
