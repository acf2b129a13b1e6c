//! Documents of the v1 namespace calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::nessie::model::Content;
use crate::syntax::lenient::null_default;

/// Answer of v1 `namespaces/{ref}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct GetNamespacesResponse {
    /// Contents of type NAMESPACE; implicit ones have no id.
    pub namespaces: Vec<Content>,
}

/// Body of v1 `POST namespaces/namespace/{ref}/{name}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NamespaceUpdate {
    /// Properties to set, after the removals.
    #[serde(default, deserialize_with = "null_default")]
    pub property_updates: BTreeMap<String, String>,
    /// Properties to remove.
    #[serde(default, deserialize_with = "null_default")]
    pub property_removals: Vec<String>,
}
