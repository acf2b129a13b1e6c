//! `content alter`

use lochan_api_spec::nessie::model::{
    CommitMetaInput, Content, ContentKey, ContentType, GetMultipleContentsRequest, Operation,
};
use lochan_api_spec::nessie::v2::trees::GetMultipleContents;

use super::commit::property;
use super::committed;
use crate::args::key;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::kind_word;

/// Keys and options; the help stands in [`super::Verb`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The namespace
    #[arg(value_name = "KEY", value_parser = key::parse)]
    pub key: ContentKey,
    /// Set a property; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = property)]
    pub property: Vec<(String, String)>,
    /// Remove a property; may be repeated
    #[arg(long, value_name = "NAME")]
    pub remove_property: Vec<String>,
    /// The branch (without it: the default branch)
    #[arg(short = 'r', long = "ref", value_name = "BRANCH")]
    pub branch: Option<String>,
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
    let state = committed::expected_state(args.branch.as_deref(), args.expected.as_deref(), session).await?;
    let body = GetMultipleContentsRequest { requested_keys: vec![args.key.clone()] };
    let path = GetMultipleContents::path(&state);
    let found = session.client.send::<GetMultipleContents>(path, &Default::default(), &body).await?.contents;
    let shown = key::show(&args.key);
    let mut namespace = match found.into_iter().next().map(|held| held.content) {
        Some(Content::Namespace(namespace)) => namespace,
        Some(other) => {
            let wanted = kind_word(ContentType::Namespace);
            return Err(Error::WrongType { key: shown, is: kind_word(other.kind()), wanted });
        }
        None => {
            let state = state.name.unwrap_or_default();
            return Err(Error::NoContent { key: shown, state });
        }
    };
    namespace.properties.extend(args.property.iter().cloned());
    for name in &args.remove_property {
        namespace.properties.remove(name);
    }
    let message = args.message.clone().unwrap_or_else(|| format!("Alter namespace {shown}"));
    let meta = CommitMetaInput { message, authors: args.author.clone(), ..Default::default() };
    let operation = Operation::Put { key: args.key.clone(), content: Content::Namespace(namespace) };
    committed::send(&state, meta, vec![operation], session).await
}
