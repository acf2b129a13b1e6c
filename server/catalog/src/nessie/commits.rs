//! Commits of operations on contents.

use std::collections::BTreeMap;

pub use lochan_storage_engine::commit::{GivenId, Operation};
use lochan_storage_engine::{commit::Request, state::State};
use lochan_storage_model::{CommitId, CommitMeta, ContentId, ContentKey, Instant, RefName};

use super::Point;
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Metadata of a commit as a client gives it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenMeta {
    /// The message, possibly empty.
    pub message: String,
    /// Authors; without any the committer is the author.
    pub authors: Vec<String>,
    /// Signed-off-by lines.
    pub signed_off_by: Vec<String>,
    /// When it was written; without it the commit's own time counts.
    pub author_time: Option<Instant>,
    /// Properties.
    pub properties: BTreeMap<String, Vec<String>>,
    /// Why it is refused: it set what only the server may set.
    pub refused: Option<String>,
}

impl GivenMeta {
    /// The metadata of a commit by `who`.
    pub(crate) fn by(self, who: &Principal) -> Result<CommitMeta, Error> {
        if let Some(refused) = self.refused {
            return Err(Error::BadRequest(refused));
        }
        let authors = if self.authors.is_empty() { vec![who.name.clone()] } else { self.authors };
        Ok(CommitMeta {
            committer: who.name.clone(),
            authors,
            signed_off_by: self.signed_off_by,
            message: self.message,
            author_time: self.author_time,
            properties: self.properties,
        })
    }
}

/// A commit that landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// The branch.
    pub branch: RefName,
    /// Its new head.
    pub head: CommitId,
    /// Keys that got a new content id, with it.
    pub added: Vec<(ContentKey, ContentId)>,
}

impl Catalog {
    /// Commits operations onto the head of a branch, as seen from an expected commit.
    pub async fn commit(
        &self,
        who: &Principal,
        point: &Point,
        operations: Vec<Operation>,
        meta: GivenMeta,
    ) -> Result<Landed, Error> {
        let meta = meta.by(who)?;
        let target = self.find_target(point, "commit into").await;
        let head = match &target {
            Ok(target) if !self.is_open() => Some(self.engine().at(target.branch.target).await?),
            _ => None,
        };
        let branch = point.ref_name();
        let check = check_operations(branch.as_ref(), &operations, head.as_ref()).await?;
        if let Err(refused) = self.authorize(who, &check).await {
            let blind = check_operations(branch.as_ref(), &operations, None).await?;
            return Err(self.refusal(who, refused, &blind).await?);
        }
        let target = target?;
        let branch = target.branch.name;
        let request =
            Request { operations, ..Request::new(branch.clone(), target.expected, meta, who.who()) };
        let committed = self.engine().commit(request).await?;
        Ok(Landed { branch, head: committed.head, added: committed.added })
    }
}

/// Asks about every key, with its type: that of what is put, and of what is there to be deleted. What is there decides too
/// between creating and changing; it cannot change unnoticed before the commit lands, for that would be a conflict.
async fn check_operations(
    branch: Option<&RefName>,
    operations: &[Operation],
    head: Option<&State>,
) -> Result<Check, Error> {
    let mut check = Check::on(Access::Commit, branch);
    for operation in operations {
        let held = match head {
            Some(state) => state.entry(&operation.key().index_key()).await?,
            None => None,
        };
        let held_type = held.as_ref().map(|entry| entry.content_type);
        let (access, content_type) = match operation {
            Operation::Put { content, id, .. } => {
                let creates = held.is_none() && (head.is_some() || *id == GivenId::New);
                let access = if creates { Access::CreateContent } else { Access::UpdateContent };
                (access, Some(content.content_type()))
            }
            Operation::Delete(_) => (Access::DeleteContent, held_type),
            Operation::Unchanged(_) => (Access::ReadContentKey, held_type),
        };
        check = check.and_key(access, branch, operation.key(), content_type);
    }
    Ok(check)
}
