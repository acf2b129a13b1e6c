//! Namespaces: create, load, change properties, drop.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_engine::{
    Error as EngineError,
    commit::{GivenId, Operation, Request},
    index::Range,
    state::State,
};
use lochan_storage_iceberg::bounds;
use lochan_storage_model::{CommitId, ConflictKind, Content, ContentKey, ContentType, RefName};

use super::{
    Iceberg, actions,
    author::Author,
    locations::LOCATION,
    place::{Namespace, Place, is_namespace, key_of, missing, namespace_key, taken},
    tables::given_up,
};
use crate::{
    access::{Access, Check, Principal},
    error::{Error, ObjectKind},
};

/// Rounds against others who change the same namespace.
const ROUNDS_MAX: usize = 6;

/// A namespace as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceAnswer {
    /// Its levels.
    pub levels: Vec<String>,
    /// Its properties; `location` is always among them, with a slash at its end where it was derived.
    pub properties: BTreeMap<String, String>,
}

/// What a change of properties did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PropertiesChanged {
    /// Names set.
    pub updated: Vec<String>,
    /// Names removed.
    pub removed: Vec<String>,
    /// Removals that were not set.
    pub missing: Vec<String>,
}

impl Iceberg<'_> {
    /// Loads a namespace.
    pub async fn load_namespace(
        &self,
        who: &Principal,
        place: &Place,
        namespace: &Namespace,
    ) -> Result<NamespaceAnswer, Error> {
        let reading = self.reading(who, &place.point).await?;
        let key = namespace_key(&reading.state, namespace).await?;
        let check = Check::default().and_key(
            Access::ReadContent,
            reading.rights.as_ref(),
            &key,
            Some(ContentType::Namespace),
        );
        self.authorize(who, &check).await?;
        let properties = properties_at(&reading.state, &key).await?;
        self.namespace_answer(&reading.state, place, &key, properties).await
    }

    /// Whether a namespace exists.
    pub async fn namespace_exists(
        &self,
        who: &Principal,
        place: &Place,
        namespace: &Namespace,
    ) -> Result<(), Error> {
        self.load_namespace(who, place, namespace).await.map(drop)
    }

    /// Creates a namespace; its parent must exist.
    pub async fn create_namespace(
        &self,
        author: &Author,
        place: &Place,
        levels: &[String],
        properties: BTreeMap<String, String>,
    ) -> Result<NamespaceAnswer, Error> {
        let branch = self.writing(&place.point)?;
        let key = key_of(levels)?;
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(Access::CreateContent, Some(&branch), &key, Some(ContentType::Namespace))
            .during([actions::CREATE])
            .writing(self.warehouse_of(place)?.name(), author.bytes);
        self.authorize(&author.principal, &check).await?;
        self.check_properties(&properties)?;
        let (_, state) = self.branch_head(&branch).await?;
        if let Some(entry) = state.entry(&key.index_key()).await? {
            return Err(taken(ObjectKind::Namespace, entry.content_type, &key));
        }
        if let Some(parent) = nearest_missing_parent(&state, &key).await? {
            return Err(missing(ObjectKind::Namespace, &parent));
        }
        let put = Operation::Put {
            key: key.clone(),
            content: namespace_content(&key, properties.clone()),
            id: GivenId::New,
        };
        let message = format!("update namespace {key}");
        match self.change_namespace(author, &branch, state.commit(), put, message).await {
            Ok(()) => self.namespace_answer(&state, place, &key, properties).await,
            Err(EngineError::Conflicts(conflicts)) => {
                let absent = conflicts.iter().find(|conflict| conflict.kind == ConflictKind::NamespaceAbsent);
                Err(match absent.and_then(|conflict| conflict.key.as_ref()) {
                    Some(parent) => missing(ObjectKind::Namespace, parent),
                    None => taken(ObjectKind::Namespace, ContentType::Namespace, &key),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Sets and removes properties of a namespace.
    pub async fn update_namespace(
        &self,
        author: &Author,
        place: &Place,
        namespace: &Namespace,
        removals: &[String],
        updates: &BTreeMap<String, String>,
    ) -> Result<PropertiesChanged, Error> {
        let branch = self.writing(&place.point)?;
        let state = self.branch_of(&author.principal, &branch).await?;
        let key = namespace_key(&state, namespace).await?;
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(Access::UpdateContent, Some(&branch), &key, Some(ContentType::Namespace))
            .during(actions::of_properties(removals, updates))
            .writing(self.warehouse_of(place)?.name(), author.bytes);
        self.authorize(&author.principal, &check).await?;
        let removals: BTreeSet<&String> = removals.iter().collect();
        if let Some(both) = removals.iter().find(|name| updates.contains_key(**name)) {
            return Err(Error::Unprocessable(format!(
                "a property cannot be set and removed at once: {both}"
            )));
        }
        self.check_properties(updates)?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            let held = state.content(&key).await?;
            let Some((entry, Content::Namespace { elements, mut properties })) = held else {
                return Err(missing(ObjectKind::Namespace, &key));
            };
            let before = properties.clone();
            let mut changed =
                PropertiesChanged { updated: updates.keys().cloned().collect(), ..Default::default() };
            for name in &removals {
                let list = if properties.remove(*name).is_some() {
                    &mut changed.removed
                } else {
                    &mut changed.missing
                };
                list.push((*name).clone());
            }
            properties.extend(updates.clone());
            if properties == before {
                return Ok(changed);
            }
            bounds::properties(&properties)?;
            let content = Content::Namespace { elements, properties };
            let put = Operation::Put { key: key.clone(), content, id: GivenId::Id(entry.content_id) };
            let message = format!("update namespace {key}");
            match self.change_namespace(author, &branch, state.commit(), put, message).await {
                Ok(()) => return Ok(changed),
                Err(error @ (EngineError::Conflicts(_) | EngineError::NotOnBranch { .. })) => {
                    lost = Some(error.into())
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(given_up(lost))
    }

    /// Drops a namespace that holds nothing.
    pub async fn drop_namespace(
        &self,
        author: &Author,
        place: &Place,
        namespace: &Namespace,
    ) -> Result<(), Error> {
        let branch = self.writing(&place.point)?;
        let state = self.branch_of(&author.principal, &branch).await?;
        let key = namespace_key(&state, namespace).await?;
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(Access::DeleteContent, Some(&branch), &key, Some(ContentType::Namespace))
            .during([actions::DROP]);
        self.authorize(&author.principal, &check).await?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            if !is_namespace(&state, &key).await? {
                return Err(missing(ObjectKind::Namespace, &key));
            }
            let mut below = state.entries(&Range::below(&key.index_key())).await?;
            if below.next().await?.is_some() {
                return Err(Error::NamespaceNotEmpty(key.to_string()));
            }
            let message = format!("delete namespace {key}");
            let delete = Operation::Delete(key.clone());
            match self.change_namespace(author, &branch, state.commit(), delete, message).await {
                Ok(()) => return Ok(()),
                Err(error @ (EngineError::Conflicts(_) | EngineError::NotOnBranch { .. })) => {
                    lost = Some(error.into())
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(given_up(lost))
    }

    async fn change_namespace(
        &self,
        author: &Author,
        branch: &RefName,
        expected: CommitId,
        operation: Operation,
        message: String,
    ) -> Result<(), EngineError> {
        let mut request = Request::new(branch.clone(), expected, author.meta(message), author.who());
        request.operations = vec![operation];
        self.engine().commit(request).await.map(drop)
    }

    /// Refuses a location that no warehouse holds, and too much of everything.
    fn check_properties(&self, properties: &BTreeMap<String, String>) -> Result<(), Error> {
        bounds::properties(properties)?;
        properties.get(LOCATION).map_or(Ok(()), |location| self.allowed_location(location).map(drop))
    }

    async fn namespace_answer(
        &self,
        state: &State,
        place: &Place,
        key: &ContentKey,
        mut properties: BTreeMap<String, String>,
    ) -> Result<NamespaceAnswer, Error> {
        if !properties.contains_key(LOCATION) {
            let location = self.namespace_location(state, &self.warehouse_of(place)?, key.elements()).await?;
            properties.insert(LOCATION.to_owned(), format!("{location}/"));
        }
        let levels = key.elements().iter().map(|level| level.to_string()).collect();
        Ok(NamespaceAnswer { levels, properties })
    }
}

async fn properties_at(state: &State, key: &ContentKey) -> Result<BTreeMap<String, String>, Error> {
    match state.content(key).await? {
        Some((_, Content::Namespace { properties, .. })) => Ok(properties),
        _ => Err(missing(ObjectKind::Namespace, key)),
    }
}

async fn nearest_missing_parent(state: &State, key: &ContentKey) -> Result<Option<ContentKey>, Error> {
    match key.parent() {
        Some(parent) if !is_namespace(state, &parent).await? => Ok(Some(parent)),
        _ => Ok(None),
    }
}

fn namespace_content(key: &ContentKey, properties: BTreeMap<String, String>) -> Content {
    Content::Namespace {
        elements: key.elements().iter().map(|level| level.to_string()).collect(),
        properties,
    }
}
