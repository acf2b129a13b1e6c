//! Dropping tables and views: the entry goes, files stay, for other branches may need them.

use lochan_storage_engine::commit::Operation;

use super::{
    Iceberg, actions,
    author::Author,
    place::{Target, content_type, missing, name_key},
    publish::{Publication, Published, ROUNDS_MAX},
    tables::given_up,
};
use crate::{
    access::{Access, Check},
    error::{Error, ObjectKind},
};

impl Iceberg<'_> {
    /// Drops a table or view.
    pub async fn drop_object(&self, author: &Author, target: &Target, kind: ObjectKind) -> Result<(), Error> {
        let branch = self.writing(&target.point)?;
        let state = self.branch_of(&author.principal, &branch).await?;
        let key = name_key(&state, &target.name).await?;
        let wanted = content_type(kind);
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(Access::DeleteContent, Some(&branch), &key, Some(wanted))
            .during([actions::DROP]);
        self.authorize(&author.principal, &check).await?;
        let _turns = self.documents().lines.wait(&branch, std::slice::from_ref(&key)).await?;
        let word = match kind {
            ObjectKind::View => "ICEBERG_VIEW",
            ObjectKind::Table | ObjectKind::Namespace => "ICEBERG_TABLE",
        };
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            let entry = state.entry(&key.index_key()).await?;
            if entry.is_none_or(|entry| entry.content_type != wanted) {
                return Err(missing(kind, &key));
            }
            let publication = Publication {
                branch: branch.clone(),
                expected: state.commit(),
                drafts: Vec::new(),
                operations: vec![Operation::Delete(key.clone())],
                message: format!("Drop {word} {key}"),
            };
            match self.publish(author, publication).await? {
                Published::Landed(..) => return Ok(()),
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }
}
