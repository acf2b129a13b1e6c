#![doc = include_str!("../README.md")]

mod bearer;
pub mod oidc;
mod policy;
mod tokens;

pub use bearer::Bearer;
pub use policy::{Policy, RuleError};
pub use tokens::{StaticToken, TokenError, Tokens};
