//! Our own API, `/ext/v1`: what the Nessie and Iceberg APIs lack.
//!
//! Conventions: JSON with names in camel case, times in ISO-8601 UTC, hashes of 64 hexadecimal digits, query parameters
//! in kebab case. Errors are an [`model::ErrorBody`]. Lists page with `max-records` and `page-token`. Unknown fields of a
//! request body are refused (400): both ends are ours. A path parameter stands in one segment, encoded: `feature%2Fx`.
//!
//! [`stream`] is the format in which a repository leaves one server and enters another.

pub mod drop_import;
pub mod export_repository;
pub mod get_import;
pub mod get_info;
pub mod get_reflog;
pub mod import_repository;
pub mod list_imported_commits;
pub mod list_imports;
pub mod model;
pub mod page;
mod parameters;
pub mod rebase_branch;
pub mod restore_reference;
pub mod stream;

pub use drop_import::DropImport;
pub use export_repository::ExportRepository;
pub use get_import::GetImport;
pub use get_info::GetInfo;
pub use get_reflog::GetReflog;
pub use import_repository::ImportRepository;
pub use list_imported_commits::ListImportedCommits;
pub use list_imports::ListImports;
pub use rebase_branch::RebaseBranch;
pub use restore_reference::RestoreReference;

use crate::endpoint::endpoints;

endpoints! {
    /// Every endpoint of `/ext/v1`.
    GetInfo,
    GetReflog,
    RestoreReference,
    RebaseBranch,
    ExportRepository,
    ImportRepository,
    ListImports,
    GetImport,
    DropImport,
    ListImportedCommits,
}
