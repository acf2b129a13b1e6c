//! What the server is and what it was told.

pub mod get_config;

pub use get_config::GetConfig;
