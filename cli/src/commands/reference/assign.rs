//! `branch assign`, `tag assign`

use lochan_api_spec::nessie::model::ReferenceKind;

use super::moved;
use crate::args::{point, target::Target};
use crate::commands::{Done, Session};
use crate::error::Error;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name
    #[arg(value_parser = point::parse_name)]
    pub name: String,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
    /// Only when its head is this commit (without it: the head read just before)
    #[arg(long, short = 'c', value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
}

pub async fn run(kind: ReferenceKind, args: &Args, session: &Session) -> Result<Done, Error> {
    let to = session.client.resolve(&args.target.point("branch assign")?).await?;
    let expected = args.expected.as_deref();
    moved::run(moved::Move { verb: "assign", kind: Some(kind), name: &args.name, expected, to }, session)
        .await
}
