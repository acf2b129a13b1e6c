//! `show`

use clap::ValueEnum;
use lochan_api_spec::nessie::model::Fetch;
use lochan_api_spec::nessie::v2::config::GetConfig;
use lochan_api_spec::nessie::v2::trees::{get_commit_log, get_reference_by_name};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::check_name;

use crate::args::{key, point};
use crate::client;
use crate::commands::content::get;
use crate::commands::{Done, Session, commit, parse_point, reference};
use crate::error::Error;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A branch, a tag, a commit or a key (without it: the default branch)
    pub what: Option<String>,
    /// Where to look a key up (without it: on the default branch)
    #[arg(short = 'r', long = "ref", value_name = "POINT")]
    pub at: Option<String>,
    /// What the word is
    #[arg(long = "as", value_name = "KIND", value_enum)]
    pub kind: Option<Kind>,
}

/// What a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A branch or tag
    Reference,
    /// A commit
    Commit,
    /// The content of a key
    Content,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let Some(what) = args.what.as_deref() else {
        return match &session.here.name {
            Some(name) if !session.here.has_hash() => Ok(one_reference(name, session).await?),
            _ => one_commit(&session.here, session).await,
        };
    };
    let kind = match (args.kind, &args.at) {
        (Some(kind), _) => kind,
        (None, Some(_)) => Kind::Content,
        (None, None) => match point::parse(what) {
            Ok(point) if point.has_hash() => Kind::Commit,
            Ok(_) => return reference_or_key(what, session).await,
            Err(_) if what.contains(['~', '^', '@']) => Kind::Commit,
            // What no reference can be called may still be a key.
            Err(_) => Kind::Content,
        },
    };
    match kind {
        Kind::Reference => {
            check_name(what).map_err(|error| Error::Usage(error.to_string()))?;
            Ok(one_reference(what, session).await?)
        }
        Kind::Commit => one_commit(&parse_point(what)?, session).await,
        Kind::Content => one_content(what, args.at.as_deref(), session).await,
    }
}

async fn reference_or_key(what: &str, session: &Session) -> Result<Done, Error> {
    match one_reference(what, session).await {
        Err(error) if error.is_reference_missing() => match one_content(what, None, session).await {
            Err(Error::NoContent { state, .. }) => Err(Error::NothingCalled { word: what.to_owned(), state }),
            other => other,
        },
        // Whether there is such a reference is not for us to know; a key may be.
        Err(error) if error.is_forbidden() => {
            one_content(what, None, session).await.map_err(|_| error.into())
        }
        other => Ok(other?),
    }
}

async fn one_reference(name: &str, session: &Session) -> Result<Done, client::Error> {
    let query = get_reference_by_name::Query { fetch: Fetch::All };
    let (reference, config) = tokio::join!(
        session.client.reference(name, &query),
        session.client.ask::<GetConfig>(GetConfig::path(), &())
    );
    Ok(reference::list::One { reference: reference?, default_branch: config?.default_branch }.into())
}

async fn one_commit(point: &RefSpec, session: &Session) -> Result<Done, Error> {
    let at = session.client.complete(point).await?;
    let query = get_commit_log::Query { fetch: Fetch::All, ..Default::default() };
    let (log, references) = tokio::join!(session.client.log(&at, query, 1), session.client.some_references());
    let Some(entry) = log?.log_entries.into_iter().next() else {
        return Err(Error::NothingThere(point::show(point, crate::output::page::HASH_DIGITS_SHORT)));
    };
    let names = references.map(|found| commit::entry::names(&found.references)).unwrap_or_default();
    Ok(commit::entry::One { entry, names }.into())
}

async fn one_content(text: &str, at: Option<&str>, session: &Session) -> Result<Done, Error> {
    let key = key::parse(text).map_err(|error| Error::Usage(format!("'{text}' is no key: {error}")))?;
    let at = session.point(at)?;
    get::read(&[key], None, &at, session).await
}
