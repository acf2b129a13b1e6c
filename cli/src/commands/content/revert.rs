//! `revert KEY to POINT`

use lochan_api_spec::nessie::model::{
    CommitMetaInput, CommitResponse, Content, ContentKey, Operation, Operations,
};
use lochan_api_spec::nessie::v2::trees::CommitMultipleOperations;
use lochan_api_spec::syntax::RefSpec;
use serde_json::{Value, json};

use super::committed;
use crate::args::{key, point};
use crate::commands::commit::entry::operation_line;
use crate::commands::{Done, Session, parse_point};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::{HASH_DIGITS_SHORT, Page, style};

/// The word before the state.
pub const LINK: &str = "to";

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
#[command(override_usage = "lochan revert [OPTIONS] <KEY>... to <POINT>")]
pub struct Args {
    /// The keys; `to POINT` may follow
    #[arg(required = true, value_name = "KEY")]
    pub words: Vec<String>,
    /// The state to take them from, as an option
    #[arg(long, value_name = "POINT")]
    pub to: Option<String>,
    /// Delete keys that the state does not have
    #[arg(long)]
    pub allow_deletes: bool,
    /// Only say what would happen
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub onto: committed::Onto,
}

impl Args {
    /// The keys, and the point if one was named.
    pub fn keys_and_point(&self) -> Result<(Vec<ContentKey>, RefSpec), Error> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let (keys, point) = match (words.as_slice(), self.to.as_deref()) {
            ([.., LINK, point], Some(to)) => {
                return Err(Error::Usage(format!(
                    "two states are named; say one of `{LINK} {point}` and `--to {to}`"
                )));
            }
            ([keys @ .., LINK, point], None) => (keys, *point),
            (keys, Some(point)) => (keys, point),
            _ => return Err(Error::Usage("to which state? Say `lochan revert KEY to POINT`".to_owned())),
        };
        if keys.is_empty() {
            return Err(Error::Usage("which keys? Say `lochan revert KEY to POINT`".to_owned()));
        }
        if keys.contains(&LINK) {
            return Err(Error::Usage(format!(
                "'{LINK}' stands before the state, and once: say `lochan revert KEY to POINT`; a key of that name is \
                 written {}",
                key::in_shell(&key::quoted(LINK))
            )));
        }
        let parse =
            |text: &&str| key::parse(text).map_err(|e| Error::Usage(format!("'{text}' is no key: {e}")));
        Ok((keys.iter().map(parse).collect::<Result<_, _>>()?, parse_point(point)?))
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let (keys, then) = args.keys_and_point()?;
    let onto = &args.onto;
    let (branch, expected) = (onto.branch.as_deref(), onto.expected.as_deref());
    let asked = Asked { branch, expected, keys, then, deletes: args.allow_deletes };
    let meta = CommitMetaInput {
        message: onto.message.clone().unwrap_or_default(),
        authors: onto.author.clone(),
        ..Default::default()
    };
    asked.run(meta, args.dry_run, session).await
}

/// A revert that was asked for.
pub struct Asked<'a> {
    /// The branch to change.
    pub branch: Option<&'a str>,
    /// The head that the user expects.
    pub expected: Option<&'a str>,
    /// The keys.
    pub keys: Vec<ContentKey>,
    /// The state to take them from.
    pub then: RefSpec,
    /// Whether a key that the state does not have may be deleted.
    pub deletes: bool,
}

impl Asked<'_> {
    /// Compares both states and commits what differs; an empty message is made up.
    pub async fn run(
        self,
        mut meta: CommitMetaInput,
        dry_run: bool,
        session: &Session,
    ) -> Result<Done, Error> {
        let target = committed::target(self.branch, self.expected, session).await?;
        let from = session.client.resolve(&self.then).await?;
        let called = point::show(&self.then, HASH_DIGITS_SHORT);
        let then = read(&from.state(), &self.keys, session).await?;
        let now = read(&target.state, &self.keys, session).await?;
        let mut operations = Vec::new();
        let mut unchanged = Vec::new();
        for ((key, then), now) in self.keys.iter().zip(then).zip(now) {
            let plan = plan(key, then, now);
            match plan {
                Plan::Nothing => unchanged.push(key.clone()),
                Plan::Operations(found) => operations.extend(found),
                Plan::Delete if self.deletes => operations.push(Operation::Delete { key: key.clone() }),
                Plan::Delete => return Err(Error::WouldDelete { key: key::show(key), state: called }),
                Plan::Unknown => return Err(Error::NoContent { key: key::show(key), state: called }),
            }
        }
        if meta.message.is_empty() {
            let names: Vec<String> = self.keys.iter().map(key::show).collect();
            meta.message = format!("Revert {} to {called}", names.join(", "));
        }
        let response = if dry_run || operations.is_empty() {
            None
        } else {
            let body = Operations { commit_meta: meta, operations: operations.clone() };
            let path = CommitMultipleOperations::path(&target.state);
            Some(session.client.send::<CommitMultipleOperations>(path, &(), &body).await?)
        };
        Ok(Reverted { response, target, from: from.hash, called, operations, unchanged, dry_run }.into())
    }
}

