//! Namespaces.

pub mod create_namespace;
pub mod drop_namespace;
pub mod list_namespaces;
pub mod load_namespace;
pub mod namespace_exists;
pub mod update_properties;

pub use create_namespace::{CreateNamespace, NamespaceDocument};
pub use drop_namespace::DropNamespace;
pub use list_namespaces::{ListNamespaces, ListNamespacesResponse};
pub use load_namespace::LoadNamespace;
pub use namespace_exists::NamespaceExists;
pub use update_properties::{UpdateProperties, UpdatePropertiesRequest, UpdatePropertiesResponse};
