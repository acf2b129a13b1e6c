//! Branches and tags. Both have the same verbs; only what they are called differs.

pub mod assign;
pub mod create;
pub mod delete;
mod left_behind;
pub mod list;
mod moved;
pub mod reset;

use lochan_api_spec::nessie::model::ReferenceKind;

use super::{Done, Session};
use crate::error::Error;

/// What to do with branches or tags.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List them; the default branch is marked with a star.
    List(list::Args),
    /// Create one at a point.
    Create(create::Args),
    /// Delete one.
    Delete(delete::Args),
    /// Move one to another point.
    Assign(assign::Args),
}

/// Runs a verb on branches or tags.
pub async fn run(kind: ReferenceKind, verb: Verb, session: &Session) -> Result<Done, Error> {
    match verb {
        Verb::List(args) => list::run(kind, &args, session).await,
        Verb::Create(args) => create::run(kind, &args, session).await,
        Verb::Delete(args) => delete::run(kind, &args, session).await,
        Verb::Assign(args) => assign::run(kind, &args, session).await,
    }
}
