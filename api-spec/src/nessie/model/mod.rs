//! Documents of the Nessie API.
//!
//! The two versions write different fields; clients refuse unknown ones, so each view that differs has its own
//! type (`…V1`, `…V2`), and the V1 one is made from the V2 one. What both write alike is shared. Reading is
//! lenient: both spellings, nulls and unknown fields are taken.

mod commit_meta;
mod config;
mod conflict;
mod content;
mod contents;
mod diff;
mod entries;
mod error;
mod history;
mod key;
mod log;
mod merge;
mod merge_response;
mod namespaces;
mod operation;
mod reference;
mod repository_config;

pub use commit_meta::{CommitMetaInput, CommitMetaV1, CommitMetaV2, ServerSetField};
pub use config::{NessieConfigurationV1, NessieConfigurationV2};
pub use conflict::{Conflict, ConflictType};
pub use content::{Content, ContentType, DeltaLakeTable, IcebergTable, IcebergView, Namespace, Udf};
pub use contents::{
    ContentResponse, ContentWithKey, GetMultipleContentsRequest, GetMultipleContentsResponseV1,
    GetMultipleContentsResponseV2,
};
pub use diff::{DiffEntry, DiffResponseV1, DiffResponseV2};
pub use entries::{EntriesResponseV1, EntriesResponseV2, EntryV1, EntryV2};
pub use error::{ErrorCode, ErrorDetails, NessieError};
pub use history::{CommitConsistency, ReferenceHistoryElement, ReferenceHistoryResponse};
pub use key::ContentKey;
pub use log::{LogEntry, LogEntryV1, LogEntryV2, LogResponse, LogResponseV1, LogResponseV2};
pub use merge::{
    MergeBehavior, MergeKeyBehavior, MergeRequestV1, MergeRequestV2, TransplantRequestV1, TransplantRequestV2,
};
pub use merge_response::{
    MergeDetailV1, MergeDetailV2, MergeResponseV1, MergeResponseV2, NoCommits, UnresolvableConflict,
};
pub use namespaces::{GetNamespacesResponse, NamespaceUpdate};
pub use operation::{AddedContent, CommitResponse, Operation, OperationV1, OperationV2, Operations};
pub use reference::{
    Fetch, Reference, ReferenceInput, ReferenceKind, ReferenceMetadata, ReferenceV1, ReferenceV2,
    ReferencesResponse, SingleReferenceResponse,
};
pub use repository_config::{
    GarbageCollectorConfig, ReferenceCutoffPolicy, RepositoryConfig, RepositoryConfigResponse,
    UpdateRepositoryConfigRequest, UpdateRepositoryConfigResponse,
};

#[cfg(test)]
mod tests;
