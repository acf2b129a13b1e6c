//! Listings in pages. A page is of the state that the first one showed, whatever was committed since.

use lochan_storage_engine::{index::Range, state::State};
use lochan_storage_model::{CommitId, ContentKey, ContentType, IndexKey, RefName};

use super::{
    Iceberg,
    place::{Namespace, Place, content_type, missing, namespace_key, require_namespace},
};
use crate::{
    access::{Access, Check, Principal},
    error::{Error, ObjectKind},
    nessie::page::Filling,
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
        let reading = self.reading(who, &place.point).await?;
        let rights = reading.rights.as_ref();
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
        let mut check = Check::on(Access::ReadEntries, rights);
        if let Some(key) = &parent {
            check = check.and_key(Access::ReadContentKey, rights, key, Some(ContentType::Namespace));
        }
        self.authorize(who, &check).await?;
        if let Some(key) = &parent {
            match require_namespace(&state, key).await {
                Err(Error::ObjectNotFound { .. }) => return Err(missing(ObjectKind::Namespace, key)),
                other => other?,
            }
        }
        let wanted = content_type(kind);
        let mut children = Children::new(&state, parent.as_ref(), page, wanted)?;
        let size = match page {
            PageRequest::All => None,
            PageRequest::First(size) | PageRequest::After { size, .. } => Some(*size),
        };
        let mut filling = Filling::new(size);
        while !filling.is_done() {
            let chunk = children.chunk(filling.chunk()).await?;
            if chunk.is_empty() {
                break;
            }
            let visible = self.visible_children(who, rights, &chunk, wanted).await?;
            for (key, _) in chunk.into_iter().zip(visible).filter(|(_, visible)| *visible) {
                filling.push(key);
            }
        }
        let (keys, further) = filling.finish();
        // The next page begins behind the last key shown.
        let last = keys.last().filter(|_| further.is_some());
        let next = last.map(|last| (state.commit(), last.index_key().as_bytes().to_vec()));
        Ok(Listed { keys, next })
    }

    async fn visible_children(
        &self,
        who: &Principal,
        rights: Option<&RefName>,
        keys: &[ContentKey],
        content_type: ContentType,
    ) -> Result<Vec<bool>, Error> {
        if self.is_open() {
            return Ok(vec![true; keys.len()]);
        }
        let check = keys.iter().fold(Check::default(), |check, key| {
            check.and_key(Access::ReadContentKey, rights, key, Some(content_type))
        });
        self.visible(who, &check).await
    }
}

/// The direct children of a type, in order. Subtrees of namespaces are jumped over.
struct Children<'s> {
    state: &'s State,
    /// All there can be.
    all: Range,
    /// What was not looked at yet; `None` when all was.
    rest: Option<Range>,
    depth: usize,
    wanted: ContentType,
}

impl<'s> Children<'s> {
    fn new(
        state: &'s State,
        parent: Option<&ContentKey>,
        page: &PageRequest,
        wanted: ContentType,
    ) -> Result<Self, Error> {
        let all = parent.map_or_else(Range::content, |key| Range::below(&key.index_key()));
        let depth = parent.map_or(0, |key| key.elements().len()) + 1;
        let rest = match page {
            PageRequest::All | PageRequest::First(_) => all.clone(),
            PageRequest::After { key, .. } if all.contains(&IndexKey::from_bytes(key)) => {
                all.clone().from(&behind(key))
            }
            PageRequest::After { .. } => {
                return Err(Error::BadRequest("the page token is of another listing".into()));
            }
        };
        Ok(Self { state, all, rest: Some(rest), depth, wanted })
    }

    /// At most `size` further keys; none means that there are no more.
    async fn chunk(&mut self, size: usize) -> Result<Vec<ContentKey>, Error> {
        let mut keys = Vec::with_capacity(size.min(64));
        while let Some(range) = self.rest.take() {
            let mut entries = self.state.entries(&range).await?;
            let start = loop {
                let Some(item) = entries.next().await? else { return Ok(keys) };
                let Some(key) = item.key.content() else { continue };
                if key.elements().len() > self.depth {
                    // Something below a namespace that does not exist itself: older stores may hold such.
                    let above = key.elements().iter().take(self.depth).map(|level| level.to_string());
                    let above = ContentKey::new(above).map_err(|error| Error::Internal(error.into()))?;
                    break Range::below(&above.index_key()).end;
                }
                let is_namespace = item.entry.content_type == ContentType::Namespace;
                let jump = is_namespace.then(|| Range::below(&item.key).end).flatten();
                if item.entry.content_type == self.wanted {
                    keys.push(key);
                    if keys.len() == size {
                        // An end byte that no key ends in: the first place behind this very key.
                        break jump.or_else(|| Some([item.key.as_bytes(), &[0]].concat()));
                    }
                }
                if jump.is_some() {
                    break jump;
                }
            };
            let Some(start) = start else { return Ok(keys) };
            self.rest = Some(self.all.clone().from(&start));
            if keys.len() == size {
                return Ok(keys);
            }
        }
        Ok(keys)
    }
}

/// The first key bytes behind a key and everything below it.
fn behind(key: &[u8]) -> Vec<u8> {
    Range::below(&IndexKey::from_bytes(key)).end.unwrap_or_else(|| key.to_vec())
}
