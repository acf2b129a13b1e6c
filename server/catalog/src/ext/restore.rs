//! Putting a reference back to a state that its log remembers.

use lochan_storage_engine::refs::{Deed, Restoration};
pub use lochan_storage_engine::refs::{Restored, Side};
use lochan_storage_odb::Reference;

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// A way back asked for.
#[derive(Debug, Clone)]
pub struct Restore {
    /// The reference, existing or not.
    pub name: String,
    /// Number of the log entry that names the state.
    pub entry: u64,
    /// Which of its two states.
    pub side: Side,
    /// Number of the newest log entry that the caller has seen.
    pub expected: u64,
    /// Nothing is changed.
    pub dry_run: bool,
}

impl Catalog {
    /// Puts a reference back. The log gets one entry more, and keeps all others.
    pub async fn restore_reference(&self, who: &Principal, restore: &Restore) -> Result<Restored, Error> {
        let name = self.logged_reference(who, &restore.name).await?;
        let Restore { entry, side, expected, .. } = *restore;
        let way = self.engine().find_restoration(&name, entry, side, expected).await?;
        let access = match way.comes_to() {
            Some(Deed::Create) => Access::CreateReference,
            Some(Deed::Delete) => Access::DeleteReference,
            Some(Deed::Move) | None => Access::AssignReference,
        };
        self.authorize(who, &Check::on(access, Some(&name))).await?;
        if way.wanted.is_none() && name == self.settings().default_branch {
            return Err(Error::BadRequest(format!("Default branch '{name}' cannot be deleted.")));
        }
        if restore.dry_run {
            let Restoration { current, wanted } = way;
            let number = current.number;
            let reference = wanted.map(|(kind, target)| Reference { name, kind, target, number });
            return Ok(Restored { changed: false, reference, entry: current });
        }
        Ok(self.engine().restore_reference(way, who.who()).await?)
    }
}
