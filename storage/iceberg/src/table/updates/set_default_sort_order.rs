use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Makes a sort order the default for new data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetDefaultSortOrder {
    /// Id, -1 for the last added.
    pub sort_order_id: i32,
}

impl SetDefaultSortOrder {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let id = builder.orders.resolve(self.sort_order_id, |id| builder.metadata.sort_order(id).is_some());
        builder.metadata.default_sort_order_id = id.ok_or_else(|| {
            Error::Validation(match self.sort_order_id {
                -1 => "Cannot set last added sort order: no sort order has been added".to_owned(),
                id => format!("Cannot set default sort order to unknown order: {id}"),
            })
        })?;
        Ok(())
    }
}
