//! Renaming tables and views: one commit, the content id stays.

use lochan_storage_engine::commit::{GivenId, Operation};

use super::{
    Iceberg, actions,
    author::Author,
    place::{Target, content_type, missing, name_key, require_parent, type_word},
    publish::{Publication, Published, ROUNDS_MAX},
    tables::given_up,
};
use crate::{
    access::{Access, Check},
    error::{Error, ObjectKind},
};

impl Iceberg<'_> {
    /// Renames a table or view. Source and destination must name the same branch.
    pub async fn rename_object(
        &self,
        author: &Author,
        source: &Target,
        destination: &Target,
        kind: ObjectKind,
    ) -> Result<(), Error> {
        let branch = self.writing(&source.point)?;
        if self.writing(&destination.point)? != branch {
            return Err(Error::BadRequest("source and destination of a rename must be on one branch".into()));
        }
        let state = self.branch_of(&author.principal, &branch).await?;
        let from = name_key(&state, &source.name).await?;
        let to = name_key(&state, &destination.name).await?;
        let wanted = content_type(kind);
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(Access::DeleteContent, Some(&branch), &from, Some(wanted))
            .during([actions::RENAME_FROM])
            .and_key(Access::CreateContent, Some(&branch), &to, Some(wanted))
            .during([actions::RENAME_TO]);
        self.authorize(&author.principal, &check).await?;
        let _turns = self.documents().lines.wait(&branch, &[from.clone(), to.clone()]).await?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            let found = state.content(&from).await?.filter(|(entry, _)| entry.content_type == wanted);
            let (entry, content) = found.ok_or_else(|| missing(kind, &from))?;
            require_parent(&state, &to).await?;
            if let Some(taken) = state.entry(&to.index_key()).await? {
                let word = type_word(taken.content_type);
                return Err(Error::ObjectExists(format!(
                    "Cannot rename {from} to {to}. {word} already exists"
                )));
            }
            let publication = Publication {
                branch: branch.clone(),
                expected: state.commit(),
                drafts: Vec::new(),
                operations: vec![
                    Operation::Delete(from.clone()),
                    Operation::Put { key: to.clone(), content, id: GivenId::Id(entry.content_id) },
                ],
                message: format!("rename {} {from} to {to}", type_word(wanted).to_lowercase()),
            };
            match self.publish(author, publication).await? {
                Published::Landed(..) => return Ok(()),
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }
}
