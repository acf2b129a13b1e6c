//! Page sizes and page tokens.

use std::cell::Cell;

use lochan_api_spec::syntax::token::{Token, TokenError};
use lochan_server_catalog::nessie::references::RefKind;
use lochan_server_catalog::nessie::{Mark, Point, Start, diff, entries};
use lochan_storage_model::{CommitId, ContentKey, IndexKey, ObjectId, RefName};

use serde::{Serialize, Serializer};

use super::point::{self, At};
use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::nessie::refuse::bad;

/// A list that is converted while it is written, so that a long one stands in memory once only. It can be written once.
pub struct Each<I>(Cell<Option<I>>);

impl<I> Each<I> {
    /// The elements of `items`.
    pub fn of(items: I) -> Self {
        Each(Cell::new(Some(items)))
    }
}

impl<I: Iterator> Serialize for Each<I>
where
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten())
    }
}

const REFERENCES: u8 = b'r';
const ENTRIES: u8 = b'e';
const DIFF: u8 = b'd';

const BRANCH: u8 = 0;
const TAG: u8 = 1;

/// The size of a page; none when nothing positive is asked.
pub fn size(max_records: Option<i32>) -> Option<usize> {
    max_records.and_then(|max| usize::try_from(max).ok()).filter(|max| *max > 0)
}

/// The token of a list of references.
pub fn reference_token(kind: RefKind, name: &RefName) -> String {
    let kind = match kind {
        RefKind::Branch => BRANCH,
        RefKind::Tag => TAG,
    };
    Token::new(REFERENCES).with([kind]).with(name.as_str()).encode()
}

/// Where a list of references goes on.
pub fn from_reference_token(text: &str) -> Result<(RefKind, RefName), Failure> {
    let token = Token::decode(text, REFERENCES).map_err(|error| bad(error.to_string()))?;
    let kind = match token.field(0) {
        Some([BRANCH]) => RefKind::Branch,
        Some([TAG]) => RefKind::Tag,
        _ => return Err(malformed()),
    };
    let name = token.text(1).ok().and_then(|name| RefName::new(name).ok()).ok_or_else(malformed)?;
    Ok((kind, name))
}

/// The token of a listing of entries.
pub fn entries_token(resume: &entries::Resume) -> String {
    let state = Token::new(ENTRIES).with(*resume.commit.as_bytes());
    state.with(resume.key.index_key().as_bytes()).with(*resume.asked.as_bytes()).encode()
}

/// Where a listing of entries begins.
pub fn entries_start(token: Option<&str>) -> Start<entries::Resume> {
    start(token, ENTRIES, |token| {
        Some(entries::Resume { commit: commit(token, 0)?, key: key(token, 1)?, asked: mark(token, 2)? })
    })
}

/// The token of a diff.
pub fn diff_token(resume: &diff::Resume) -> String {
    let states = Token::new(DIFF).with(*resume.from.as_bytes()).with(*resume.to.as_bytes());
    states.with(resume.key.index_key().as_bytes()).with(*resume.asked.as_bytes()).encode()
}

/// Where a diff begins.
pub fn diff_start(token: Option<&str>) -> Start<diff::Resume> {
    start(token, DIFF, |token| {
        let (from, to) = (commit(token, 0)?, commit(token, 1)?);
        Some(diff::Resume { from, to, key: key(token, 2)?, asked: mark(token, 3)? })
    })
}

fn start<R>(token: Option<&str>, kind: u8, read: impl FnOnce(&Token) -> Option<R>) -> Start<R> {
    let Some(text) = token else { return Start::First };
    let place = Token::decode(text, kind).and_then(|token| read(&token).ok_or(TokenError::Malformed));
    place.map_or_else(|error| Start::Unreadable(error.to_string()), Start::At)
}

/// Where a log goes on: the hash of a commit. That a reference is not there is told before what is wrong with the token.
pub async fn from_log_token(app: &App, req: &Req, of: &Point, text: &str) -> Result<Point, Failure> {
    match At::parse(text) {
        Ok(at) => Ok(Point { name: of.name.clone(), ..point::named("", at) }),
        Err(error) => {
            if let Some(name) = &of.name {
                app.catalog.get_reference(&req.principal(), name, false).await?;
            }
            Err(bad(error.to_string()))
        }
    }
}

fn malformed() -> Failure {
    bad(TokenError::Malformed.to_string())
}

fn commit(token: &Token, place: usize) -> Option<CommitId> {
    let bytes = <[u8; 32]>::try_from(token.field(place)?).ok()?;
    Some(CommitId::new(ObjectId::from_bytes(bytes)))
}

fn mark(token: &Token, place: usize) -> Option<Mark> {
    Mark::from_bytes(token.field(place)?)
}

fn key(token: &Token, place: usize) -> Option<ContentKey> {
    IndexKey::from_bytes(token.field(place)?).content()
}
