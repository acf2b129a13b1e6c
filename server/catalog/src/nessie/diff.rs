//! Differences between two states.

use lochan_storage_engine::{index::Range, state::State};
use lochan_storage_model::{CommitId, Content, ContentId, ContentKey, Entry, RefName};

use super::{
    Page, Point, Start,
    entries::Restriction,
    filter::{Filter, Kind, values},
    page::{Filling, Mark},
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    point::Effective,
};

/// Where a page of a diff begins, and the states compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The state on the left.
    pub from: CommitId,
    /// The state on the right.
    pub to: CommitId,
    /// The first key to show.
    pub key: ContentKey,
    /// What the diff was asked for.
    pub asked: Mark,
}

/// A diff asked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Which keys.
    pub only: Restriction,
    /// A filter expression.
    pub filter: Option<String>,
    /// Most keys of a page; all without it.
    pub size: Option<usize>,
    /// Where to begin.
    pub resume: Start<Resume>,
}

/// One side of a key that differs.
pub type Side = Option<(ContentId, Content)>;

/// A key that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The key.
    pub key: ContentKey,
    /// What it holds on the left.
    pub from: Side,
    /// What it holds on the right.
    pub to: Side,
}

/// A page of a diff, and the states compared.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The state on the left.
    pub from: Effective,
    /// The state on the right.
    pub to: Effective,
    /// The keys, in key order.
    pub page: Page<Difference, Resume>,
}

type Pair = (ContentKey, Option<Entry>, Option<Entry>);

impl Catalog {
    /// The keys that differ between two states and that the principal may see on both, in key order.
    pub async fn diff(
        &self,
        who: &Principal,
        from: &Point,
        to: &Point,
        query: &Query,
    ) -> Result<Compared, Error> {
        let resume = query.resume.token();
        let rights = (
            self.rights_on(from, resume.map(|resume| resume.from)).await?,
            self.rights_on(to, resume.map(|resume| resume.to)).await?,
        );
        let check = Check::on(Access::ViewReference, rights.0.as_ref());
        self.authorize(who, &check.and(Access::ViewReference, rights.1.as_ref())).await?;
        let asked = Mark::of(&[from, to]);
        let mut from = self.resolve_point(from, "\"From\" hash").await?;
        let mut to = self.resolve_point(to, "\"To\" hash").await?;
        if let Some(resume) = resume {
            if resume.asked != asked && (resume.from, resume.to) != (from.commit, to.commit) {
                return Err(Mark::refuse());
            }
            (from.commit, to.commit) = (resume.from, resume.to);
        }
        let filter = self.filters().compile(Kind::Differences, query.filter.as_deref())?;
        let bounds = query.only.bounds(false)?;
        let (left, right) = (self.engine().at(from.commit).await?, self.engine().at(to.commit).await?);
        query.resume.check()?;
        self.check_bounds(&bounds, from.commit, &left).await?;
        self.check_bounds(&bounds, to.commit, &right).await?;
        let mut range = bounds.range;
        if let Some(resume) = resume {
            range = range.from(resume.key.index_key().as_bytes());
        }
        let mut source = Source::new(&left, &right, &query.only, range).await?;
        let mut page: Filling<Pair> = Filling::new(query.size);
        while !page.is_done() {
            let chunk = source.chunk(page.chunk(), filter.as_ref()).await?;
            if chunk.is_empty() {
                break;
            }
            let visible = self.visible_on_both(who, (rights.0.as_ref(), rights.1.as_ref()), &chunk).await?;
            for (pair, _) in chunk.into_iter().zip(visible).filter(|(_, visible)| *visible) {
                page.push(pair);
            }
        }
        let (pairs, next) = page.finish();
        let mut items = Vec::with_capacity(pairs.len());
        for (key, before, after) in pairs {
            let (before, after) = (side(&left, before).await?, side(&right, after).await?);
            items.push(Difference { key, from: before, to: after });
        }
        let next = next.map(|(key, ..)| Resume { from: from.commit, to: to.commit, key, asked });
        Ok(Compared { from, to, page: Page { items, next } })
    }

    async fn visible_on_both(
        &self,
        who: &Principal,
        (from, to): (Option<&RefName>, Option<&RefName>),
        chunk: &[Pair],
    ) -> Result<Vec<bool>, Error> {
        let check = chunk.iter().fold(Check::default(), |check, (key, before, after)| {
            let content_type = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.content_type);
            check.and_key(Access::ReadContentKey, from, key, content_type(before)).and_key(
                Access::ReadContentKey,
                to,
                key,
                content_type(after),
            )
        });
        let answers = self.visible(who, &check).await?;
        Ok(answers.chunks(2).map(|both| both.iter().all(|visible| *visible)).collect())
    }
}

async fn side(state: &State, entry: Option<Entry>) -> Result<Side, Error> {
    match entry {
        Some(entry) => Ok(Some((entry.content_id, state.content_of(&entry).await?))),
        None => Ok(None),
    }
}

/// Where the keys of a diff come from.
enum Source {
    /// Both indexes, compared.
    Changes(Box<lochan_storage_engine::state::Changes>),
    /// Single keys, the next one last.
    Keys { states: Box<(State, State)>, keys: Vec<ContentKey> },
}

impl Source {
    async fn new(left: &State, right: &State, only: &Restriction, range: Range) -> Result<Self, Error> {
        Ok(match only.picked(&range) {
            Some(mut keys) => {
                keys.reverse();
                Self::Keys { states: Box::new((left.clone(), right.clone())), keys }
            }
            None => Self::Changes(Box::new(left.diff(right, &range).await?)),
        })
    }

    /// At most `size` further keys that differ and that the filter accepts; none means that there are no more.
    async fn chunk(&mut self, size: usize, filter: Option<&Filter>) -> Result<Vec<Pair>, Error> {
        let mut chunk = Vec::with_capacity(size.min(64));
        while chunk.len() < size {
            tokio::task::consume_budget().await;
            let Some(pair) = self.next().await? else { break };
            let accepted = match filter {
                Some(filter) => filter.accepts(&values::Key(&pair.0))?,
                None => true,
            };
            if accepted {
                chunk.push(pair);
            }
        }
        Ok(chunk)
    }

    async fn next(&mut self) -> Result<Option<Pair>, Error> {
        match self {
            Self::Changes(changes) => loop {
                let Some(change) = changes.next().await? else { return Ok(None) };
                if let Some(key) = change.key.content() {
                    return Ok(Some((key, change.from, change.to)));
                }
            },
            Self::Keys { states, keys } => {
                let (left, right) = states.as_ref();
                while let Some(key) = keys.pop() {
                    let index_key = key.index_key();
                    let (before, after) = (left.entry(&index_key).await?, right.entry(&index_key).await?);
                    if before != after {
                        return Ok(Some((key, before, after)));
                    }
                }
                Ok(None)
            }
        }
    }
}
