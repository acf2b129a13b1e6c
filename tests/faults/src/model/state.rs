//! Full copies of states, and what is done to them.

use std::collections::BTreeMap;

use lochan_storage_model::{Content, ContentId, ContentKey, ContentType, SystemPath};

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Id of the content.
    pub id: ContentId,
    /// The content.
    pub content: Content,
}

impl Held {
    /// Type of the content.
    pub fn content_type(&self) -> ContentType {
        self.content.content_type()
    }

    /// Whether it is a namespace.
    pub fn is_namespace(&self) -> bool {
        self.content_type() == ContentType::Namespace
    }
}

/// Everything at one commit: both domains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Contents by key.
    pub contents: BTreeMap<ContentKey, Held>,
    /// The system map: canonical JSON by path.
    pub system: BTreeMap<SystemPath, Vec<u8>>,
}

/// Id that a put is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedId {
    /// One that nothing had before.
    New,
    /// This one.
    Is(ContentId),
}

/// What a key is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Under which id.
    pub id: WantedId,
    /// What.
    pub content: Content,
}

impl From<Held> for Wanted {
    fn from(held: Held) -> Self {
        Self { id: WantedId::Is(held.id), content: held.content }
    }
}

/// What one commit is to do; `None` removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// To contents.
    pub contents: BTreeMap<ContentKey, Option<Wanted>>,
    /// To the system map.
    pub system: BTreeMap<SystemPath, Option<Vec<u8>>>,
}

impl Planned {
    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty() && self.system.is_empty()
    }
}

/// What one commit has done; `None` has removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// To contents.
    pub contents: BTreeMap<ContentKey, Option<Held>>,
    /// To the system map.
    pub system: BTreeMap<SystemPath, Option<Vec<u8>>>,
}

impl Changes {
    /// The state after them.
    pub fn on(&self, before: &State) -> State {
        let mut after = before.clone();
        for (key, change) in &self.contents {
            match change {
                Some(held) => after.contents.insert(key.clone(), held.clone()),
                None => after.contents.remove(key),
            };
        }
        for (path, change) in &self.system {
            match change {
                Some(json) => after.system.insert(path.clone(), json.clone()),
                None => after.system.remove(path),
            };
        }
        after
    }

    /// What leads from one state to another.
    pub fn between(from: &State, to: &State) -> Self {
        let mut changes = Self::default();
        for key in from.contents.keys().chain(to.contents.keys()) {
            if from.contents.get(key) != to.contents.get(key) {
                changes.contents.insert(key.clone(), to.contents.get(key).cloned());
            }
        }
        for path in from.system.keys().chain(to.system.keys()) {
            if from.system.get(path) != to.system.get(path) {
                changes.system.insert(path.clone(), to.system.get(path).cloned());
            }
        }
        changes
    }
}
