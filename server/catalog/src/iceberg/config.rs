//! What a client is told first.

use super::{Iceberg, place::Place};
use crate::{
    access::{Access, Check, Principal},
    error::Error,
};

/// What the configuration of a client is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetup {
    /// Name of the warehouse.
    pub warehouse: String,
    /// Where it lies.
    pub location: String,
    /// Whether it is the default one.
    pub is_default: bool,
}

impl Iceberg<'_> {
    /// Checks what a client starts with: reference and warehouse must exist.
    pub async fn client_setup(&self, who: &Principal, place: &Place) -> Result<ClientSetup, Error> {
        let warehouse = self.warehouse_of(place)?;
        let reading = self.reading(who, &place.point).await?;
        let check = Check {
            warehouse: Some(warehouse.name().to_owned()),
            ..Check::on(Access::ViewReference, reading.rights.as_ref())
        };
        self.authorize(who, &check).await?;
        Ok(ClientSetup {
            warehouse: warehouse.name().to_owned(),
            location: warehouse.location().as_str().to_owned(),
            is_default: warehouse.name() == self.warehouses().default().name(),
        })
    }
}
