//! Taking in a repository part by part: each part is written in one batch with the place reached, references appear all
//! together at the end.

mod commits;
mod drop;
mod finish;
mod references;
mod state;
mod take;

use bytes::Bytes;
use lochan_storage_model::{CommitId, CommitMeta, Content, ContentKey, Micros, ObjectId, SystemPath};
use lochan_storage_odb::{Record, RecordSpace, RefKind};
use tokio::sync::OwnedSemaphorePermit;

pub use commits::ImportedCommit;
pub use references::ImportedReference;
pub use state::{Existing, Progress, SourceKind, State};

use self::state::Kept;
use super::Refusal;
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Most references of one import; they appear in one batch.
pub const REFERENCES_MAX: u64 = 100_000;
/// Most imports of one page of their list.
pub const PAGE_IMPORTS_MAX: usize = 1_000;
/// Longest name of an import, in characters.
pub const ID_CHARS_MAX: usize = 64;
/// Name of the property that holds the hash a commit had at its source.
pub const SOURCE_HASH_PROPERTY: &str = "import.source-hash";

/// What an import was asked to do. Fixed by its first request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Put in front of every reference's name.
    pub prefix: Option<String>,
    /// What happens to references that exist.
    pub existing: Option<Existing>,
}

/// Id of a commit at its source: 4 to 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(Vec<u8>);

impl SourceId {
    /// Wraps 4 to 32 bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (4..=32).contains(&bytes.len()).then_some(Self(bytes))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same id as one of our own, if it has its length.
    fn own(&self) -> Option<CommitId> {
        let bytes = <[u8; 32]>::try_from(self.0.as_slice()).ok()?;
        Some(CommitId::new(ObjectId::from_bytes(bytes)))
    }

    fn is_no_ancestor(&self) -> bool {
        self.own().is_some_and(CommitId::is_no_ancestor)
    }
}

impl std::fmt::Display for SourceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a part of the stream brings, in the order of the stream.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// References.
    pub references: Vec<Reference>,
    /// Objects that live as long as commits.
    pub attachments: Vec<(ObjectId, Bytes)>,
    /// Commits, parents first.
    pub commits: Vec<Commit>,
}

/// A reference of the stream.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Branch or tag.
    pub kind: RefKind,
    /// Its name at the source.
    pub name: String,
    /// Where it points.
    pub target: SourceId,
}

/// A commit of the stream.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its id at the source.
    pub id: SourceId,
    /// Its parents; none for a root.
    pub parents: Vec<SourceId>,
    /// Its time.
    pub time: Micros,
    /// What it says about itself.
    pub meta: CommitMeta,
    /// Objects that live as long as it does.
    pub attachments: Vec<ObjectId>,
    /// What it did.
    pub operations: Vec<Operation>,
}

/// What a commit of the stream did to a key.
#[derive(Debug, Clone)]
pub enum Operation {
    /// The key holds this from then on.
    Put {
        /// The key.
        key: ContentKey,
        /// Id of the content, as the source writes it.
        id: String,
        /// The content.
        content: Content,
    },
    /// The key holds nothing from then on.
    Delete(ContentKey),
    /// A value of the system map, canonical JSON; `None` removes it.
    System(SystemPath, Option<String>),
}

/// An import at work.
pub struct Import {
    catalog: Catalog,
    who: Principal,
    id: String,
    options: Options,
    /// What is stored of it; nothing before its header was read.
    kept: Option<Kept>,
    _permit: OwnedSemaphorePermit,
}

impl Catalog {
    /// Begins an import, or goes on with one.
    pub async fn import(&self, who: &Principal, id: &str, options: Options) -> Result<Import, Error> {
        self.authorize(who, &Check::on(Access::ImportRepository, None)).await?;
        check_id(id)?;
        let permit = self.transfers().begin_import()?;
        let kept = Kept::load(self, id).await?;
        if let Some(kept) = &kept {
            kept.state.check_not_dropped(id)?;
            kept.state.check_options(&options)?;
        }
        // It was admitted with its first request, and each part stands for itself: nothing is given up half way.
        let who = Principal { admission: crate::access::Admission::default(), ..who.clone() };
        Ok(Import { catalog: self.clone(), who, id: id.to_owned(), options, kept, _permit: permit })
    }

    /// Imports by name, at most `limit` behind `after`, and where each stands.
    pub async fn imports(
        &self,
        who: &Principal,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, State)>, Error> {
        self.authorize(who, &Check::on(Access::ImportRepository, None)).await?;
        let limit = limit.min(PAGE_IMPORTS_MAX + 1);
        let after = state::key(after.unwrap_or_default());
        let rows = self.engine().store().records(RecordSpace::Run, Some(&after), limit).await?;
        let of_import = |(key, record): (Bytes, Record)| Some((state::id_of(&key)?, record));
        rows.into_iter()
            .map_while(of_import)
            .map(|(id, record)| Ok((id, Kept::read(&record)?.state)))
            .collect()
    }

    /// Where an import stands.
    pub async fn import_state(&self, who: &Principal, id: &str) -> Result<State, Error> {
        self.authorize(who, &Check::on(Access::ImportRepository, None)).await?;
        check_id(id)?;
        let kept = Kept::load(self, id).await?;
        Ok(kept.ok_or_else(|| Refusal::ImportNotFound(id.to_owned()))?.state)
    }
}

impl Import {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it stands; `None` before its header was read.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        self.kept.as_ref().map(|kept| &kept.state)
    }

    fn kept(&self) -> Result<&Kept, Error> {
        self.kept.as_ref().ok_or_else(|| Refusal::ImportNotFound(self.id.clone()).into())
    }
}

/// The name of an import is part of record keys and paths.
fn check_id(id: &str) -> Result<(), Error> {
    let legal = (1..=ID_CHARS_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if legal {
        return Ok(());
    }
    Err(Error::BadRequest(format!(
        "the id of an import must be 1 to {ID_CHARS_MAX} letters, digits, '-' or '_'"
    )))
}

/// A refusal of what the stream says.
fn wrong(message: impl Into<String>) -> Error {
    Refusal::Stream(message.into()).into()
}
