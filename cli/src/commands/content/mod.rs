//! What keys hold.

pub mod alter;
pub mod commit;
pub mod committed;
pub mod delete;
mod document;
mod edit;
pub mod get;
pub mod list;
pub mod revert;

pub use edit::Typed;

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
    ///
    /// The document is an array of operations, or an object with `operations` and perhaps `commitMeta`, as the API takes
    /// it: [{"type": "PUT", "key": {"elements": ["ns"]}, "content": {"type": "NAMESPACE", "elements": ["ns"]}}]
    ///
    /// A put without content id updates what the key holds already.
    ///
    /// With keys alone, $EDITOR is opened on what each holds; with --stdin or --file, a content for each is read.
    Commit(Box<commit::Args>),
    /// Set and remove properties of a namespace
    Alter(alter::Args),
    /// Delete keys, as one commit
    ///
    /// Earlier commits keep what the keys held; no file is deleted.
    Delete(delete::Args),
}

/// Runs a verb on contents.
pub async fn run(verb: Verb, session: &Session) -> Result<Done, Error> {
    match verb {
        Verb::Get(args) => get::run(&args, session).await,
        Verb::List(args) => list::run(&args, session).await,
        Verb::Commit(args) => commit::run(&args, session).await,
        Verb::Alter(args) => alter::run(&args, session).await,
        Verb::Delete(args) => delete::run(&args, session).await,
    }
}
