//! Names of tables and views in bodies.

use serde::{Deserialize, Serialize};

/// A table or view by namespace and name; the name may carry a reference.
///
/// See [`crate::syntax::table_name`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct TableIdentifier {
    /// The levels, outermost first.
    pub namespace: Vec<String>,
    /// The name.
    pub name: String,
}

/// A page of tables or views.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ListIdentifiersResponse {
    /// In key order.
    pub identifiers: Vec<TableIdentifier>,
    /// Where the next page begins; null on the last.
    pub next_page_token: Option<String>,
}

/// Body of the renames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct RenameRequest {
    /// What it is called.
    pub source: TableIdentifier,
    /// What it shall be called.
    pub destination: TableIdentifier,
}
