//! `log`

use lochan_api_spec::nessie::model::{Fetch, LogResponseV2};
use lochan_api_spec::nessie::v2::trees::get_commit_log;
use lochan_api_spec::syntax::reference::DEFAULT_BRANCH_ALIAS;
use lochan_api_spec::syntax::{Instant, RefSpec};
use serde_json::Value;

use super::entry::{self, Names};
use crate::args::time::{self, When};
use crate::args::{how_many, key, point};
use crate::commands::{Done, Session, cel, parse_point};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{AGE_COLUMNS, Page, SUBJECT_COLUMNS_MIN, columns, first_line, style};

/// How many commits are shown when nobody said how many.
const COMMITS_DEFAULT: usize = 50;

/// Show the commits that led to a state, newest first.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A branch, a tag or a commit (without it: the default branch)
    #[arg(value_name = "POINT")]
    pub point: Option<String>,
    /// At most this many commits; 0 is all of them
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = COMMITS_DEFAULT, allow_negative_numbers = true, value_parser = how_many)]
    pub number: usize,
    /// All commits
    #[arg(long, conflicts_with = "number")]
    pub all: bool,
    /// One line per commit
    #[arg(long)]
    pub oneline: bool,
    /// Also show what each commit did
    #[arg(short = 'x', long, alias = "operations")]
    pub extended: bool,
    /// Only commits that changed this key
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub key: Option<lochan_api_spec::nessie::model::ContentKey>,
    /// Only commits of this author; may be repeated
    #[arg(long, value_name = "NAME")]
    pub author: Vec<String>,
    /// Only commits of this committer; may be repeated
    #[arg(long, value_name = "NAME")]
    pub committer: Vec<String>,
    /// Only commits made after this time: '2026-05-01 10:20' (local time, unless a zone is written: Z, +02:00),
    /// 2026-05-01, '2 hours ago', yesterday
    #[arg(long, visible_alias = "after", value_name = "TIME", value_parser = time::parse)]
    pub since: Option<When>,
    /// Only commits made before this time
    #[arg(long, visible_alias = "before", value_name = "TIME", value_parser = time::parse)]
    pub until: Option<When>,
    /// Only commits that a CEL expression is true of
    #[arg(long, value_name = "CEL")]
    pub filter: Option<String>,
    /// End with this commit (inclusive)
    #[arg(long, value_name = "HASH")]
    pub back_to: Option<String>,
    /// Begin with this commit; as A..B, begin with B and end before A
    #[arg(short = 'r', long, value_name = "HASH", conflicts_with = "back_to")]
    pub revision_range: Option<String>,
}

/// Where to begin, and the commit to end before, if `--revision-range` names one.
fn range<'a>(args: &'a Args, session: &Session) -> Result<(RefSpec, Option<&'a str>), Error> {
    let asked = session.point(args.point.as_deref())?;
    let Some(range) = &args.revision_range else { return Ok((asked, None)) };
    let (end, begin) = match range.split_once("..") {
        Some((end, begin)) => (Some(end).filter(|end| !end.is_empty()), begin),
        None => (None, range.as_str()),
    };
    if begin.is_empty() {
        return Ok((asked, end));
    }
    let begin = parse_point(begin)?;
    // A hash is looked up on the reference that was named beside it.
    let name = begin.name.clone().or_else(|| args.point.is_some().then(|| asked.name.clone()).flatten());
    Ok((RefSpec { name, ..begin }, end))
}

/// The commit to end before. Where a page is full just before the commit that ends a log, a server may leave that one out
/// and say that nothing follows; so to end with a commit is to end before its parent.
async fn end(
    args: &Args,
    before: Option<&str>,
    at: &RefSpec,
    session: &Session,
) -> Result<Option<String>, Error> {
    let Some(text) = args.back_to.as_deref().or(before) else { return Ok(None) };
    let found = session.client.resolve(&parse_point(text)?).await?;
    if before.is_some() {
        return Ok(Some(found.hash));
    }
    let last = RefSpec { name: found.name.or_else(|| at.name.clone()), ..RefSpec::detached(found.hash) };
    let log = session.client.log(&last, get_commit_log::Query::default(), 1).await?;
    Ok(log.log_entries.into_iter().next().and_then(|entry| entry.parent_commit_hash))
}

