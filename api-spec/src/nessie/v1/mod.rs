//! The Nessie API, version 1: names and hashes apart, camelCase parameters, old views.

pub mod config;
pub mod contents;
pub mod diffs;
pub mod namespaces;
pub mod trees;

use crate::endpoint::endpoints;

endpoints! {
    /// Every endpoint of this version, in the order of the contract.
    config::GetConfig,
    trees::GetAllReferences,
    trees::GetDefaultBranch,
    trees::CreateReference,
    trees::GetReferenceByName,
    trees::GetEntries,
    trees::GetCommitLog,
    trees::AssignReference,
    trees::DeleteReference,
    trees::CommitMultipleOperations,
    trees::MergeRefIntoBranch,
    trees::TransplantCommitsIntoBranch,
    contents::GetContent,
    contents::GetMultipleContents,
    diffs::GetDiff,
    namespaces::GetNamespaces,
    namespaces::GetNamespace,
    namespaces::CreateNamespace,
    namespaces::UpdateProperties,
    namespaces::DeleteNamespace,
}
