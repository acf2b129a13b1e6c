//! `reset main to HASH`

use lochan_api_spec::nessie::model::ReferenceKind;

use super::moved;
use crate::args::{point, target::Target};
use crate::commands::{Done, Session};
use crate::error::Error;

#[derive(Debug, clap::Args)]
#[command(override_usage = "lochan reset <BRANCH> to <POINT>\n       lochan reset <BRANCH> --to <POINT>")]
pub struct Args {
    /// The branch to move
    #[arg(value_parser = point::parse_name)]
    pub branch: String,
    /// Where to.
    #[command(flatten)]
    pub target: Target,
    /// Only when its head is this commit (without it: the head read just before)
    #[arg(long, short = 'c', value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let to = session.client.resolve(&args.target.point("reset")?).await?;
    let kind = Some(ReferenceKind::Branch);
    let expected = args.expected.as_deref();
    moved::run(moved::Move { verb: "reset", kind, name: &args.branch, expected, to }, session).await
}
