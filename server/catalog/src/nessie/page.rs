//! Pages of lists: what is shown, and where the next page begins.

use lochan_storage_model::{ObjectId, ObjectKind};

use super::Point;
use crate::error::Error;

/// Elements looked at in one go, so that one question about access serves many.
pub(crate) const CHUNK_ELEMENTS: usize = 256;

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, N> {
    /// The elements.
    pub items: Vec<T>,
    /// The first element that was not returned; `None` when nothing follows.
    pub next: Option<N>,
}

/// Where a page begins, as its token says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Start<R> {
    /// There is no token: with the first element.
    #[default]
    First,
    /// There.
    At(R),
    /// The token cannot be read, for this reason; it is told once it is sure that there is something to list.
    Unreadable(String),
}

impl<R> Start<R> {
    /// What the token says, where there is one that can be read.
    pub(crate) const fn token(&self) -> Option<&R> {
        match self {
            Self::At(place) => Some(place),
            Self::First | Self::Unreadable(_) => None,
        }
    }

    /// Refuses a token that cannot be read.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Unreadable(reason) => Err(Error::BadRequest(reason.clone())),
            Self::First | Self::At(_) => Ok(()),
        }
    }
}

/// Tells what one listing is about from what another one is, so that none goes on where another one was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark([u8; 16]);

impl Mark {
    /// The mark of a listing that is about these points.
    pub(crate) fn of(points: &[&Point]) -> Self {
        // What is printed of two points differs wherever they do.
        let hash = ObjectId::of(ObjectKind::Attachment, format!("{points:?}").as_bytes());
        Self(hash.as_bytes().first_chunk().copied().unwrap_or_default())
    }

    /// The mark in a token.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// What is said of a token that belongs to another listing.
    pub(crate) fn refuse() -> Error {
        Error::BadRequest(
            "The page token belongs to another request: it was given for another reference or commit.".into(),
        )
    }
}

/// Fills a page and finds out whether a further element exists, for only then a page says that there is more.
#[derive(Debug)]
pub(crate) struct Filling<T> {
    size: Option<usize>,
    items: Vec<T>,
}

impl<T> Filling<T> {
    /// A page of at most `size` elements; without a size, of all.
    pub(crate) fn new(size: Option<usize>) -> Self {
        Self { size, items: Vec::new() }
    }

    /// How many elements are worth looking at before the page can be judged again.
    pub(crate) fn chunk(&self) -> usize {
        let open = self.size.map_or(CHUNK_ELEMENTS, |size| (size + 1).saturating_sub(self.items.len()));
        open.clamp(1, CHUNK_ELEMENTS)
    }

    /// Whether the page and the first element behind it are known.
    pub(crate) fn is_done(&self) -> bool {
        self.size.is_some_and(|size| self.items.len() > size)
    }

    /// Whether nothing more fits, and what follows is not known yet.
    pub(crate) fn is_full(&self) -> bool {
        self.size.is_some_and(|size| self.items.len() == size)
    }

    /// Adds an element; those behind the first one past the page are dropped.
    pub(crate) fn push(&mut self, item: T) {
        if !self.is_done() {
            self.items.push(item);
        }
    }

    /// The page, and the first element behind it.
    pub(crate) fn finish(mut self) -> (Vec<T>, Option<T>) {
        let next = if self.is_done() { self.items.pop() } else { None };
        (self.items, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_knows_what_follows() {
        let mut page = Filling::new(Some(2));
        assert_eq!(page.chunk(), 3);
        for n in 0..2 {
            page.push(n);
        }
        assert!(!page.is_done());
        page.push(2);
        page.push(3);
        assert_eq!(page.finish(), (vec![0, 1], Some(2)));
        let mut all = Filling::new(None);
        all.push(1);
        assert_eq!(all.chunk(), CHUNK_ELEMENTS);
        assert_eq!(all.finish(), (vec![1], None));
    }
}
