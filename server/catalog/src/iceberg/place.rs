//! Where a request acts: a point in history, a warehouse, and names in them.

use lochan_storage_engine::state::State;
use lochan_storage_files::Warehouse;
use lochan_storage_model::{ContentKey, ContentType, RefName};
use lochan_storage_odb::{RefKind, Reference};

use super::Iceberg;
use crate::{
    access::{Access, Check, Principal},
    error::{Error, ObjectKind},
    point::RefPoint,
};

/// What a prefix names: a state of the catalog, and the warehouse of new tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The state; neither name nor commit stands for the head of the default branch.
    pub point: RefPoint,
    /// The warehouse by name or location; `None` is the default one.
    pub warehouse: Option<String>,
}

/// A namespace as a client named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The levels, outermost first.
    pub levels: Vec<String>,
    /// Another reading, with dots as separators, that counts only where the first one does not exist.
    pub dotted: Option<Vec<String>>,
}

impl Namespace {
    /// A namespace that can be read in one way only.
    #[must_use]
    pub const fn of(levels: Vec<String>) -> Self {
        Self { levels, dotted: None }
    }
}

/// A table or view by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name alone.
    pub name: String,
}

/// A table or view at a point in history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The state; as in a [`Place`].
    pub point: RefPoint,
    /// What.
    pub name: Name,
}

/// A state being read, and the reference it was reached through.
pub(crate) struct Reading {
    pub(crate) reference: Option<RefName>,
    /// The reference that rights are asked on: none for a state outside of the history of `reference`.
    pub(crate) rights: Option<RefName>,
    pub(crate) state: State,
}

impl Iceberg<'_> {
    /// The warehouse of a place.
    pub(crate) fn warehouse_of(&self, place: &Place) -> Result<Warehouse, Error> {
        match place.warehouse.as_deref().filter(|name| !name.is_empty()) {
            None => Ok(self.warehouses().default().clone()),
            Some(name) => {
                let found = self.warehouses().find(name).cloned();
                found.ok_or_else(|| Error::WarehouseNotFound(name.chars().take(200).collect()))
            }
        }
    }

    /// The state of a point, for reading by `who`: that something is missing is told to those who may know of it.
    pub(crate) async fn reading(&self, who: &Principal, point: &RefPoint) -> Result<Reading, Error> {
        let reading = self.read(point).await;
        if reading.is_err() {
            self.authorize(who, &Check::on(Access::ViewReference, self.named(point).as_ref())).await?;
        }
        reading
    }

    /// The name that a point gives, if it can be one.
    fn named(&self, point: &RefPoint) -> Option<RefName> {
        match &point.name {
            Some(name) => RefName::new(name).ok(),
            None if point.hash.is_none() => Some(self.settings().default_branch.clone()),
            None => None,
        }
    }

    async fn read(&self, point: &RefPoint) -> Result<Reading, Error> {
        let at_head = |(reference, state): (Reference, State)| Reading {
            rights: Some(reference.name.clone()),
            reference: Some(reference.name),
            state,
        };
        match &point.name {
            Some(name) if !point.is_pinned() => Ok(at_head(self.engine().at_head(&known_name(name)?).await?)),
            None if !point.is_pinned() => {
                Ok(at_head(self.engine().at_head(&self.settings().default_branch).await?))
            }
            name => {
                let mut point = point.clone();
                if name.is_none() && point.hash.is_none() {
                    point.name = Some(self.settings().default_branch.to_string());
                }
                let effective = self.resolve(&point).await?;
                let state = self.engine().at(effective.commit).await?;
                let rights = match &effective.reference {
                    Some(reference) => self.rights_at(reference, effective.commit).await?,
                    None => None,
                };
                Ok(Reading { reference: effective.reference.map(|reference| reference.name), rights, state })
            }
        }
    }

    /// The branch that a point names, for writing. A fixed state is refused here, a tag by [`Iceberg::branch_head`].
    pub(crate) fn writing(&self, point: &RefPoint) -> Result<RefName, Error> {
        if point.is_pinned() {
            return Err(Error::FixedState(
                "Cannot write to a fixed state: a commit or time is named, not a branch.".into(),
            ));
        }
        point.name.as_deref().map_or_else(|| Ok(self.settings().default_branch.clone()), known_name)
    }

    /// The head of a branch, for writing by `who`: that it is missing, or a tag, is told to those who may know of it.
    pub(crate) async fn branch_of(&self, who: &Principal, name: &RefName) -> Result<State, Error> {
        match self.branch_head(name).await {
            Ok((_, state)) => Ok(state),
            Err(error) => {
                self.authorize(who, &Check::on(Access::Commit, Some(name))).await?;
                Err(error)
            }
        }
    }

    /// The head of a branch, for writing.
    pub(crate) async fn branch_head(&self, name: &RefName) -> Result<(Reference, State), Error> {
        let (reference, state) = self.engine().at_head(name).await?;
        match reference.kind {
            RefKind::Branch => Ok((reference, state)),
            RefKind::Tag => {
                Err(Error::FixedState(format!("Cannot write to '{name}': it is a tag, not a branch.")))
            }
        }
    }
}

