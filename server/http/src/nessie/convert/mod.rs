//! Between the words of the wire and those of the catalog.

pub mod commit;
pub mod content;
pub mod merge;
pub mod page;
pub mod point;
pub mod reference;

use lochan_api_spec::nessie::model::{Conflict as WireConflict, ConflictType, ContentKey as WireKey};
use lochan_storage_model::{Conflict, ConflictKind, ContentKey};

use super::refuse::bad;
use crate::failure::Failure;

/// A key for the wire.
pub fn key_out(key: &ContentKey) -> WireKey {
    WireKey::from_valid(key.elements().iter().map(|element| element.to_string()).collect())
}

/// A key from the wire.
pub fn key_in(key: WireKey) -> Result<ContentKey, Failure> {
    ContentKey::new(key.elements).map_err(|error| bad(error.to_string()))
}

/// A key in any of its text forms; `None` for the key of no elements.
pub fn key_from_text(text: &str) -> Result<Option<ContentKey>, Failure> {
    let key = WireKey::parse(text).map_err(|error| bad(error.to_string()))?;
    if key.elements.is_empty() { Ok(None) } else { key_in(key).map(Some) }
}

/// Keys in text form; the key of no elements, which nothing can have, is left out.
pub fn keys_from_texts(texts: &[String]) -> Result<Vec<ContentKey>, Failure> {
    let parsed = texts.iter().map(|text| WireKey::parse(text).map_err(|error| bad(error.to_string())));
    keys_in(parsed.collect::<Result<_, _>>()?)
}

/// Keys from the wire; the key of no elements, which nothing can have, is left out.
pub fn keys_in(keys: Vec<WireKey>) -> Result<Vec<ContentKey>, Failure> {
    keys.into_iter().filter(|key| !key.elements.is_empty()).map(key_in).collect()
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
