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
use crate::extract::{Req, decode_segment};
use crate::failure::Failure;
use crate::router::Span;

/// A key for the wire.
pub fn key_out(key: &ContentKey) -> WireKey {
    WireKey::from_valid(key.elements().iter().map(|element| element.to_string()).collect())
}

/// A key from the wire.
pub fn key_in(key: WireKey) -> Result<ContentKey, Failure> {
    ContentKey::new(key.elements).map_err(|error| bad(error.to_string()))
}

/// The key in a path, as text. A `+` is a blank there, as everywhere in paths; but at the beginning or end of an element,
/// where names have no blanks, it stands for itself.
pub fn key_text_of_path(req: &Req, span: Span) -> Result<String, Failure> {
    let raw = req.raw_param(span);
    if !raw.contains('+') {
        return Ok(decode_segment(raw)?);
    }
    let mut elements = Vec::new();
    for element in raw.split('.') {
        let inner = element.trim_matches('+');
        let before = element.len() - element.trim_start_matches('+').len();
        let behind = element.len() - before - inner.len();
        elements.push(format!("{}{inner}{}", "%2B".repeat(before), "%2B".repeat(behind)));
    }
    Ok(decode_segment(&elements.join("."))?)
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
        ConflictKind::KeyConflict => ConflictType::KeyConflict,
        ConflictKind::SystemValueDiffers => ConflictType::Unknown,
    }
}
