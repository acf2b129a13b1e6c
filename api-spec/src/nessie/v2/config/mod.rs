//! What the server is and what it was told.

pub mod get_config;
pub mod get_repository_config;
pub mod update_repository_config;

pub use get_config::GetConfig;
pub use get_repository_config::GetRepositoryConfig;
pub use update_repository_config::UpdateRepositoryConfig;
