//! `branch delete`, `tag delete`

use lochan_api_spec::nessie::model::{ReferenceKind, SingleReferenceResponse};
use lochan_api_spec::nessie::v2::trees::{DeleteReference, delete_reference};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;
use serde_json::{Value, json};

use crate::args::point;
use crate::commands::{Done, Session, kind_word};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{Page, style};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name
    #[arg(value_parser = point::parse_name)]
    pub name: String,
    /// Only when its head is this commit (without it: the head read just before)
    #[arg(long, short = 'o', short_alias = 'c', value_name = "HASH", aliases = ["hash-on-ref", "condition"])]
    pub expected: Option<String>,
}

pub async fn run(kind: ReferenceKind, args: &Args, session: &Session) -> Result<Done, Error> {
    let read = session.client.resolve(&RefSpec::named(args.name.clone())).await?;
    let head = session.expected(args.expected.as_deref(), &read).await?;
    let path = DeleteReference::path(&RefSpec::at(args.name.clone(), head));
    let query = delete_reference::Query { kind: Some(kind.as_str().to_owned()) };
    let response = session.client.ask::<DeleteReference>(path, &query).await?;
    Ok(Deleted { response, kind, name: args.name.clone() }.into())
}

struct Deleted {
    response: SingleReferenceResponse,
    kind: ReferenceKind,
    name: String,
}

impl Deleted {
    /// The command that brings it back.
    fn undo(&self) -> Option<String> {
        let hash = self.response.reference.hash.as_deref()?;
        Some(format!("lochan {} create {} {hash}", kind_word(self.kind), self.name))
    }
}

impl Report for Deleted {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({ "reference": serde_json::to_value(&self.response.reference)?, "undo": self.undo() }))
    }

    fn human(&self, page: &mut Page) {
        let hash = self.response.reference.hash.as_deref();
        let head = page.head(hash);
        let name = page.name(&self.name);
        page.line(&format!("Deleted {} {name}, which was at {head}", kind_word(self.kind)));
        if let Some(undo) = self.undo().filter(|_| hash != Some(NO_ANCESTOR_HASH)) {
            let text = page.paint(style::FAINT, "To get it back:");
            page.line(&text);
            page.line(&format!("  {undo}"));
        }
    }
}
