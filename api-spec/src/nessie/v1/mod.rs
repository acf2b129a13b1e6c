//! The Nessie API, version 1: names and hashes apart, camelCase parameters, old views.

pub mod config;
pub mod contents;
pub mod diffs;
pub mod namespaces;
pub mod trees;

use crate::endpoint::{Endpoint, EndpointInfo};

/// Every endpoint of this version, in the order of the contract.
pub const ALL: &[EndpointInfo] = &[
    config::GetConfig::INFO,
    trees::GetAllReferences::INFO,
    trees::GetDefaultBranch::INFO,
    trees::CreateReference::INFO,
    trees::GetReferenceByName::INFO,
    trees::GetEntries::INFO,
    trees::GetCommitLog::INFO,
    trees::AssignReference::INFO,
    trees::DeleteReference::INFO,
    trees::CommitMultipleOperations::INFO,
    trees::MergeRefIntoBranch::INFO,
    trees::TransplantCommitsIntoBranch::INFO,
    contents::GetContent::INFO,
    contents::GetMultipleContents::INFO,
    diffs::GetDiff::INFO,
    namespaces::GetNamespaces::INFO,
    namespaces::GetNamespace::INFO,
    namespaces::CreateNamespace::INFO,
    namespaces::UpdateProperties::INFO,
    namespaces::DeleteNamespace::INFO,
];
