//! `content get`

use std::collections::HashSet;

use lochan_api_spec::nessie::model::{ContentKey, ContentType, GetMultipleContentsResponseV2};
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
    read(&args.keys, args.kind, &session.point(args.at.as_deref())?, session).await
}

/// Sees to it that what was found is of a type, if one was named.
pub fn must_be(wanted: Option<ContentType>, found: &GetMultipleContentsResponseV2) -> Result<(), Error> {
    let Some(wanted) = wanted else { return Ok(()) };
    match found.contents.iter().find(|held| held.content.kind() != wanted) {
        None => Ok(()),
        Some(held) => Err(Error::WrongType {
            key: key::show(&held.key),
            is: kind_word(held.content.kind()),
            wanted: kind_word(wanted),
        }),
    }
}

/// The error of the first key that holds nothing.
pub fn missing(keys: &[ContentKey], found: &GetMultipleContentsResponseV2) -> Option<Error> {
    let held: HashSet<&ContentKey> = found.contents.iter().map(|held| &held.key).collect();
    keys.iter().find(|key| !held.contains(key)).map(|key| no_content(key, found))
}

/// The error of a key that holds nothing.
pub fn no_content(key: &ContentKey, found: &GetMultipleContentsResponseV2) -> Error {
    Error::NoContent { key: key::show(key), state: state(found) }
}

/// Reads keys of a state. When some are missing the others are shown, and the command fails.
pub async fn read(
    keys: &[ContentKey],
    kind: Option<ContentType>,
    at: &RefSpec,
    session: &Session,
) -> Result<Done, Error> {
    let at = session.client.complete(at).await?;
    let found = session.client.contents(&at, keys).await?;
    must_be(kind, &found)?;
    match missing(keys, &found) {
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