/// Takes a commit off the end of a log.
fn leave_out(end: &str, log: &mut LogResponseV2) {
    let shown = log.log_entries.len();
    log.log_entries.retain(|entry| entry.commit_meta.hash.as_deref() != Some(end));
    if log.log_entries.len() < shown || log.token.as_deref() == Some(end) {
        (log.has_more, log.token) = (false, None);
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let (asked, before) = range(args, session)?;
    let at = session.client.complete(&asked).await?;
    let end = end(args, before, &at, session).await?;
    let time = |test: &str, at: Instant| format!("timestamp(commit.commitTime) {test} timestamp('{at}')");
    let query = get_commit_log::Query {
        fetch: if args.extended || args.key.is_some() || args.filter.is_some() {
            Fetch::All
        } else {
            Fetch::Minimal
        },
        limit_hash: end.clone(),
        filter: cel::all_of([
            args.key.as_ref().map(cel::touches),
            cel::any_of("commit.author", &args.author),
            cel::any_of("commit.committer", &args.committer),
            args.since.map(|when| time(">", session.time(when))),
            args.until.map(|when| time("<", session.time(when))),
            args.filter.as_ref().map(|filter| format!("({filter})")),
        ]),
        ..Default::default()
    };
    let most = if args.all || args.number == 0 { usize::MAX } else { args.number };
    let (log, references) =
        tokio::join!(session.client.log(&at, query, most), session.client.some_references());
    let mut log = log?;
    if let Some(end) = end {
        leave_out(&end, &mut log);
    }
    if !args.extended {
        for entry in &mut log.log_entries {
            entry.operations = None;
        }
    }
    // Names at heads are an ornament: a log is shown without them rather than not at all.
    let names = references.map(|found| entry::names(&found.references)).unwrap_or_default();
    let place = match point::show(&asked, crate::output::page::HASH_DIGITS_SHORT) {
        alias if alias == DEFAULT_BRANCH_ALIAS => "the default branch".to_owned(),
        point => point,
    };
    Ok(Log { log, names, place, oneline: args.oneline }.into())
}

struct Log {
    log: LogResponseV2,
    names: Names,
    place: String,
    oneline: bool,
}

impl Report for Log {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.log)
    }

    fn human(&self, page: &mut Page) {
        if self.log.log_entries.is_empty() {
            let text = page.paint(style::FAINT, &format!("No commits on {}.", self.place));
            return page.line(&text);
        }
        for (i, entry) in self.log.log_entries.iter().enumerate() {
            if self.oneline {
                let meta = &entry.commit_meta;
                let age = meta.commit_time.map(|at| page.ago(at)).unwrap_or_default();
                let hash = page.hash(meta.hash.as_deref().unwrap_or_default());
                // What is left goes to the message, and names leave it so much.
                let left = page.columns().saturating_sub(columns(&hash) + 3 + AGE_COLUMNS);
                let names = left.saturating_sub(SUBJECT_COLUMNS_MIN);
                let names = entry::decoration(page, &self.names, meta, names);
                let front = format!("{hash}{names} ");
                let room = left.saturating_sub(columns(&names)).max(SUBJECT_COLUMNS_MIN);
                let message = first_line(&page.message(&meta.message), room);
                let line = format!("{front}{message}  {}", page.paint(style::FAINT, &age));
                page.line(&line);
            } else {
                if i > 0 {
                    page.gap();
                }
                entry::write(page, entry, &self.names);
            }
        }
        if self.log.has_more {
            if !self.oneline {
                page.gap();
            }
            let text = format!("{} shown; older ones with --all or -n", self.log.log_entries.len());
            let text = page.paint(style::FAINT, &text);
            page.line(&text);
        }
    }

    fn long(&self) -> bool {
        true
    }
}
