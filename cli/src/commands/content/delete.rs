//! `content delete`

use lochan_api_spec::nessie::model::{CommitMetaInput, ContentKey, ContentType, Operation};

use super::list::parse_type;
use super::{committed, get};
use crate::args::key;
use crate::commands::{Done, Session};
use crate::error::Error;

/// Keys and options; the help stands in [`super::Verb`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The keys; dots separate, double quotes protect: sales."a.b"
    #[arg(required = true, value_name = "KEY", value_parser = key::parse)]
    pub keys: Vec<ContentKey>,
    /// The branch (without it: the default branch)
    #[arg(short = 'r', long = "ref", value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Only contents of this type; another is an error
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = parse_type)]
    pub kind: Option<ContentType>,
    /// What the commit does, in words
    #[arg(short, long)]
    pub message: Option<String>,
    /// Who made the change; may be repeated
    #[arg(long, value_name = "NAME")]
    pub author: Vec<String>,
    /// Decide against this commit of the branch (without it: the head read just before)
    #[arg(short = 'c', long, value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let operations: Vec<Operation> =
        args.keys.iter().map(|key| Operation::Delete { key: key.clone() }).collect();
    let state = committed::expected_state(args.branch.as_deref(), args.expected.as_deref(), session).await?;
    if let Some(kind) = args.kind {
        get::must_be(kind, &args.keys, &state, session).await?;
    }
    let meta = CommitMetaInput {
        message: args.message.clone().unwrap_or_else(|| committed::default_message(&operations)),
        authors: args.author.clone(),
        ..Default::default()
    };
    committed::send(&state, meta, operations, session).await
}
