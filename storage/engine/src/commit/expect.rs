//! What a key is expected to hold, against what it holds at the head (Nessie API, 8.5).

use lochan_storage_model::{Conflict, ConflictKind, ContentKey, Entry};

/// State a key must be in at the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// It must hold nothing: it shall be created.
    Absent,
    /// It must hold exactly this.
    Is(Entry),
    /// It must hold something it never held: it was absent when the client looked, and shall be deleted.
    AbsentForDelete,
}

impl Expectation {
    /// What an update or delete expects of a key that held `entry`.
    pub(crate) fn of_existing(entry: Option<Entry>) -> Self {
        entry.map_or(Self::AbsentForDelete, Self::Is)
    }
}

/// The first difference between expectation and head: type, then id, then value.
pub(crate) fn compare(key: &ContentKey, expected: &Expectation, head: Option<&Entry>) -> Option<Conflict> {
    let kind = match (expected, head) {
        (Expectation::Absent, None) => return None,
        (Expectation::Absent, Some(_)) => ConflictKind::KeyExists,
        (Expectation::Is(_) | Expectation::AbsentForDelete, None) => ConflictKind::KeyDoesNotExist,
        (Expectation::AbsentForDelete, Some(_)) => ConflictKind::PayloadDiffers,
        (Expectation::Is(wanted), Some(_)) => return compare_as(key, wanted, wanted, head),
    };
    Some(Conflict::on_key(kind, key))
}

/// As [`compare`] with [`Expectation::Is`], where type and id are those of `shape`, and the content is `wanted`.
pub(crate) fn compare_as(
    key: &ContentKey,
    shape: &Entry,
    wanted: &Entry,
    head: Option<&Entry>,
) -> Option<Conflict> {
    let kind = match head {
        None => ConflictKind::KeyDoesNotExist,
        Some(head) if shape.content_type != head.content_type => ConflictKind::PayloadDiffers,
        Some(head) if shape.content_id != head.content_id => ConflictKind::ContentIdDiffers,
        Some(head) if wanted != head => ConflictKind::ValueDiffers,
        Some(_) => return None,
    };
    Some(Conflict::on_key(kind, key))
}
