//! The Nessie API, version 2: references in paths, kebab-case parameters.

pub mod config;
pub mod trees;

use crate::endpoint::{Endpoint, EndpointInfo};

/// Every endpoint of this version, in the order of the contract.
pub const ALL: &[EndpointInfo] = &[
    config::GetConfig::INFO,
    config::GetRepositoryConfig::INFO,
    config::UpdateRepositoryConfig::INFO,
    trees::GetAllReferences::INFO,
    trees::CreateReference::INFO,
    trees::GetReferenceByName::INFO,
    trees::GetReferenceHistory::INFO,
    trees::AssignReference::INFO,
    trees::DeleteReference::INFO,
    trees::GetEntries::INFO,
    trees::GetCommitLog::INFO,
    trees::GetDiff::INFO,
    trees::GetContent::INFO,
    trees::GetSeveralContents::INFO,
    trees::GetMultipleContents::INFO,
    trees::CommitMultipleOperations::INFO,
    trees::MergeRefIntoBranch::INFO,
    trees::TransplantCommitsIntoBranch::INFO,
];
