//! Listings in pages. A page is of the state that the first one showed, whatever was committed since.

use lochan_storage_engine::{index::Range, state::State};
use lochan_storage_model::{CommitId, ContentKey, ContentType, IndexKey};

use super::{
    Iceberg,
    place::{Namespace, Place, content_type, missing, namespace_key, require_namespace},
};
use crate::{
    access::{Access, Check, Principal},
    error::{Error, ObjectKind},
};

/// Which part of a listing is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageRequest {
    /// Everything.
    All,
    /// The first page of at most so many.
    First(usize),
    /// The page after a key, of the state of an earlier page.
    After {
        /// The state.
        commit: CommitId,
        /// The last key that was shown.
        key: Vec<u8>,
        /// At most so many.
        size: usize,
    },
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The keys, in order.
    pub keys: Vec<ContentKey>,
    /// Where the next page begins, if there is one.
    pub next: Option<(CommitId, Vec<u8>)>,
}

impl Iceberg<'_> {
    /// Lists the direct children of a namespace that are namespaces; without one, those at the top.
    pub async fn list_namespaces(
        &self,
        who: &Principal,
        place: &Place,
        parent: Option<&Namespace>,
        page: &PageRequest,
    ) -> Result<Listed, Error> {
        self.list(who, place, parent, page, ObjectKind::Namespace).await
    }

    /// Lists the tables or views of a namespace.
    pub async fn list_objects(
        &self,
        who: &Principal,
        place: &Place,
        namespace: &Namespace,
        page: &PageRequest,
        kind: ObjectKind,
    ) -> Result<Listed, Error> {
        self.list(who, place, Some(namespace), page, kind).await
    }

    async fn list(
        &self,
        who: &Principal,
        place: &Place,
        parent: Option<&Namespace>,
        page: &PageRequest,
        kind: ObjectKind,
    ) -> Result<Listed, Error> {
        let reading = self.reading(&place.point).await?;
        let reference = reading.reference.as_ref();
        let state = match page {
            PageRequest::After { commit, .. } if *commit != reading.state.commit() => {
                // A token leads only to states that the reference has seen.
                if !self.engine().commits().is_ancestor(*commit, reading.state.commit()).await? {
                    return Err(Error::BadRequest("the page token is not of this reference".into()));
                }
                self.engine().at(*commit).await?
            }
            _ => reading.state.clone(),
        };
        let parent = match parent {
            Some(namespace) => Some(namespace_key(&state, namespace).await?),
            None => None,
        };
        let mut check = Check::on(Access::ReadEntries, reference);
        if let Some(key) = &parent {
            check = check.and_key(Access::ReadContentKey, reference, key, Some(ContentType::Namespace));
        }
        self.authorize(who, &check).await?;
        if let Some(key) = &parent {
            match require_namespace(&state, key).await {
                Err(Error::ObjectNotFound { .. }) => return Err(missing(ObjectKind::Namespace, key)),
                other => other?,
            }
        }
        children(&state, parent.as_ref(), page, content_type(kind)).await
    }
}

/// The direct children of a type. Subtrees of namespaces are jumped over.
async fn children(
    state: &State,
    parent: Option<&ContentKey>,
    page: &PageRequest,
    wanted: ContentType,
) -> Result<Listed, Error> {
    let all = parent.map_or_else(Range::content, |key| Range::below(&key.index_key()));
    let depth = parent.map_or(0, |key| key.elements().len()) + 1;
    let (size, mut range) = match page {
        PageRequest::All => (usize::MAX, all.clone()),
        PageRequest::First(size) => (*size, all.clone()),
        PageRequest::After { key, size, .. } => {
            if !all.contains(&IndexKey::from_bytes(key)) {
                return Err(Error::BadRequest("the page token is of another listing".into()));
            }
            (*size, all.clone().from(&behind(key)))
        }
    };
    let mut listed = Listed { keys: Vec::new(), next: None };
    loop {
        let mut entries = state.entries(&range).await?;
        let jump = loop {
            let Some(item) = entries.next().await? else { return Ok(listed) };
            let Some(key) = item.key.content() else { continue };
            if key.elements().len() > depth {
                // Something below a namespace that does not exist itself: older stores may hold such.
                let above = key.elements().iter().take(depth).map(|level| level.to_string());
                let above = ContentKey::new(above).map_err(|error| Error::Internal(error.into()))?;
                break Range::below(&above.index_key()).end;
            }
            if item.entry.content_type == wanted {
                if listed.keys.len() == size {
                    let last = listed.keys.last().map(|key| key.index_key().as_bytes().to_vec());
                    listed.next = last.map(|last| (state.commit(), last));
                    return Ok(listed);
                }
                listed.keys.push(key);
            }
            if item.entry.content_type == ContentType::Namespace {
                break Range::below(&item.key).end;
            }
        };
        let Some(start) = jump else { return Ok(listed) };
        range = all.clone().from(&start);
    }
}

/// The first key bytes behind a key and everything below it.
fn behind(key: &[u8]) -> Vec<u8> {
    Range::below(&IndexKey::from_bytes(key)).end.unwrap_or_else(|| key.to_vec())
}
