//! The Nessie API, version 2: references in paths, kebab-case parameters.

pub mod config;
pub mod trees;

use crate::endpoint::endpoints;

endpoints! {
    /// Every endpoint of this version, in the order of the contract.
    config::GetConfig,
    config::GetRepositoryConfig,
    config::UpdateRepositoryConfig,
    trees::GetAllReferences,
    trees::CreateReference,
    trees::GetReferenceByName,
    trees::GetReferenceHistory,
    trees::AssignReference,
    trees::DeleteReference,
    trees::GetEntries,
    trees::GetCommitLog,
    trees::GetDiff,
    trees::GetContent,
    trees::GetSeveralContents,
    trees::GetMultipleContents,
    trees::CommitMultipleOperations,
    trees::MergeRefIntoBranch,
    trees::TransplantCommitsIntoBranch,
}
