//! `content get`

use lochan_api_spec::nessie::model::{
    ContentKey, ContentType, GetMultipleContentsRequest, GetMultipleContentsResponseV2,
};
use lochan_api_spec::nessie::v2::trees::GetMultipleContents;
use lochan_api_spec::syntax::RefSpec;
use serde_json::Value;

use super::list::parse_type;
use crate::args::key;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::page::Page;
use crate::output::{Report, fields, kind_word};

/// Read what keys hold.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The keys; dots separate, double quotes protect: sales."a.b"
    #[arg(required = true, value_name = "KEY", value_parser = key::parse)]
    pub keys: Vec<ContentKey>,
    /// A branch, a tag or a commit (without it: the default branch)
    #[arg(short = 'r', long = "ref", value_name = "POINT")]
    pub at: Option<String>,
    /// Only contents of this type; another is an error
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = parse_type)]
    pub kind: Option<ContentType>,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let at = session.point(args.at.as_deref())?;
    if let Some(kind) = args.kind {
        must_be(kind, &args.keys, &at, session).await?;
    }
    read(&args.keys, &at, session).await
}

/// Sees to it that all keys hold contents of a type.
pub async fn must_be(
    wanted: ContentType,
    keys: &[ContentKey],
    at: &RefSpec,
    session: &Session,
) -> Result<(), Error> {
    let at = session.client.complete(at).await?;
    let body = GetMultipleContentsRequest { requested_keys: keys.to_vec() };
    let path = GetMultipleContents::path(&at);
    let found = session.client.send::<GetMultipleContents>(path, &Default::default(), &body).await?;
    match found.contents.iter().find(|held| held.content.kind() != wanted) {
        None => Ok(()),
        Some(held) => Err(Error::WrongType {
            key: key::show(&held.key),
            is: kind_word(held.content.kind()),
            wanted: kind_word(wanted),
        }),
    }
}

/// Reads keys of a state. When some are missing the others are shown, and the command fails.
pub async fn read(keys: &[ContentKey], at: &RefSpec, session: &Session) -> Result<Done, Error> {
    let at = session.client.complete(at).await?;
    let body = GetMultipleContentsRequest { requested_keys: keys.to_vec() };
    let path = GetMultipleContents::path(&at);
    let found = session.client.send::<GetMultipleContents>(path, &Default::default(), &body).await?;
    let missing = keys.iter().find(|key| !found.contents.iter().any(|content| content.key == **key));
    let verdict = missing.map(|key| Error::NoContent { key: key::show(key), state: state(&found) });
    match verdict {
        Some(error) if found.contents.is_empty() => Err(error),
        verdict => Ok(Done { report: Box::new(Contents(found)), verdict }),
    }
}

/// How the state that was read is called.
fn state(found: &GetMultipleContentsResponseV2) -> String {
    let reference = &found.effective_reference;
    reference.name.clone().or_else(|| reference.hash.clone()).unwrap_or_default()
}

struct Contents(GetMultipleContentsResponseV2);

impl Report for Contents {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.0)
    }

    fn human(&self, page: &mut Page) {
        const WIDTH: usize = 11;
        for (i, found) in self.0.contents.iter().enumerate() {
            if i > 0 {
                page.gap();
            }
            let title = format!("{} {}", kind_word(found.content.kind()), page.key(&found.key));
            page.line(&title);
            let state = page.state(&self.0.effective_reference);
            page.field(WIDTH, "On", &state);
            for (name, value) in fields(&found.content) {
                page.field(WIDTH, &capital(name), &value);
            }
            if let Some(id) = found.content.id() {
                page.field(WIDTH, "Content id", id);
            }
        }
    }

    fn long(&self) -> bool {
        true
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
