//! What a client is told first.

pub mod get_config;
pub mod get_config_of_reference;

pub use get_config::{CatalogConfig, GetConfig};
pub use get_config_of_reference::GetConfigOfReference;
