//! `GET /iceberg/v1/{prefix}/namespaces`: lists the direct children of a namespace, in key order.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::paging::Page;
use crate::iceberg::parameters::{PAGE_SIZE, PAGE_TOKEN, PARENT};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists the direct children of a namespace, in key order.
#[derive(Debug)]
pub struct ListNamespaces;

impl ListNamespaces {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str) -> String {
        format!("/iceberg/v1/{}/namespaces", prefix)
    }
}

impl Endpoint for ListNamespaces {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/{prefix}/namespaces",
        "listNamespaces",
        "Lists the direct children of a namespace, in key order.",
    );
    type Query = Query;
    type Request = ();
    type Response = ListNamespacesResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `parent`: the namespace whose children are listed; the top level when absent.
    pub parent: Option<String>,
    /// The page asked for.
    pub page: Page,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[PARENT, PAGE_TOKEN, PAGE_SIZE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { parent: pairs.text("parent"), page: Page::parse(pairs)? })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("parent", self.parent.as_ref());
        self.page.write(out);
    }
}

/// A page of namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ListNamespacesResponse {
    /// Full paths.
    pub namespaces: Vec<Vec<String>>,
    /// Where the next page begins; null on the last.
    pub next_page_token: Option<String>,
}
