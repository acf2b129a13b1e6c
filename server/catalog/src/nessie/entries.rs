//! Listing the keys of a state.

use lochan_storage_engine::{
    Error as EngineError,
    index::Range,
    state::{Entries, State},
};
use lochan_storage_model::{CommitId, Content, ContentId, ContentKey, ContentType, Entry, RefName};

use super::{
    Page, Point, Start,
    filter::{Filter, Kind, values},
    page::{Filling, Mark},
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    point::Effective,
};

/// Which keys are asked for; each part narrows the others.
#[derive(Debug, Clone, Default)]
pub struct Restriction {
    /// Only these; none for all.
    pub keys: Option<Vec<ContentKey>>,
    /// The lowest, inclusive.
    pub min: Option<ContentKey>,
    /// The highest, inclusive; not what lies below it.
    pub max: Option<ContentKey>,
    /// This one and everything below it.
    pub prefix: Option<ContentKey>,
}

impl Restriction {
    /// The range of keys. With `by_keys`, the keys asked for are bounds too.
    pub(crate) fn bounds(&self, by_keys: bool) -> Result<Bounds, Error> {
        if self.prefix.is_some() && (self.min.is_some() || self.max.is_some()) {
            let message = "Combining prefixKey with either minKey or maxKey is not supported.";
            return Err(Error::BadRequest(message.into()));
        }
        let mut range = Range::content();
        if let Some(prefix) = &self.prefix {
            let key = prefix.index_key();
            // Everything below a key begins with its bytes and a separator, and nothing else stands between.
            let below = Range::below(&key);
            range = range.from(key.as_bytes());
            range.end = below.end;
        }
        if let Some(min) = &self.min {
            range = range.from(min.index_key().as_bytes());
        }
        if let Some(max) = &self.max {
            let mut end = max.index_key().as_bytes().to_vec();
            end.push(0);
            range = range.until(&end);
        }
        let keys = self.keys.as_deref().filter(|_| by_keys).unwrap_or_default();
        let lower = self.min.as_ref().into_iter().chain(keys.iter().min()).max();
        let upper = self.max.as_ref().into_iter().chain(keys.iter().max()).min();
        let bounded = self.min.is_some() || self.max.is_some();
        let between = match (lower, upper) {
            (Some(lower), Some(upper)) if bounded && lower > upper => {
                let mut behind_upper = upper.index_key().as_bytes().to_vec();
                behind_upper.push(0);
                let between = Range::content().from(&behind_upper).until(lower.index_key().as_bytes());
                range.end = Some(range.start.clone());
                Some(between)
            }
            _ => None,
        };
        Ok(Bounds { range, between })
    }

    /// The keys asked for that lie in `range`, in order, each once; `None` for all.
    pub(crate) fn picked(&self, range: &Range) -> Option<Vec<ContentKey>> {
        let asked = self.keys.as_ref()?;
        let mut keys: Vec<ContentKey> =
            asked.iter().filter(|key| range.contains(&key.index_key())).cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        Some(keys)
    }
}

/// The range of keys that a listing or diff is about.
pub(crate) struct Bounds {
    /// The range; empty where the bounds are the wrong way round.
    pub(crate) range: Range,
    /// What lies between bounds that are the wrong way round.
    between: Option<Range>,
}

impl Catalog {
    /// Bounds that are the wrong way round are told where a key lies between them, or did until this very commit, as the
    /// reference server does.
    pub(crate) async fn check_bounds(
        &self,
        bounds: &Bounds,
        commit: CommitId,
        state: &State,
    ) -> Result<(), Error> {
        let Some(between) = &bounds.between else { return Ok(()) };
        let mut lies_between = state.entries(between).await?.next().await?.is_some();
        if !lies_between && !commit.is_no_ancestor() {
            let newest = self.engine().log(commit).next().await?;
            let mut operations = newest.iter().flat_map(|entry| &entry.commit.operations);
            lies_between = operations.any(|operation| between.contains(operation.key()));
        }
        if lies_between {
            return Err(Error::BadRequest("'to' must be greater than 'from'".into()));
        }
        Ok(())
    }
}

/// Where a page of a listing begins, and the state that the listing is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The state.
    pub commit: CommitId,
    /// The first key to show.
    pub key: ContentKey,
    /// What the listing was asked for.
    pub asked: Mark,
}

/// A listing asked for.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// Which keys.
    pub only: Restriction,
    /// Whether contents are filled in.
    pub contents: bool,
    /// A filter expression.
    pub filter: Option<String>,
    /// Keys are cut to this many elements; what is longer counts as a namespace, once.
    pub depth: Option<usize>,
    /// Most keys of a page; all without it.
    pub size: Option<usize>,
    /// Where to begin.
    pub from: Start<Resume>,
}

/// A key of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The key.
    pub key: ContentKey,
    /// Type of its content.
    pub content_type: ContentType,
    /// Id of its content; `None` for what was cut.
    pub id: Option<ContentId>,
    /// The content, if asked for.
    pub content: Option<Box<Content>>,
}

