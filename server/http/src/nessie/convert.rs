//! Between the words of the wire and those of the catalog.

use lochan_api_spec::nessie::model::{Conflict as WireConflict, ConflictType, ContentKey as WireKey};
use lochan_storage_model::{Conflict, ConflictKind, ContentKey};

/// A key for the wire.
pub fn key_out(key: &ContentKey) -> WireKey {
    WireKey::from_valid(key.elements().iter().map(|element| element.to_string()).collect())
}

/// A conflict for the wire. Where it concerns the system map, nothing of that map is shown.
pub fn conflict_out(conflict: &Conflict) -> WireConflict {
    WireConflict {
        conflict_type: conflict_type_out(conflict.kind),
        key: conflict.key.as_ref().map(key_out),
        message: conflict.message.clone(),
    }
}

/// The kind of a conflict for the wire.
pub fn conflict_type_out(kind: ConflictKind) -> ConflictType {
    match kind {
        ConflictKind::KeyExists => ConflictType::KeyExists,
        ConflictKind::KeyDoesNotExist => ConflictType::KeyDoesNotExist,
        ConflictKind::PayloadDiffers => ConflictType::PayloadDiffers,
        ConflictKind::ContentIdDiffers => ConflictType::ContentIdDiffers,
        ConflictKind::ValueDiffers => ConflictType::ValueDiffers,
        ConflictKind::NamespaceAbsent => ConflictType::NamespaceAbsent,
        ConflictKind::NotANamespace => ConflictType::NotANamespace,
        ConflictKind::NamespaceNotEmpty => ConflictType::NamespaceNotEmpty,
        ConflictKind::UnexpectedHash => ConflictType::UnexpectedHash,
        ConflictKind::SystemValueDiffers => ConflictType::Unknown,
    }
}
