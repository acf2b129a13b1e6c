//! `content alter`

use lochan_api_spec::nessie::model::{
    CommitMetaInput, Content, ContentKey, ContentType, GetMultipleContentsRequest, Operation,
};
use lochan_api_spec::nessie::v2::trees::GetMultipleContents;

use super::commit::property;
use super::committed::{self, Onto};
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
    #[command(flatten)]
    pub onto: Onto,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let state = args.onto.state(session).await?;
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
    let message = args.onto.message.clone().unwrap_or_else(|| format!("Alter namespace {shown}"));
    let meta = CommitMetaInput { message, authors: args.onto.author.clone(), ..Default::default() };
    let operation = Operation::Put { key: args.key.clone(), content: Content::Namespace(namespace) };
    committed::send(&state, meta, vec![operation], session).await
}
