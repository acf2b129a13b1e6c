//! `GET /iceberg/v1/{prefix}/namespaces/{namespace}/tables`: lists the tables of a namespace, in key order.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::identifier::ListIdentifiersResponse;
use crate::iceberg::paging::Page;
use crate::iceberg::parameters::{PAGE_SIZE, PAGE_TOKEN};
use crate::parameter::Parameter;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists the tables of a namespace, in key order.
#[derive(Debug)]
pub struct ListTables;

impl ListTables {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}/tables", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for ListTables {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables",
        "listTables",
        "Lists the tables of a namespace, in key order.",
    );
    type Query = Query;
    type Request = ();
    type Response = ListIdentifiersResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The page asked for.
    pub page: Page,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[PAGE_TOKEN, PAGE_SIZE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { page: Page::parse(pairs)? })
    }

    fn write(&self, out: &mut QueryWriter) {
        self.page.write(out);
    }
}
