use serde::{Deserialize, Serialize};

use crate::Error;
use crate::statistics::EncryptedKey;
use crate::table::apply::Builder;

/// Adds an encrypted key (format v3). One with the same id stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AddEncryptionKey {
    /// The key.
    pub encryption_key: EncryptedKey,
}

impl AddEncryptionKey {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let metadata = &mut builder.metadata;
        if metadata.format_version < 3 {
            return Err(Error::Validation(format!(
                "Cannot add encryption key to v{} table: encryption keys are not supported until v3",
                metadata.format_version
            )));
        }
        if !metadata.encryption_keys.iter().any(|key| key.key_id == self.encryption_key.key_id) {
            metadata.encryption_keys.push(self.encryption_key.clone());
        }
        Ok(())
    }
}
