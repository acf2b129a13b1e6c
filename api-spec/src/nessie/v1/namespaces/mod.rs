//! Namespaces.

pub mod create_namespace;
pub mod delete_namespace;
pub mod get_namespace;
pub mod get_namespaces;
pub mod update_properties;

pub use create_namespace::CreateNamespace;
pub use delete_namespace::DeleteNamespace;
pub use get_namespace::GetNamespace;
pub use get_namespaces::GetNamespaces;
pub use update_properties::UpdateProperties;