/// What keys hold in a state, in order.
async fn read(at: &RefSpec, keys: &[ContentKey], session: &Session) -> Result<Vec<Option<Content>>, Error> {
    let found = session.client.contents(at, keys).await?.contents;
    let held = |key: &ContentKey| found.iter().find(|held| held.key == *key).map(|held| held.content.clone());
    Ok(keys.iter().map(held).collect())
}

/// What makes a key what it was.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// It is.
    Nothing,
    /// These operations.
    Operations(Vec<Operation>),
    /// Its deletion.
    Delete,
    /// The key is in neither state.
    Unknown,
}

/// Contents keep the id they have now: an id of the past cannot be given back to a key.
fn plan(key: &ContentKey, then: Option<Content>, now: Option<Content>) -> Plan {
    let put = |content| Operation::Put { key: key.clone(), content };
    match (then, now) {
        (None, None) => Plan::Unknown,
        (None, Some(_)) => Plan::Delete,
        (Some(mut then), None) => {
            then.set_id(None);
            Plan::Operations(vec![put(then)])
        }
        (Some(mut then), Some(now)) if then.kind() == now.kind() => {
            then.set_id(now.id().map(str::to_owned));
            if then == now { Plan::Nothing } else { Plan::Operations(vec![put(then)]) }
        }
        (Some(mut then), Some(_)) => {
            then.set_id(None);
            Plan::Operations(vec![Operation::Delete { key: key.clone() }, put(then)])
        }
    }
}

struct Reverted {
    response: Option<CommitResponse>,
    target: committed::Target,
    from: String,
    called: String,
    operations: Vec<Operation>,
    unchanged: Vec<ContentKey>,
    dry_run: bool,
}

impl Report for Reverted {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let target = self.response.as_ref().map(|response| &response.target_branch);
        Ok(json!({
            "fromHash": self.from,
            "previousHash": self.target.head,
            "dryRun": self.dry_run,
            "targetBranch": serde_json::to_value(target)?,
            "operations": serde_json::to_value(&self.operations)?,
            "unchanged": serde_json::to_value(&self.unchanged)?,
        }))
    }

    fn human(&self, page: &mut Page) {
        let branch = page.name(self.target.state.name.as_deref().unwrap_or_default());
        let old = page.head(Some(&self.target.head));
        if let Some(response) = &self.response {
            let new = page.head(response.target_branch.hash.as_deref());
            page.line(&format!("Committed to {branch}: {old} → {new}"));
        } else if self.operations.is_empty() {
            page.line(&format!("Nothing to revert: {branch} stays at {old}"));
        } else {
            page.line(&format!("Would commit to {branch}, now at {old}"));
        }
        for operation in &self.operations {
            let line = operation_line(page, operation);
            page.line(&format!("  {line}"));
        }
        for key in &self.unchanged {
            let word = page.paint(style::FAINT, "same  ");
            page.line(&format!("  {word} {}  as on {}", page.key(key), self.called));
        }
    }
}

#[cfg(test)]
mod tests {
    use lochan_api_spec::nessie::model::{IcebergTable, Namespace};

    use super::*;

    fn table(id: &str, snapshot_id: i64) -> Content {
        Content::IcebergTable(IcebergTable {
            id: Some(id.to_owned()),
            metadata_location: "s3://b/m.json".to_owned(),
            snapshot_id,
            schema_id: 0,
            spec_id: 0,
            sort_order_id: 0,
        })
    }

    fn named(content: &Operation) -> String {
        match content {
            Operation::Put { content, .. } => format!("put {:?}", content.id()),
            Operation::Delete { .. } => "delete".to_owned(),
            Operation::Unchanged { .. } => "unchanged".to_owned(),
        }
    }

    #[test]
    fn a_key_becomes_what_it_was() {
        fn check(then: Option<Content>, now: Option<Content>, expected: &[&str]) {
            let key = ContentKey::new(vec!["t".to_owned()]).unwrap();
            let said = match plan(&key, then, now) {
                Plan::Operations(operations) => operations.iter().map(named).collect(),
                other => vec![format!("{other:?}")],
            };
            assert_eq!(said, expected);
        }
        let namespace = Content::Namespace(Namespace {
            id: Some("n".to_owned()),
            elements: vec![],
            properties: [].into(),
        });
        check(None, None, &["Unknown"]);
        check(None, Some(table("a", 1)), &["Delete"]);
        check(Some(table("a", 1)), Some(table("a", 1)), &["Nothing"]);
        check(Some(table("a", 1)), Some(table("a", 2)), &["put Some(\"a\")"]);
        // Dropped and made again meanwhile: the new one becomes what the old one was.
        check(Some(table("a", 1)), Some(table("b", 2)), &["put Some(\"b\")"]);
        check(Some(table("a", 1)), Some(table("b", 1)), &["Nothing"]);
        check(Some(table("a", 1)), None, &["put None"]);
        check(Some(table("a", 1)), Some(namespace), &["delete", "put None"]);
    }
}
