use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::add_schema::next_id;
use crate::Error;
use crate::partition::PartitionSpec;
use crate::schema::Index;
use crate::table::apply::Builder;

/// Adds a partition spec, bound to the current schema. A compatible one is reused; the id in the request is a hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AddSpec {
    /// The spec; fields without an id are given one.
    pub spec: PartitionSpec,
}

impl AddSpec {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let hint = self.spec.spec_id;
        let metadata = &builder.metadata;
        let default = metadata.default_spec_id;
        let same = |s: &&Arc<PartitionSpec>| s.compatible_with(&self.spec);
        let found = metadata
            .partition_specs
            .iter()
            .filter(same)
            .max_by_key(|s| s.spec_id == default)
            .map(|s| s.spec_id);
        if let Some(id) = found {
            builder.specs.note(hint, id);
            return Ok(());
        }
        let known: Vec<&PartitionSpec> = metadata.partition_specs.iter().map(AsRef::as_ref).collect();
        let mut spec = self.spec.with_field_ids(&known, metadata.last_partition_id, metadata.format_version);
        spec.check_new(&Index::of(builder.binding_schema("partition spec")?)?, metadata.format_version)?;
        let id = next_id(metadata.partition_specs.last().map(|s| s.spec_id), "partition spec")?;
        spec.spec_id = id;
        let metadata = &mut builder.metadata;
        metadata.last_partition_id = metadata.last_partition_id.max(spec.highest_field_id());
        metadata.partition_specs.push(Arc::new(spec));
        builder.specs.note(hint, id);
        Ok(())
    }
}
