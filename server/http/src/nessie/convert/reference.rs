//! References, both ways.

use lochan_api_spec::nessie::model::{
    CommitMetaV2, ReferenceKind, ReferenceMetadata, ReferenceV2, ReferencesResponse,
};
use lochan_server_catalog::nessie::Page;
use lochan_server_catalog::nessie::references::{Described, Metadata, RefKind, Reference};
use lochan_server_catalog::{Effective, PointKind};
use lochan_storage_model::RefName;

use super::{commit::meta_out, page};

/// A stored reference.
pub fn out(reference: &Reference) -> ReferenceV2 {
    ReferenceV2 {
        kind: kind_out(reference.kind),
        name: Some(reference.name.to_string()),
        hash: Some(reference.target.to_string()),
        metadata: None,
    }
}

/// A reference with its metadata.
pub fn described_out(described: &Described) -> ReferenceV2 {
    ReferenceV2 { metadata: described.metadata.as_ref().map(metadata_out), ..out(&described.reference) }
}

/// A page of references.
pub fn page_out(found: Page<Described, (RefKind, RefName)>) -> ReferencesResponse<CommitMetaV2> {
    ReferencesResponse {
        has_more: found.next.is_some(),
        token: found.next.map(|(kind, name)| page::reference_token(kind, &name)),
        references: found.items.iter().map(described_out).collect(),
    }
}

/// The state that was really read.
pub fn effective_out(effective: &Effective) -> ReferenceV2 {
    let kind = match effective.kind() {
        PointKind::Branch => ReferenceKind::Branch,
        PointKind::Tag => ReferenceKind::Tag,
        PointKind::Detached => ReferenceKind::Detached,
    };
    ReferenceV2 {
        kind,
        name: effective.name().map(RefName::to_string),
        hash: Some(effective.commit.to_string()),
        metadata: None,
    }
}

/// The kind of a reference that can be created, moved and deleted.
pub fn kind_in(kind: ReferenceKind) -> Option<RefKind> {
    match kind {
        ReferenceKind::Branch => Some(RefKind::Branch),
        ReferenceKind::Tag => Some(RefKind::Tag),
        ReferenceKind::Detached => None,
    }
}

fn kind_out(kind: RefKind) -> ReferenceKind {
    match kind {
        RefKind::Branch => ReferenceKind::Branch,
        RefKind::Tag => ReferenceKind::Tag,
    }
}

fn metadata_out(metadata: &Metadata) -> ReferenceMetadata<CommitMetaV2> {
    let small = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
    ReferenceMetadata {
        num_commits_ahead: metadata.distance.map(|distance| small(distance.ahead)),
        num_commits_behind: metadata.distance.map(|distance| small(distance.behind)),
        commit_meta_of_head: Some(meta_out(&metadata.head)),
        common_ancestor_hash: metadata.distance.map(|distance| distance.common.to_string()),
        num_total_commits: Some(i64::try_from(metadata.total).unwrap_or(i64::MAX)),
    }
}
