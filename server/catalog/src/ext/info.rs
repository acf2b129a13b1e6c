//! What the server says of itself.

use lochan_storage_files::Warehouse;

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

impl Catalog {
    /// The warehouses, for those who may see the default branch: as clients of the Iceberg API are told of them.
    pub async fn warehouses_for(&self, who: &Principal) -> Result<Vec<&Warehouse>, Error> {
        let mut shown = Vec::new();
        for warehouse in self.warehouses().iter() {
            let check = Check {
                warehouse: Some(warehouse.name().to_owned()),
                ..Check::on(Access::ViewReference, Some(&self.settings().default_branch))
            };
            if self.visible(who, &check).await?.into_iter().all(|allowed| allowed) {
                shown.push(warehouse);
            }
        }
        Ok(shown)
    }
}
