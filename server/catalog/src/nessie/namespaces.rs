//! The namespace calls of API v1: reads, and commits of one operation on the head of a branch.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lochan_storage_engine::{
    commit::{GivenId, Operation, Request},
    index::Range,
    state::State,
};
use lochan_storage_model::{ConflictKind, Content, ContentId, ContentKey, ContentType};
use lochan_storage_odb::{RefKind, Reference};

use super::{Point, commits::GivenMeta};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// A namespace and how texts show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Its key.
    pub key: ContentKey,
    /// In errors.
    pub shown: String,
    /// In commit messages.
    pub in_messages: String,
}

impl Name {
    fn not_found(&self) -> Error {
        Error::NamespaceNotFound { key: self.key.clone(), shown: self.shown.clone() }
    }
}

/// A namespace found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Its id; `None` for one that only exists as the prefix of keys.
    pub id: Option<ContentId>,
    /// Its elements.
    pub elements: Vec<String>,
    /// Its properties.
    pub properties: BTreeMap<String, String>,
}

impl Namespace {
    fn implicit(key: &ContentKey) -> Self {
        let elements = key.elements().iter().map(ToString::to_string).collect();
        Self { id: None, elements, properties: BTreeMap::new() }
    }
}

impl Catalog {
    /// The namespace of a name, explicit or not.
    pub async fn get_namespace(
        &self,
        who: &Principal,
        point: &Point,
        name: &Name,
    ) -> Result<Namespace, Error> {
        let reference = self.rights_on(point, None).await?;
        let check = Check::on(Access::ViewReference, reference.as_ref());
        let namespace = Some(ContentType::Namespace);
        self.authorize(who, &check.and_key(Access::ReadContent, reference.as_ref(), &name.key, namespace))
            .await?;
        let (_, state) = self.open(point, "Expected hash").await?;
        find(&state, name).await
    }

    /// The namespaces at or below `below`, or all of them, the explicit ones first, in key order. An implicit one is shown unless
    /// an explicit one has its elements, which need not be those of its key.
    pub async fn list_namespaces(
        &self,
        who: &Principal,
        point: &Point,
        below: Option<&ContentKey>,
    ) -> Result<Vec<Namespace>, Error> {
        let reference = self.rights_on(point, None).await?;
        self.authorize(who, &Check::on(Access::ReadEntries, reference.as_ref())).await?;
        let (_, state) = self.open(point, "Expected hash").await?;
        let range = match below {
            Some(key) => at_or_below(key),
            None => Range::content(),
        };
        let mut implied: BTreeSet<ContentKey> = BTreeSet::new();
        let mut all: Vec<(ContentKey, Namespace)> = Vec::new();
        let mut entries = state.entries(&range).await?;
        while let Some(item) = entries.next().await? {
            tokio::task::consume_budget().await;
            let Some(key) = item.key.content() else { continue };
            if item.entry.content_type == ContentType::Namespace {
                if let Content::Namespace { elements, properties } = state.content_of(&item.entry).await? {
                    all.push((key, Namespace { id: Some(item.entry.content_id), elements, properties }));
                }
                continue;
            }
            // What is no namespace implies the one that it is in; namespaces imply none.
            let within =
                |parent: &ContentKey| below.is_none_or(|below| parent == below || parent.is_below(below));
            implied.extend(key.parent().filter(within));
        }
        let explicit: HashSet<Vec<String>> = all.iter().map(|(_, found)| found.elements.clone()).collect();
        let implied = implied.into_iter().map(|key| (Namespace::implicit(&key), key));
        all.extend(
            implied.filter(|(found, _)| !explicit.contains(&found.elements)).map(|(found, key)| (key, found)),
        );
        let check = all.iter().fold(Check::default(), |check, (key, _)| {
            check.and_key(Access::ReadContentKey, reference.as_ref(), key, Some(ContentType::Namespace))
        });
        let visible = if all.is_empty() { Vec::new() } else { self.visible(who, &check).await? };
        let shown = all.into_iter().zip(visible).filter(|(_, visible)| *visible);
        Ok(shown.map(|((_, found), _)| found).collect())
    }

    /// Creates a namespace.
    pub async fn create_namespace(
        &self,
        who: &Principal,
        branch: &str,
        name: &Name,
        id: GivenId,
        properties: BTreeMap<String, String>,
    ) -> Result<Namespace, Error> {
        let (branch, state) = self.open_to_write(who, branch, Access::CreateContent, name).await?;
        let exists = || Error::NamespaceExists(format!("Namespace '{}' already exists", name.shown));
        match state.entry(&name.key.index_key()).await? {
            Some(entry) if entry.content_type != ContentType::Namespace => {
                return Err(Error::NamespaceExists(format!(
                    "Another content object with name '{}' already exists",
                    name.shown
                )));
            }
            Some(_) => return Err(exists()),
            None if has_children(&state, &name.key).await? => return Err(exists()),
            None => must_be_branch(&branch)?,
        }
        let elements: Vec<String> = name.key.elements().iter().map(ToString::to_string).collect();
        let content = Content::Namespace { elements: elements.clone(), properties: properties.clone() };
        let put = Operation::Put { key: name.key.clone(), content, id };
        let message = format!("create namespace '{}'", name.in_messages);
        let added = match self.commit_one(who, &branch, put, message).await {
            // The real server reports the conflicts of its inner commit like this, and clients know it.
            Err(Error::Conflict { message, conflicts }) => {
                let exists_now = conflicts.iter().any(|conflict| conflict.kind == ConflictKind::KeyExists);
                return Err(if exists_now { exists() } else { Error::ReferenceNotFound(message) });
            }
            other => other?,
        };
        let id = added.first().map(|(_, id)| *id);
        Ok(Namespace { id, elements, properties })
    }

