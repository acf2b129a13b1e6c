use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::add_schema::next_id;
use crate::Error;
use crate::schema::Index;
use crate::sort::{SortOrder, UNSORTED_ID};
use crate::table::apply::Builder;

/// Adds a sort order, bound to the current schema. An equal one is reused; without fields it is the unsorted one, 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AddSortOrder {
    /// The order; its id is a hint.
    pub sort_order: SortOrder,
}

impl AddSortOrder {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let hint = self.sort_order.order_id;
        let orders = &mut builder.metadata.sort_orders;
        if self.sort_order.fields.is_empty() {
            if !orders.iter().any(|o| o.order_id == UNSORTED_ID) {
                orders.insert(0, Arc::new(SortOrder::unsorted()));
            }
            builder.orders.note(hint, UNSORTED_ID);
            return Ok(());
        }
        if let Some(id) = orders.iter().find(|o| o.same_as(&self.sort_order)).map(|o| o.order_id) {
            builder.orders.note(hint, id);
            return Ok(());
        }
        let highest = orders.last().map_or(UNSORTED_ID, |o| o.order_id.max(UNSORTED_ID));
        let id = next_id(Some(highest), "sort order")?;
        self.sort_order.check(&Index::of(builder.binding_schema("sort order")?)?)?;
        builder.metadata.sort_orders.push(Arc::new(SortOrder { order_id: id, ..self.sort_order.clone() }));
        builder.orders.note(hint, id);
        Ok(())
    }
}
