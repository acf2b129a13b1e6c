//! `merge dev-feature-x into main`

use lochan_api_spec::nessie::model::{CommitMetaInput, MergeRequestV2, ReferenceKind};
use lochan_api_spec::nessie::v2::trees::MergeRefIntoBranch;
use lochan_api_spec::syntax::RefSpec;

use super::Modes;
use super::outcome::{self, Outcome, Way};
use crate::args::{point, target::Into};
use crate::commands::{Done, Session, parse_point};
use crate::error::Error;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
#[command(override_usage = "lochan merge [OPTIONS] <SOURCE> [into <BRANCH>]")]
pub struct Args {
    /// What to merge: a branch, a tag or a commit
    pub source: String,
    /// Where to.
    #[command(flatten)]
    pub into: Into,
    /// The commit of the source to merge, when it is not its head
    #[arg(short = 'o', long, value_name = "HASH")]
    pub hash_on_ref: Option<String>,
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
    /// What the merge commit does, in words
    #[arg(short, long)]
    pub message: Option<String>,
    /// Who merges; may be repeated
    #[arg(long, value_name = "NAME")]
    pub author: Vec<String>,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let mut source = parse_point(&args.source)?;
    if let Some(hash) = &args.hash_on_ref {
        source = RefSpec { name: source.name, ..parse_point(hash)? };
    }
    let target = RefSpec::named(session.branch(args.into.branch()?.as_deref())?);
    let (from, mut head) =
        tokio::try_join!(session.client.resolve(&source), session.client.resolve(&target))?;
    head.hash = session.expected(args.expected.as_deref(), &head).await?;
    let target_name = head.name.clone().unwrap_or_default();
    let commit_meta = (args.message.is_some() || !args.author.is_empty()).then(|| CommitMetaInput {
        message: args.message.clone().unwrap_or_default(),
        authors: args.author.clone(),
        ..Default::default()
    });
    let body = MergeRequestV2 {
        from_ref_name: from.wire_name(),
        from_hash: Some(from.hash.clone()),
        message: None,
        commit_meta,
        key_merge_modes: args.modes.keys(),
        default_key_merge_mode: args.modes.mode,
        is_dry_run: args.dry_run,
        is_fetch_additional_info: false,
        is_return_conflict_as_result: true,
    };
    let path = MergeRefIntoBranch::path(&RefSpec::at(target_name.clone(), head.hash.clone()));
    let response = session.client.send_or_try::<MergeRefIntoBranch>(args.dry_run, path, &(), &body).await?;
    let options = [
        ("--hash-on-ref", args.hash_on_ref.as_deref()),
        ("--expected", args.expected.as_deref()),
        ("--message", args.message.as_deref()),
    ];
    let options = options.into_iter().chain(args.author.iter().map(|name| ("--author", Some(name.as_str()))));
    let outcome = Outcome {
        way: Way::Merge,
        response,
        command: super::typed(&["lochan", "merge", &args.source, "into", &target_name], options),
        modes: args.modes.clone(),
        source_name: point::show(&source, crate::output::page::HASH_DIGITS_SHORT),
        source_is_branch: from.kind == Some(ReferenceKind::Branch),
        source: from.state(),
        target_name,
        target: head.state(),
        dry_run: args.dry_run,
    };
    outcome::finish(outcome, session).await
}