fn known_name(name: &str) -> Result<RefName, Error> {
    RefName::new(name).map_err(|_| Error::ReferenceNotFound(format!("Named reference '{name}' not found")))
}

/// The key of levels.
pub(crate) fn key_of<S: AsRef<str>>(levels: impl IntoIterator<Item = S>) -> Result<ContentKey, Error> {
    ContentKey::new(levels.into_iter().map(|level| level.as_ref().to_owned()))
        .map_err(|error| Error::BadRequest(format!("Invalid name: {error}")))
}

/// The levels of a namespace, in the reading that exists; the plain one if neither does.
pub(crate) async fn levels_in(state: &State, namespace: &Namespace) -> Result<Vec<String>, Error> {
    let Some(dotted) = &namespace.dotted else { return Ok(namespace.levels.clone()) };
    if exists(state, &namespace.levels).await? || !exists(state, dotted).await? {
        return Ok(namespace.levels.clone());
    }
    Ok(dotted.clone())
}

/// Whether levels name a namespace; what cannot be a name is none.
async fn exists(state: &State, levels: &[String]) -> Result<bool, Error> {
    match key_of(levels) {
        Ok(key) => is_namespace(state, &key).await,
        Err(_) => Ok(false),
    }
}

/// The key of a namespace.
pub(crate) async fn namespace_key(state: &State, namespace: &Namespace) -> Result<ContentKey, Error> {
    key_of(levels_in(state, namespace).await?)
}

/// The key of a table or view.
pub(crate) async fn name_key(state: &State, name: &Name) -> Result<ContentKey, Error> {
    let mut levels = levels_in(state, &name.namespace).await?;
    levels.push(name.name.clone());
    key_of(levels)
}

/// Whether a key holds a namespace.
pub(crate) async fn is_namespace(state: &State, key: &ContentKey) -> Result<bool, Error> {
    let entry = state.entry(&key.index_key()).await?;
    Ok(entry.is_some_and(|entry| entry.content_type == ContentType::Namespace))
}

/// Refuses a missing namespace.
pub(crate) async fn require_namespace(state: &State, key: &ContentKey) -> Result<(), Error> {
    if is_namespace(state, key).await? { Ok(()) } else { Err(missing(ObjectKind::Namespace, key)) }
}

/// Refuses a missing parent of a new key.
pub(crate) async fn require_parent(state: &State, key: &ContentKey) -> Result<(), Error> {
    match key.parent() {
        Some(parent) => require_namespace(state, &parent).await,
        None => Ok(()),
    }
}

/// Something that is not there.
pub(crate) fn missing(kind: ObjectKind, key: &ContentKey) -> Error {
    Error::ObjectNotFound { kind, name: key.to_string() }
}

/// The type of contents of a kind.
pub(crate) const fn content_type(kind: ObjectKind) -> ContentType {
    match kind {
        ObjectKind::Namespace => ContentType::Namespace,
        ObjectKind::Table => ContentType::IcebergTable,
        ObjectKind::View => ContentType::IcebergView,
    }
}

/// The word of a type in texts for people.
pub(crate) const fn type_word(content_type: ContentType) -> &'static str {
    match content_type {
        ContentType::IcebergTable => "Table",
        ContentType::IcebergView => "View",
        ContentType::Namespace => "Namespace",
        ContentType::DeltaLakeTable => "Delta Lake table",
        ContentType::Udf => "Function",
        ContentType::System => "System value",
    }
}

/// The refusal of a new `kind` where something stands already (Iceberg REST contract, 1.2).
pub(crate) fn taken(kind: ObjectKind, found: ContentType, key: &ContentKey) -> Error {
    let same = if found == content_type(kind) { "" } else { " with same name" };
    Error::ObjectExists(format!("{}{same} already exists: {key}", type_word(found)))
}
