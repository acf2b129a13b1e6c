//! `POST /iceberg/v1/{prefix}/transactions/commit`: commits changes of several tables, all or none.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::tables::CommitTableRequest;

/// Commits changes of several tables, all or none.
#[derive(Debug)]
pub struct CommitTransaction;

impl CommitTransaction {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str) -> String {
        format!("/iceberg/v1/{}/transactions/commit", prefix)
    }
}

impl Endpoint for CommitTransaction {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/transactions/commit",
        "commitTransaction",
        "Commits changes of several tables, all or none.",
    );
    type Query = ();
    type Request = CommitTransactionRequest;
    type Response = ();
}

/// The changes, each with its identifier.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CommitTransactionRequest {
    /// One per table.
    pub table_changes: Vec<CommitTableRequest>,
}