impl Catalog {
    /// Lists the keys of a state that the principal may see, in key order.
    pub async fn list_entries(
        &self,
        who: &Principal,
        point: &Point,
        list: &List,
    ) -> Result<(Effective, Page<Listed, Resume>), Error> {
        let rights = self.rights_on(point, list.from.token().map(|from| from.commit)).await?;
        self.authorize(who, &Check::on(Access::ReadEntries, rights.as_ref())).await?;
        let mut effective = self.resolve_point(point, "Expected hash").await?;
        let filter = self.filters().compile(Kind::Entries, list.filter.as_deref())?;
        let bounds = list.only.bounds(true)?;
        let asked = Mark::of(&[point]);
        if let Some(from) = list.from.token() {
            if from.asked != asked && from.commit != effective.commit {
                return Err(Mark::refuse());
            }
            // The pages of one listing show one state, wherever the reference is by now.
            effective.commit = from.commit;
        }
        let state = self.engine().at(effective.commit).await?;
        if !effective.commit.is_no_ancestor() {
            list.from.check()?;
        }
        self.check_bounds(&bounds, effective.commit, &state).await?;
        let mut range = bounds.range;
        if let Some(from) = list.from.token() {
            range = range.from(from.key.index_key().as_bytes());
        }
        let mut source = Source::new(&state, &list.only, range, list.depth).await?;
        let mut page: Filling<Listed> = Filling::new(list.size);
        while !page.is_done() {
            let chunk = source.chunk(&state, page.chunk(), filter.as_ref()).await?;
            if chunk.is_empty() {
                break;
            }
            let visible = self.visible_keys(who, rights.as_ref(), &chunk).await?;
            for ((key, entry), _) in chunk.into_iter().zip(visible).filter(|(_, visible)| *visible) {
                let content = match &entry {
                    Some(entry) if list.contents => Some(Box::new(state.content_of(entry).await?)),
                    _ => None,
                };
                let content_type = entry.as_ref().map_or(ContentType::Namespace, |entry| entry.content_type);
                page.push(Listed { key, content_type, id: entry.map(|entry| entry.content_id), content });
            }
        }
        let (items, next) = page.finish();
        let next = next.map(|listed| Resume { commit: effective.commit, key: listed.key, asked });
        Ok((effective, Page { items, next }))
    }

    async fn visible_keys(
        &self,
        who: &Principal,
        rights: Option<&RefName>,
        chunk: &[(ContentKey, Option<Entry>)],
    ) -> Result<Vec<bool>, Error> {
        let check = chunk.iter().fold(Check::default(), |check, (key, entry)| {
            let content_type = entry.as_ref().map(|entry| entry.content_type);
            check.and_key(Access::ReadContentKey, rights, key, content_type)
        });
        self.visible(who, &check).await
    }
}

/// Where the keys of a listing come from.
enum Source {
    /// A range.
    Range(Box<Ranged>),
    /// Single keys, the next one last.
    Keys(Vec<ContentKey>),
}

/// A range of keys, perhaps cut to a depth.
struct Ranged {
    entries: Entries,
    range: Range,
    depth: Option<usize>,
}

impl Source {
    async fn new(
        state: &State,
        only: &Restriction,
        range: Range,
        depth: Option<usize>,
    ) -> Result<Self, EngineError> {
        Ok(match only.picked(&range) {
            Some(mut keys) => {
                keys.reverse();
                Self::Keys(keys)
            }
            None => Self::Range(Box::new(Ranged { entries: state.entries(&range).await?, range, depth })),
        })
    }

    /// At most `size` further keys that the filter accepts; none means that there are no more.
    async fn chunk(
        &mut self,
        state: &State,
        size: usize,
        filter: Option<&Filter>,
    ) -> Result<Vec<(ContentKey, Option<Entry>)>, Error> {
        let mut chunk = Vec::with_capacity(size.min(64));
        while chunk.len() < size {
            tokio::task::consume_budget().await;
            let Some((key, entry)) = self.next(state).await? else { break };
            // What is too short is left out before the filter is asked, which it may not fit.
            if matches!(self, Self::Range(ranged) if ranged.depth.is_some_and(|depth| key.elements().len() < depth))
            {
                continue;
            }
            if let Some(filter) = filter
                && !filter.accepts(&values::Entry { key: &key, content_type: entry.content_type })?
            {
                continue;
            }
            match self {
                Self::Range(ranged) => {
                    let Some(depth) = ranged.depth else {
                        chunk.push((key, Some(entry)));
                        continue;
                    };
                    if key.elements().len() == depth {
                        chunk.push((key, Some(entry)));
                        continue;
                    }
                    let Ok(cut) = ContentKey::new(key.elements().iter().take(depth).cloned()) else {
                        continue;
                    };
                    // Everything else below it would be the same again.
                    let behind = Range::below(&cut.index_key()).end.unwrap_or_default();
                    ranged.entries = state.entries(&ranged.range.clone().from(&behind)).await?;
                    if chunk.last().is_none_or(|(last, _)| *last != cut) {
                        chunk.push((cut, None));
                    }
                }
                Self::Keys(_) => chunk.push((key, Some(entry))),
            }
        }
        Ok(chunk)
    }

    async fn next(&mut self, state: &State) -> Result<Option<(ContentKey, Entry)>, Error> {
        match self {
            Self::Range(ranged) => loop {
                let Some(item) = ranged.entries.next().await? else { return Ok(None) };
                // Ranges of contents hold nothing else; bytes that are no key would be damage, reported by fsck.
                if let Some(key) = item.key.content() {
                    return Ok(Some((key, item.entry.clone())));
                }
            },
            Self::Keys(keys) => {
                while let Some(key) = keys.pop() {
                    if let Some(entry) = state.entry(&key.index_key()).await? {
                        return Ok(Some((key, entry)));
                    }
                }
                Ok(None)
            }
        }
    }
}
