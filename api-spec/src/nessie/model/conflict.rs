//! Conflicts, as error details and merge details carry them.

use serde::{Deserialize, Serialize};

use crate::nessie::model::ContentKey;

/// Why an operation does not apply. Clients dispatch on this word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ConflictType {
    /// The key must be absent.
    KeyExists,
    /// The key must exist.
    KeyDoesNotExist,
    /// The content has another type than expected.
    PayloadDiffers,
    /// The content has another id than expected.
    ContentIdDiffers,
    /// The content has another value than expected.
    ValueDiffers,
    /// A namespace above the key is missing.
    NamespaceAbsent,
    /// A key above is no namespace.
    NotANamespace,
    /// A namespace still has contents.
    NamespaceNotEmpty,
    /// The reference is not at the expected hash.
    UnexpectedHash,
    /// A key takes part in a conflict.
    KeyConflict,
    /// Documentation differs; never sent by this server.
    DocumentationDiffers,
    /// A word this program does not know.
    #[serde(other)]
    Unknown,
}

/// One conflict.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// Why.
    pub conflict_type: ConflictType,
    /// Where; null for the reference itself.
    pub key: Option<ContentKey>,
    /// For people.
    pub message: String,
}
