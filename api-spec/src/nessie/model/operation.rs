//! Operations: what a commit does to keys.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::nessie::model::{CommitMetaInput, Content, ContentKey, ReferenceV2};
use crate::syntax::lenient::{TextOrNumber, null_default, object, object_or_null, objects};

/// One operation of a commit request, or of a log entry before its view is chosen.
///
/// `expectedContent`, `metadata` and `documentation` of a put are read (the last two must be well-formed) and
/// dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "openapi",
    derive(schemars::JsonSchema),
    schemars(tag = "type", rename_all = "UPPERCASE")
)]
pub enum Operation {
    /// Puts a content under a key.
    Put {
        /// The key, never empty.
        key: ContentKey,
        /// The content.
        content: Content,
    },
    /// Removes a key.
    Delete {
        /// The key, never empty.
        key: ContentKey,
    },
    /// Requires that a key did not change since the expected hash.
    Unchanged {
        /// The key, never empty.
        key: ContentKey,
    },
}

impl Operation {
    /// The key.
    pub fn key(&self) -> &ContentKey {
        match self {
            Self::Put { key, .. } | Self::Delete { key } | Self::Unchanged { key } => key,
        }
    }

    fn serialize<S: Serializer>(
        &self,
        serializer: S,
        extra: Option<&'static str>,
    ) -> Result<S::Ok, S::Error> {
        let (kind, key, content) = match self {
            Self::Put { key, content } => ("PUT", key, Some(content)),
            Self::Delete { key } => ("DELETE", key, None),
            Self::Unchanged { key } => ("UNCHANGED", key, None),
        };
        let fields = 2 + usize::from(content.is_some()) * (1 + usize::from(extra.is_some()));
        let mut out = serializer.serialize_struct("Operation", fields)?;
        out.serialize_field("type", kind)?;
        out.serialize_field("key", key)?;
        if let Some(content) = content {
            out.serialize_field("content", content)?;
            if let Some(extra) = extra {
                out.serialize_field(extra, &())?;
            }
        }
        out.end()
    }
}

/// The form of requests.
impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer, None)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Kind {
    Put,
    Delete,
    Unchanged,
}

#[derive(Deserialize)]
#[serde(rename = "Operation")]
struct RawOperation {
    #[serde(rename = "type")]
    kind: Option<Kind>,
    key: Option<ContentKey>,
    content: Option<Content>,
    /// Checked for its shape by being read, as what follows.
    #[serde(rename = "expectedContent")]
    _expected_content: Option<Content>,
    #[serde(default, deserialize_with = "objects", rename = "metadata")]
    _metadata: Vec<ContentMetadata>,
    #[serde(default, deserialize_with = "object_or_null", rename = "documentation")]
    _documentation: Option<Documentation>,
}

#[derive(Deserialize)]
pub(super) struct ContentMetadata {
    #[serde(rename = "variant")]
    _variant: TextOrNumber,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Documentation {
    #[serde(rename = "mimeType")]
    _mime_type: String,
    #[serde(rename = "text")]
    _text: String,
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: RawOperation = object(deserializer)?;
        let fail = |message: &str| Err(de::Error::custom(message));
        let Some(kind) = raw.kind else {
            return fail("the operation has no 'type'; it must be PUT, DELETE or UNCHANGED");
        };
        let Some(key) = raw.key else { return fail("the operation has no 'key'") };
        if key.elements.is_empty() {
            return fail("Content key must not be empty");
        }
        match (kind, raw.content) {
            (Kind::Put, Some(content)) => Ok(Self::Put { key, content }),
            (Kind::Put, None) => fail("an operation of type PUT needs a 'content'"),
            (Kind::Delete, _) => Ok(Self::Delete { key }),
            (Kind::Unchanged, _) => Ok(Self::Unchanged { key }),
        }
    }
}

/// An operation in a v1 log: a put has `expectedContent: null`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct OperationV1(pub Operation);

impl Serialize for OperationV1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer, Some("expectedContent"))
    }
}

/// An operation in a v2 log: a put has `documentation: null`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct OperationV2(pub Operation);

impl Serialize for OperationV2 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer, Some("documentation"))
    }
}

impl From<OperationV2> for OperationV1 {
    fn from(operation: OperationV2) -> Self {
        Self(operation.0)
    }
}

/// Body of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Operations {
    /// Message, authors and properties.
    #[serde(deserialize_with = "object")]
    pub commit_meta: CommitMetaInput,
    /// What to do; a request without any is refused by the endpoint.
    #[serde(default, deserialize_with = "null_default")]
    pub operations: Vec<Operation>,
}

/// Answer of a v2 commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommitResponse {
    /// The branch at its new head.
    pub target_branch: ReferenceV2,
    /// Keys that got a new content id in this commit; null when there are none.
    pub added_contents: Option<Vec<AddedContent>>,
}

/// A key and the content id it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddedContent {
    /// The key.
    pub key: ContentKey,
    /// The id.
    pub content_id: String,
}
