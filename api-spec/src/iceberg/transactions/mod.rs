//! Changes of several tables at once.

pub mod commit_transaction;

pub use commit_transaction::{CommitTransaction, CommitTransactionRequest};
