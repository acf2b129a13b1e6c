use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Drops an encrypted key, if there is one of that id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemoveEncryptionKey {
    /// Id of the key.
    pub key_id: String,
}

impl RemoveEncryptionKey {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.metadata.encryption_keys.retain(|key| key.key_id != self.key_id);
        Ok(())
    }
}
