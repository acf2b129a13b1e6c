//! References, and everything read or written through one.

pub mod assign_reference;
pub mod commit_multiple_operations;
pub mod create_reference;
pub mod delete_reference;
pub mod get_all_references;
pub mod get_commit_log;
pub mod get_default_branch;
pub mod get_entries;
pub mod get_reference_by_name;
pub mod merge_ref_into_branch;
pub mod transplant_commits_into_branch;

pub use assign_reference::AssignReference;
pub use commit_multiple_operations::CommitMultipleOperations;
pub use create_reference::CreateReference;
pub use delete_reference::DeleteReference;
pub use get_all_references::GetAllReferences;
pub use get_commit_log::GetCommitLog;
pub use get_default_branch::GetDefaultBranch;
pub use get_entries::GetEntries;
pub use get_reference_by_name::GetReferenceByName;
pub use merge_ref_into_branch::MergeRefIntoBranch;
pub use transplant_commits_into_branch::TransplantCommitsIntoBranch;
