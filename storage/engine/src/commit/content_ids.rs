//! Rules for content ids, decided on the state that the client has seen (Nessie API, 8.2 and 8.3).

use std::collections::{BTreeMap, HashMap, HashSet};

use lochan_storage_model::{Content, ContentId, ContentKey, ContentType, Entry};

use super::{GivenId, Operation};
use crate::error::Error;

/// What a put turns out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PutKind {
    /// A new content.
    New,
    /// A new key for a content of this type whose old key goes in the same commit.
    Rename(ContentId, ContentType),
    /// Another state of the content of this type that stands there.
    Update(ContentId, ContentType),
    /// A new content, of whatever type, at a key that is deleted in the same commit.
    ReAdd,
}

impl PutKind {
    /// Whether the key holds something new, so that its namespace is checked.
    pub(super) const fn is_new(&self) -> bool {
        !matches!(self, Self::Update(..))
    }

    /// A content keeps its type for life. Said last, after all conflicts, as on the reference server.
    pub(super) fn check_type(&self, key: &ContentKey, content: &Content) -> Result<(), Error> {
        match self {
            Self::Rename(_, held) | Self::Update(_, held) if *held != content.content_type() => {
                Err(Error::BadRequest(format!(
                    "Cannot overwrite existing key '{key}', which is a different content type"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that no key stands twice, except a delete followed by a put without id.
pub(super) fn check_duplicates(operations: &[Operation]) -> Result<(), Error> {
    let mut seen: HashMap<&ContentKey, bool> = HashMap::new();
    for operation in operations {
        let re_add = matches!(operation, Operation::Put { id: GivenId::New, .. });
        let is_delete = matches!(operation, Operation::Delete(_));
        match seen.insert(operation.key(), is_delete) {
            None => {}
            Some(true) if re_add => {}
            Some(_) => {
                return Err(Error::BadRequest(format!(
                    "Duplicate key in commit operations: {}",
                    operation.key()
                )));
            }
        }
    }
    Ok(())
}

/// Contents whose keys the commit deletes, and the deleted keys; what a put has made use of is gone from it.
pub(super) struct Deleted<'a> {
    contents: HashMap<ContentId, (&'a ContentKey, ContentType)>,
    keys: HashSet<&'a ContentKey>,
}

impl<'a> Deleted<'a> {
    /// Collects them from `operations`; `seen` tells what a key held.
    pub(super) fn of(operations: &'a [Operation], seen: &BTreeMap<ContentKey, Option<Entry>>) -> Self {
        let mut deleted = Self { contents: HashMap::new(), keys: HashSet::new() };
        for operation in operations {
            if let Operation::Delete(key) = operation {
                deleted.keys.insert(key);
                if let Some(Some(entry)) = seen.get(key) {
                    deleted.contents.insert(entry.content_id, (key, entry.content_type));
                }
            }
        }
        deleted
    }

    /// Whether the commit deletes this key.
    fn has_key(&self, key: &ContentKey) -> bool {
        self.keys.contains(key)
    }

    /// The type of the content that goes to another key with this. Its old key cannot be filled anew afterwards, and it goes
    /// to one new key only.
    fn take(&mut self, id: &ContentId) -> Option<ContentType> {
        let (key, content_type) = self.contents.remove(id)?;
        self.keys.remove(key);
        Some(content_type)
    }
}

/// Decides what a put is.
pub(super) fn classify(
    key: &ContentKey,
    given: &GivenId,
    held: Option<&Entry>,
    deleted: &mut Deleted<'_>,
) -> Result<PutKind, Error> {
    let must_not = || Error::BadRequest(format!("New value for key '{key}' must not have a content ID"));
    match (held, given) {
        // Also where the client has seen nothing under the key: then its delete tells what is wrong.
        (_, GivenId::New) if deleted.has_key(key) => Ok(PutKind::ReAdd),
        (None, GivenId::New) => Ok(PutKind::New),
        (None, GivenId::Id(id)) => deleted.take(id).map(|of| PutKind::Rename(*id, of)).ok_or_else(must_not),
        (None, GivenId::Text(_)) => Err(must_not()),
        (Some(_), GivenId::New) => {
            Err(Error::BadRequest(format!("New value to update existing key '{key}' has no content ID")))
        }
        (Some(held), GivenId::Id(id)) if *id == held.content_id => {
            Ok(PutKind::Update(*id, held.content_type))
        }
        (Some(held), GivenId::Id(_) | GivenId::Text(_)) => {
            let given = match given {
                GivenId::Id(id) => id.to_string(),
                GivenId::Text(text) => text.clone(),
                GivenId::New => String::new(),
            };
            Err(Error::BadRequest(format!(
                "Key '{key}' already exists with content ID {}, which is different from the content ID {given} in the \
                 operation",
                held.content_id
            )))
        }
    }
}