    /// Removes and then sets properties of a namespace.
    pub async fn update_namespace(
        &self,
        who: &Principal,
        branch: &str,
        name: &Name,
        updates: BTreeMap<String, String>,
        removals: &[String],
    ) -> Result<(), Error> {
        let (branch, state) = self.open_to_write(who, branch, Access::UpdateContent, name).await?;
        let found = find(&state, name).await?;
        must_be_branch(&branch)?;
        let mut properties = found.properties;
        for removal in removals {
            properties.remove(removal);
        }
        properties.extend(updates);
        let content = Content::Namespace { elements: found.elements, properties };
        let id = found.id.map_or(GivenId::New, GivenId::Id);
        let put = Operation::Put { key: name.key.clone(), content, id };
        let message = format!("update properties for namespace '{}'", name.in_messages);
        self.commit_one(who, &branch, put, message).await.map(drop)
    }

    /// Deletes a namespace that has nothing below it.
    pub async fn delete_namespace(&self, who: &Principal, branch: &str, name: &Name) -> Result<(), Error> {
        let (branch, state) = self.open_to_write(who, branch, Access::DeleteContent, name).await?;
        let not_empty = || Error::NamespaceNotEmpty(name.shown.clone());
        let found = find(&state, name).await;
        match children(&state, &name.key).await? {
            Children::None => {}
            // The commit would find these, and there is none without a branch.
            Children::Namespaces if found.is_ok() => {
                must_be_branch(&branch)?;
                return Err(not_empty());
            }
            Children::Namespaces | Children::Contents => return Err(not_empty()),
        }
        found?;
        must_be_branch(&branch)?;
        let message = format!("delete namespace '{}'", name.in_messages);
        match self.commit_one(who, &branch, Operation::Delete(name.key.clone()), message).await {
            Err(Error::Conflict { conflicts, .. })
                if conflicts.iter().any(|conflict| conflict.kind == ConflictKind::NamespaceNotEmpty) =>
            {
                Err(not_empty())
            }
            other => other.map(drop),
        }
    }

    /// The reference that a namespace is changed on, and the state at its head.
    async fn open_to_write(
        &self,
        who: &Principal,
        branch: &str,
        access: Access,
        name: &Name,
    ) -> Result<(Reference, State), Error> {
        let point = Point::head(branch);
        let asked = point.ref_name();
        let check = Check::on(Access::Commit, asked.as_ref());
        let namespace = Some(ContentType::Namespace);
        self.authorize(who, &check.and_key(access, asked.as_ref(), &name.key, namespace)).await?;
        let found = self.find_reference(branch).await?;
        let state = self.engine().at(found.target).await?;
        Ok((found, state))
    }

    async fn commit_one(
        &self,
        who: &Principal,
        branch: &Reference,
        operation: Operation,
        message: String,
    ) -> Result<Vec<(ContentKey, ContentId)>, Error> {
        let meta = GivenMeta { message, ..GivenMeta::default() }.by(who)?;
        let request = Request {
            operations: vec![operation],
            ..Request::new(branch.name.clone(), branch.target, meta, who.who())
        };
        Ok(self.engine().commit(request).await?.added)
    }
}

/// A tag is no branch of its name.
fn must_be_branch(found: &Reference) -> Result<(), Error> {
    match found.kind {
        RefKind::Branch => Ok(()),
        RefKind::Tag => Err(Error::ReferenceNotFound(format!("Named reference '{}' not found", found.name))),
    }
}

fn at_or_below(key: &ContentKey) -> Range {
    let index_key = key.index_key();
    let mut range = Range::below(&index_key);
    range.start = index_key.as_bytes().to_vec();
    range
}

/// What lies below a namespace.
enum Children {
    None,
    Namespaces,
    Contents,
}

async fn children(state: &State, key: &ContentKey) -> Result<Children, Error> {
    let mut below = state.entries(&Range::below(&key.index_key())).await?;
    let mut found = Children::None;
    while let Some(item) = below.next().await? {
        tokio::task::consume_budget().await;
        if item.entry.content_type != ContentType::Namespace {
            return Ok(Children::Contents);
        }
        found = Children::Namespaces;
    }
    Ok(found)
}

async fn has_children(state: &State, key: &ContentKey) -> Result<bool, Error> {
    Ok(state.entries(&Range::below(&key.index_key())).await?.next().await?.is_some())
}

async fn find(state: &State, name: &Name) -> Result<Namespace, Error> {
    match state.content(&name.key).await? {
        Some((entry, Content::Namespace { elements, properties })) => {
            Ok(Namespace { id: Some(entry.content_id), elements, properties })
        }
        Some(_) => Err(name.not_found()),
        None if has_children(state, &name.key).await? => Ok(Namespace::implicit(&name.key)),
        None => Err(name.not_found()),
    }
}
