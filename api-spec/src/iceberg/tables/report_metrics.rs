//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics`: takes a scan or commit report.
//!
//! The report is read and dropped; a client never fails because of it.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;

/// Takes a scan or commit report.
#[derive(Debug)]
pub struct ReportMetrics;

impl ReportMetrics {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String], table: &str) -> String {
        format!(
            "/iceberg/v1/{}/namespaces/{}/tables/{}/metrics",
            prefix,
            encode_namespace(namespace),
            encode_segment(table)
        )
    }
}

impl Endpoint for ReportMetrics {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
        "reportMetrics",
        "Takes a scan or commit report.",
    );
    type Query = ();
    type Request = MetricsReport;
    type Response = ();
}

/// A report; only its kind is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct MetricsReport {
    /// `scan-report` or `commit-report`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_type: Option<String>,
}
