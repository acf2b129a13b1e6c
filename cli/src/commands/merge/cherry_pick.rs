//! `cherry-pick HASH into main`

use lochan_api_spec::nessie::model::TransplantRequestV2;
use lochan_api_spec::nessie::v2::trees::TransplantCommitsIntoBranch;
use lochan_api_spec::syntax::RefSpec;

use super::Modes;
use super::outcome::{self, Outcome, Way};
use crate::args::target;
use crate::commands::{Done, Session, parse_point};
use crate::error::{Error, count};

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
#[command(override_usage = "lochan cherry-pick [OPTIONS] <COMMIT>... [into <BRANCH>]")]
pub struct Args {
    /// The commits, oldest first; `into BRANCH` may follow
    #[arg(required = true, value_name = "COMMIT")]
    pub commits: Vec<String>,
    /// The branch to change (without it: the default branch)
    #[arg(short = 'b', long, visible_alias = "branch", value_name = "BRANCH")]
    pub into: Option<String>,
    /// The branch or tag the commits are on, when they are given as hashes; only for the record
    #[arg(short = 's', long, alias = "source-ref", value_name = "REFERENCE")]
    pub from: Option<String>,
    /// Only when the branch holds this commit, its head or an older one (without it: the head read just before)
    #[arg(long, short = 'c', value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
    /// Taken for the sake of pynessie's scripts: without --expected the head read just before is always enough.
    #[arg(short = 'f', long, hide = true)]
    pub force: bool,
    /// Only say what would happen
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// What happens to conflicts.
    #[command(flatten)]
    pub modes: Modes,
    /// Another message, for a single commit
    #[arg(short, long)]
    pub message: Option<String>,
}

impl Args {
    /// The commits, and the branch if one was named.
    pub fn words(&self) -> Result<(Vec<&str>, Option<String>), Error> {
        let words: Vec<&str> = self.commits.iter().map(String::as_str).collect();
        let (commits, branch) = match (words.as_slice(), &self.into) {
            ([.., "into", branch], Some(into)) => {
                return Err(Error::Usage(format!(
                    "two branches are named; say one of `into {branch}` and `--into {into}`"
                )));
            }
            ([commits @ .., "into", branch], None) => (commits, Some(*branch)),
            (commits, into) => (commits, into.as_deref()),
        };
        if commits.is_empty() {
            return Err(Error::Usage(
                "which commits? Say `lochan cherry-pick COMMIT into BRANCH`".to_owned(),
            ));
        }
        Ok((commits.to_vec(), branch.map(target::branch_name).transpose()?))
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let (commits, branch) = args.words()?;
    let target = RefSpec::named(session.branch(branch.as_deref())?);
    let mut head = session.client.resolve(&target).await?;
    head.hash = session.expected(args.expected.as_deref(), &head).await?;
    let target_name = head.name.clone().unwrap_or_default();
    let mut from = args.from.clone();
    let mut hashes = Vec::new();
    for text in &commits {
        let point = parse_point(text)?;
        let point = match (&point.name, &args.from) {
            (None, Some(name)) => RefSpec { name: Some(name.clone()), ..point },
            _ => point,
        };
        let found = session.client.resolve(&point).await?;
        from = from.or(found.name);
        hashes.push(found.hash);
    }
    let last = hashes.last().cloned().unwrap_or_default();
    let body = TransplantRequestV2 {
        // The API wants a name although the commits need not be on it.
        from_ref_name: from.clone().unwrap_or_else(|| target_name.clone()),
        hashes_to_transplant: hashes,
        message: args.message.clone().filter(|message| !message.is_empty()),
        key_merge_modes: args.modes.keys(),
        default_key_merge_mode: args.modes.mode,
        is_dry_run: args.dry_run,
        is_fetch_additional_info: false,
        is_return_conflict_as_result: true,
    };
    let path = TransplantCommitsIntoBranch::path(&RefSpec::at(target_name.clone(), head.hash.clone()));
    let client = &session.client;
    let response = client.send_or_try::<TransplantCommitsIntoBranch>(args.dry_run, path, &(), &body).await?;
    let words = [&["lochan", "cherry-pick"], commits.as_slice(), &["into", &target_name]].concat();
    let options = [
        ("--from", args.from.as_deref()),
        ("--expected", args.expected.as_deref()),
        ("--message", args.message.as_deref()),
    ];
    let outcome = Outcome {
        way: Way::CherryPick,
        response,
        command: super::typed(&words, options),
        modes: args.modes.clone(),
        source_name: count(commits.len(), "commit", "commits"),
        source_is_branch: false,
        source: RefSpec { name: from, ..RefSpec::detached(last) },
        target_name,
        target: head.state(),
        dry_run: args.dry_run,
    };
    outcome::finish(outcome, session).await
}
