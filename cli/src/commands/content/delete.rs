//! `content delete`

use lochan_api_spec::nessie::model::{CommitMetaInput, ContentKey, ContentType, Operation};

use super::committed::{self, Onto};
use super::get;
use super::list::parse_type;
use crate::args::key;
use crate::commands::{Done, Session};
use crate::error::Error;

/// Keys and options; the help stands in [`super::Verb`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The keys; dots separate, double quotes protect: sales."a.b"
    #[arg(required = true, value_name = "KEY", value_parser = key::parse)]
    pub keys: Vec<ContentKey>,
    /// Only contents of this type; another is an error
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = parse_type)]
    pub kind: Option<ContentType>,
    #[command(flatten)]
    pub onto: Onto,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let operations: Vec<Operation> =
        args.keys.iter().map(|key| Operation::Delete { key: key.clone() }).collect();
    let target = args.onto.target(session).await?;
    let held = session.client.contents(&target.state, &args.keys).await?;
    get::must_be(args.kind, &held)?;
    if let Some(missing) = get::missing(&args.keys, &held) {
        return Err(missing);
    }
    let meta = CommitMetaInput {
        message: args.onto.message.clone().unwrap_or_else(|| committed::default_message(&operations)),
        authors: args.onto.author.clone(),
        ..Default::default()
    };
    committed::send(target, meta, operations, session).await
}
