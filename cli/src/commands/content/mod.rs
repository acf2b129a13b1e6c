//! What keys hold.

pub mod commit;
mod committed;
pub mod delete;
mod document;
pub mod get;
pub mod list;

use super::{Done, Session};
use crate::error::Error;

/// What to do with contents.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Read what keys hold
    #[command(visible_alias = "view")]
    Get(get::Args),
    /// List keys
    List(list::Args),
    /// Commit changes, from options or a JSON document
    Commit(Box<commit::Args>),
    /// Delete keys, as one commit
    Delete(delete::Args),
}

/// Runs a verb on contents.
pub async fn run(verb: Verb, session: &Session) -> Result<Done, Error> {
    match verb {
        Verb::Get(args) => get::run(&args, session).await,
        Verb::List(args) => list::run(&args, session).await,
        Verb::Commit(args) => commit::run(&args, session).await,
        Verb::Delete(args) => delete::run(&args, session).await,
    }
}
