//! Where an import stands.

use serde::{Deserialize, Serialize};

use crate::ext::model::NamedReference;
use crate::ext::stream::SourceKind;
use crate::syntax::Instant;

/// Whether an import is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ImportStatus {
    /// Parts are missing.
    Open,
    /// The stream has ended, and its references are there.
    Done,
}

/// Where an import stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportState {
    /// Its name.
    pub id: String,
    /// Whether it is done.
    pub status: ImportStatus,
    /// Where the stream comes from.
    pub source: SourceKind,
    /// Whether commits keep their hashes, so that there is no table of old and new ones.
    pub hashes_kept: bool,
    /// Who began it; empty without authentication.
    pub principal: String,
    /// When it was begun.
    pub begun: Instant,
    /// Put in front of every reference's name; empty for nothing.
    pub prefix: String,
    /// What happens to references that exist: `refuse`, `keep` or `move`.
    pub existing: String,
    /// Number of the next part wanted; 1 at the beginning.
    pub next_part: u64,
    /// Checksum of the stream up to there, as its own lines tell it. Older servers do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// Commits taken.
    pub commits: u64,
    /// Commits whose time was raised because it was not after their parent's.
    pub times_raised: u64,
    /// References read.
    pub references: u64,
    /// Ref log entries read and checked; they are not kept.
    pub log_entries: u64,
    /// The references made or moved, by name; empty until the import is done.
    pub imported: Vec<NamedReference>,
    /// Names of references left as they were (`existing=keep`).
    pub kept: Vec<String>,
}
