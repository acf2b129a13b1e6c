//! `content alter`

use lochan_api_spec::nessie::model::{CommitMetaInput, Content, ContentKey, ContentType, Operation};

use super::committed::{self, Onto};
use crate::args::{key, property};
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::kind_word;

/// Keys and options; the help stands in [`super::Verb`].
#[derive(Debug, clap::Args)]
#[command(override_usage = "lochan content alter [OPTIONS] <KEY>")]
#[command(group = clap::ArgGroup::new("change").args(["property", "remove_property"]).required(true).multiple(true))]
pub struct Args {
    /// The namespace
    #[arg(value_name = "KEY", value_parser = key::parse)]
    pub key: ContentKey,
    /// Set a property (a name with = in it in double quotes); may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = property::parse)]
    pub property: Vec<(String, String)>,
    /// Remove a property; may be repeated
    #[arg(long, value_name = "NAME")]
    pub remove_property: Vec<String>,
    #[command(flatten)]
    pub onto: Onto,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let target = args.onto.target(session).await?;
    let found = session.client.contents(&target.state, std::slice::from_ref(&args.key)).await?.contents;
    let shown = key::show(&args.key);
    let mut namespace = match found.into_iter().next().map(|held| held.content) {
        Some(Content::Namespace(namespace)) => namespace,
        Some(other) => {
            let wanted = kind_word(ContentType::Namespace);
            return Err(Error::WrongType { key: shown, is: kind_word(other.kind()), wanted });
        }
        None => {
            let state = target.state.name.unwrap_or_default();
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
    committed::send(target, meta, vec![operation], session).await
}
