//! Tokens, which this server does not issue.

pub mod get_token;
pub mod get_token_of_reference;

pub use get_token::{GetToken, TokenRequest, TokenResponse};
pub use get_token_of_reference::GetTokenOfReference;
