//! What the lines hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Checksum;
use crate::ext::model::{LogEntry, RefType};
use crate::nessie::model::{Content, ContentKey};
use crate::syntax::Instant;

/// Lines that hold the stream together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Control {
    /// The first line.
    Header(Header),
    /// A part begins.
    Part(PartStart),
    /// A part ends.
    PartEnd(PartEnd),
    /// The stream ends.
    End(End),
}

/// Lines that hold what is carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Item {
    /// A reference.
    Reference(ReferenceLine),
    /// An object that lives as long as a commit.
    Attachment(Attachment),
    /// A commit.
    Commit(Box<CommitLine>),
    /// Further operations of the commit before.
    Operations(Vec<OperationLine>),
    /// A change of a reference.
    LogEntry(LogEntry),
}

/// Where a stream comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum SourceKind {
    /// A Lochan server: commits keep their hashes, and whoever takes them in recomputes them.
    Lochan,
    /// A Nessie server, or any other: commits get new hashes.
    Nessie,
}

/// What the stream is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    /// [`super::FORMAT`].
    pub format: String,
    /// [`super::VERSION`].
    pub version: u32,
    /// Where it comes from.
    pub source: SourceKind,
    /// Identity of the repository, where the source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The program that served it, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Name of the default branch.
    pub default_branch: String,
    /// The moment that the stream shows.
    pub taken_at: Instant,
}

/// A part begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PartStart {
    /// 1, 2, 3 …
    pub number: u64,
    /// Checksum of the part before; of the header line for the first.
    pub after: Checksum,
    /// Where an export goes on with this part; null when the source cannot.
    pub position: Option<String>,
}

/// A part ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PartEnd {
    /// The part's number.
    pub number: u64,
    /// Lines in it, the `part` line included, this one not.
    pub lines: u64,
    /// Checksum of those lines.
    pub checksum: Checksum,
    /// Where an export goes on with the next part; null when the source cannot, or this is the last.
    pub next: Option<String>,
}

/// The stream ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct End {
    /// Parts in all.
    pub parts: u64,
    /// References in all.
    pub references: u64,
    /// Commits in all.
    pub commits: u64,
    /// Log entries in all.
    pub log_entries: u64,
    /// Checksum of the last part; of the header line when there is none.
    pub checksum: Checksum,
}

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReferenceLine {
    /// Branch or tag.
    #[serde(rename = "type")]
    pub kind: RefType,
    /// Its name.
    pub name: String,
    /// The commit it points at, by its id at the source; the no-ancestor hash for an empty one.
    pub hash: String,
}

/// An object that lives as long as the commits that name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attachment {
    /// Its id: 64 hexadecimal digits.
    pub id: String,
    /// Its bytes, in hexadecimal digits.
    pub data: String,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitLine {
    /// Its id at the source: 8 to 64 hexadecimal digits.
    pub id: String,
    /// Its parents by their ids at the source, first parent first; none, or the no-ancestor hash, for a root.
    pub parents: Vec<String>,
    /// The message.
    pub message: String,
    /// Who was authenticated.
    pub committer: String,
    /// Who made the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Who signed it off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_off_by: Vec<String>,
    /// When the commit was made; finer than a microsecond is cut off.
    pub commit_time: Instant,
    /// When the change was made, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_time: Option<Instant>,
    /// Names to values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Vec<String>>,
    /// Ids of its attachments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// How many operations it has, those of the lines that follow included.
    pub operation_count: u64,
    /// Its first operations, in the order of the source; all of them when they fit.
    #[serde(default)]
    pub operations: Vec<OperationLine>,
}

/// What a commit does to a key; at most one operation per key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum OperationLine {
    /// The key holds this content from then on. The content's id is set.
    Put {
        /// The key.
        key: ContentKey,
        /// The content.
        content: Content,
    },
    /// The key holds nothing from then on.
    Delete {
        /// The key.
        key: ContentKey,
    },
    /// A value of the system map, which only Lochan has.
    System {
        /// The elements of its path.
        path: Vec<String>,
        /// Its canonical JSON, as text; null removes it.
        value: Option<String>,
    },
}
