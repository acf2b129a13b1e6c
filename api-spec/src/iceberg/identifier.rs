//! Names of tables and views in bodies.

use serde::{Deserialize, Serialize};

/// A table or view by namespace and name; the name may carry a reference, see [`crate::syntax::table_name`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableIdentifier {
    /// The levels, outermost first.
    pub namespace: Vec<String>,
    /// The name.
    pub name: String,
}

/// A page of tables or views.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ListIdentifiersResponse {
    /// In key order.
    pub identifiers: Vec<TableIdentifier>,
    /// Where the next page begins; null on the last.
    pub next_page_token: Option<String>,
}

/// Body of the renames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenameRequest {
    /// What it is called.
    pub source: TableIdentifier,
    /// What it shall be called.
    pub destination: TableIdentifier,
}
