//! What the server says about itself.

use lochan_storage_model::{CommitId, Micros, RefName};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// The facts that clients start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Name of the default branch.
    pub default_branch: RefName,
    /// The empty state.
    pub no_ancestor: CommitId,
    /// When the repository was made; no commit is older.
    pub created: Option<Micros>,
}

impl Catalog {
    /// The facts that clients start from.
    pub async fn server_config(&self, who: &Principal) -> Result<ServerConfig, Error> {
        self.authorize(who, &Check::on(Access::Connect, None)).await?;
        let created = self.about().await?.map(|about| about.created_us);
        Ok(ServerConfig {
            default_branch: self.settings().default_branch.clone(),
            no_ancestor: CommitId::NO_ANCESTOR,
            created,
        })
    }
}
