//! Conflicts as data.

use crate::key::{ContentKey, SystemPath};

/// Kind of a conflict (Nessie API, 4.7), and those of the system domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// A new key exists already.
    KeyExists,
    /// A key to be changed is gone.
    KeyDoesNotExist,
    /// The content has another type.
    PayloadDiffers,
    /// The key holds another content.
    ContentIdDiffers,
    /// The content was changed.
    ValueDiffers,
    /// A parent namespace is missing.
    NamespaceAbsent,
    /// A parent is no namespace.
    NotANamespace,
    /// A namespace to be deleted has children.
    NamespaceNotEmpty,
    /// A reference is not where it was expected.
    UnexpectedHash,
    /// A content would be held by two keys, or by none.
    KeyConflict,
    /// A value of the system map was changed. Never shown with a content key.
    SystemValueDiffers,
}

/// One conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What kind.
    pub kind: ConflictKind,
    /// The content key, if it concerns one.
    pub key: Option<ContentKey>,
    /// The system path, if it concerns one.
    pub path: Option<SystemPath>,
    /// For people; lower case, without full stop.
    pub message: String,
}

impl Conflict {
    /// A conflict on a content key with the words of the Nessie API (8.4, 8.5).
    #[must_use]
    pub fn on_key(kind: ConflictKind, key: &ContentKey) -> Self {
        let message = match kind {
            ConflictKind::KeyExists => format!("key '{key}' already exists"),
            ConflictKind::KeyDoesNotExist => format!("key '{key}' does not exist"),
            ConflictKind::PayloadDiffers => {
                format!("payload of existing and expected content for key '{key}' are different")
            }
            ConflictKind::ContentIdDiffers => {
                format!("content IDs of existing and expected content for key '{key}' are different")
            }
            ConflictKind::ValueDiffers => {
                format!("values of existing and expected content for key '{key}' are different")
            }
            ConflictKind::NamespaceAbsent => format!("namespace '{key}' must exist"),
            ConflictKind::NotANamespace => format!(
                "expecting the key '{key}' to be a namespace, but is not a namespace (using a content object that is \
                 not a namespace as a namespace is forbidden)"
            ),
            ConflictKind::NamespaceNotEmpty => format!("namespace '{key}' is not empty"),
            ConflictKind::UnexpectedHash | ConflictKind::KeyConflict | ConflictKind::SystemValueDiffers => {
                format!("'{key}' was changed")
            }
        };
        Self { kind, key: Some(key.clone()), path: None, message }
    }

    /// A conflict on a key to be applied: the source moved a content between it and another, which is to be left as it is.
    #[must_use]
    pub fn on_moved(key: &ContentKey, left: &ContentKey) -> Self {
        let message = format!(
            "a content was moved between key '{key}' and key '{left}', which is to be left as it is; give both the same \
             merge behavior"
        );
        Self { message, ..Self::on_key(ConflictKind::KeyConflict, key) }
    }

    /// A conflict on a key that would hold a content which the target holds under another key.
    #[must_use]
    pub fn on_held(key: &ContentKey, holder: &ContentKey) -> Self {
        let message = format!(
            "the content to be put at key '{key}' is held by key '{holder}' of the target; leave '{key}' out, or move the \
             content back before"
        );
        Self { message, ..Self::on_key(ConflictKind::KeyConflict, key) }
    }

    /// A conflict on a value of the system map.
    #[must_use]
    pub fn on_path(path: &SystemPath) -> Self {
        Self {
            kind: ConflictKind::SystemValueDiffers,
            key: None,
            path: Some(path.clone()),
            message: format!("system value '{path}' was changed"),
        }
    }
}
