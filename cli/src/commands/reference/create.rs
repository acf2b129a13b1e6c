//! `branch create`, `tag create`, and their short forms `branch NAME [BASE]`, `tag NAME [BASE]`

use lochan_api_spec::nessie::model::{ReferenceInput, ReferenceKind, SingleReferenceResponse};
use lochan_api_spec::nessie::v2::trees::{CreateReference, create_reference};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;
use serde_json::Value;

use super::moved;
use crate::args::point;
use crate::client::{self, Resolved};
use crate::commands::{Done, Session, kind_word, parse_point};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::Page;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The new name
    #[arg(value_parser = point::parse_name)]
    pub name: String,
    /// Where it begins: a branch, a tag or a commit (without it: the default branch)
    pub base: Option<String>,
    /// The same as an option
    #[arg(long, value_name = "BASE", conflicts_with = "base")]
    pub from: Option<String>,
    /// The commit of the base to begin at, when it is not its head
    #[arg(short = 'o', long, value_name = "HASH")]
    pub hash_on_ref: Option<String>,
    /// Move it there when the name already exists
    #[arg(short, long)]
    pub force: bool,
    /// With --force: only when its head is this commit
    #[arg(long, short = 'c', value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
}

pub async fn run(kind: ReferenceKind, args: &Args, session: &Session) -> Result<Done, Error> {
    let mut base = session.point(args.base.as_deref().or(args.from.as_deref()))?;
    if let Some(hash) = &args.hash_on_ref {
        base = RefSpec { name: base.name, ..parse_point(hash)? };
    }
    let at = session.client.resolve(&base).await?;
    if base.has_hash() {
        // The default branch by its name.
        base.name.clone_from(&at.name);
    }
    let query =
        create_reference::Query { name: Some(args.name.clone()), kind: Some(kind.as_str().to_owned()) };
    let body = input(&at);
    let created = session.client.send::<CreateReference>(CreateReference::path(), &query, &body).await;
    match created {
        Ok(response) => Ok(Created { response, kind, base }.into()),
        Err(error) if args.force && error.refusal().is_some_and(client::Refusal::is_name_taken) => {
            moved::run(
                moved::Move {
                    verb: "assign",
                    kind: Some(kind),
                    name: &args.name,
                    expected: args.expected.as_deref(),
                    to: at,
                },
                session,
            )
            .await
        }
        Err(error) => Err(error.into()),
    }
}

/// A resolved commit as a request names it.
pub fn input(at: &Resolved) -> ReferenceInput {
    let kind = match &at.name {
        // The type of a named source is not looked at.
        Some(_) => at.kind.unwrap_or(ReferenceKind::Branch),
        None => ReferenceKind::Detached,
    };
    ReferenceInput { kind, name: at.name.clone(), hash: Some(at.hash.clone()) }
}

struct Created {
    response: SingleReferenceResponse,
    kind: ReferenceKind,
    base: RefSpec,
}

impl Report for Created {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.response)
    }

    fn human(&self, page: &mut Page) {
        let reference = &self.response.reference;
        let name = page.name(reference.name.as_deref().unwrap_or_default());
        let hash = reference.hash.as_deref().filter(|hash| *hash != NO_ANCESTOR_HASH);
        let at = hash.map_or_else(|| "without commits".to_owned(), |hash| format!("at {}", page.hash(hash)));
        let from = match point::show(&self.base, crate::output::page::HASH_DIGITS_SHORT) {
            base if base == "-" => ", from the default branch".to_owned(),
            _ if self.base.name.is_none() && self.base.parts.is_empty() => String::new(),
            base => format!(", from {base}"),
        };
        page.line(&format!("Created {} {name} {at}{from}", kind_word(self.kind)));
    }
}
