//! `DELETE /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}`: removes a table from the catalog.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::parameters::PURGE_REQUESTED;
use crate::parameter::Parameter;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Removes a table from the catalog.
#[derive(Debug)]
pub struct DropTable;

impl DropTable {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String], table: &str) -> String {
        format!(
            "/iceberg/v1/{}/namespaces/{}/tables/{}",
            prefix,
            encode_namespace(namespace),
            encode_segment(table)
        )
    }
}

impl Endpoint for DropTable {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Delete,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "dropTable",
        "Removes a table from the catalog.",
    );
    type Query = Query;
    type Request = ();
    type Response = ();
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `purgeRequested`: accepted and without effect: other branches may refer to the files.
    pub purge_requested: bool,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[PURGE_REQUESTED];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { purge_requested: pairs.flag("purgeRequested") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.flag("purgeRequested", self.purge_requested);
    }
}
