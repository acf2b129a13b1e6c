//! `content commit`

use std::collections::{HashMap, HashSet};

use lochan_api_spec::nessie::model::{CommitMetaInput, Content, ContentKey, Operation};
use lochan_api_spec::syntax::RefSpec;

use super::committed::{self, Onto};
use super::document::{self, Document};
use super::edit;
use super::get;
use crate::args::{key, property};
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::kind_word;

/// Keys and options; the help stands in [`super::Verb`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keys whose contents are edited, read (--stdin, --file) or deleted (--remove-key)
    #[arg(value_name = "KEY", value_parser = key::parse)]
    pub keys: Vec<ContentKey>,
    /// Delete the keys
    #[arg(short = 'R', long, requires = "keys")]
    pub remove_key: bool,
    /// Taken for the sake of pynessie's scripts; --expected decides.
    #[arg(short = 's', long, hide = true)]
    pub expect_same_content: bool,
    #[command(flatten)]
    pub onto: Onto,
    /// Read operations, or a content for each key, from this JSON file; - is standard input
    #[arg(short = 'F', long, value_name = "FILE")]
    pub file: Option<String>,
    /// Read them from standard input
    #[arg(short = 'i', long, conflicts_with = "file")]
    pub stdin: bool,
    /// Put a content under this key
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub put: Option<ContentKey>,
    /// The content is an Iceberg table with this metadata file
    #[arg(long, value_name = "LOCATION", requires = "put", group = "what")]
    pub table_metadata: Option<String>,
    /// The content is an Iceberg view with this metadata file
    #[arg(long, value_name = "LOCATION", requires = "put", group = "what")]
    pub view_metadata: Option<String>,
    /// The content is a namespace
    #[arg(long, requires = "put", group = "what")]
    pub namespace: bool,
    /// A property of the namespace (a name with = in it in double quotes); may be repeated
    #[arg(long, value_name = "NAME=VALUE", requires = "namespace", conflicts_with_all = ["table_metadata", "view_metadata", "content"], value_parser = property::parse)]
    pub property: Vec<(String, String)>,
    /// The content, as JSON
    #[arg(long, value_name = "JSON", requires = "put", group = "what")]
    pub content: Option<String>,
    /// Only if the key holds nothing yet
    #[arg(long, requires = "put")]
    pub new: bool,
    /// The table's current snapshot; -1 is none
    #[arg(long, value_name = "ID", default_value_t = -1, allow_negative_numbers = true, requires = "table_metadata", conflicts_with_all = ["view_metadata", "namespace", "content"])]
    pub snapshot_id: i64,
    /// The view's current version
    #[arg(long, value_name = "ID", default_value_t = 1, requires = "view_metadata", conflicts_with_all = ["table_metadata", "namespace", "content"])]
    pub version_id: i64,
    /// The current schema
    #[arg(long, value_name = "ID", default_value_t = 0, requires = "put", conflicts_with_all = ["namespace", "content"])]
    pub schema_id: i32,
    /// The table's partition spec
    #[arg(long, value_name = "ID", default_value_t = 0, requires = "table_metadata", conflicts_with_all = ["view_metadata", "namespace", "content"])]
    pub spec_id: i32,
    /// The table's sort order
    #[arg(long, value_name = "ID", default_value_t = 0, requires = "table_metadata", conflicts_with_all = ["view_metadata", "namespace", "content"])]
    pub sort_order_id: i32,
    /// Delete this key; may be repeated
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub delete: Vec<ContentKey>,
    /// Only if nobody changed this key; may be repeated
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub unchanged: Vec<ContentKey>,
}

impl Args {
    /// Whether the keys' contents come from neither option nor document.
    fn edits(&self) -> bool {
        !self.keys.is_empty() && !self.remove_key && !self.stdin && self.file.is_none()
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let document = document::collect(args, session)?;
    let target = args.onto.target(session).await?;
    session.typed.settle(edit_and_commit(args, document, target, session).await)
}

async fn edit_and_commit(
    args: &Args,
    mut document: Document,
    target: committed::Target,
    session: &Session,
) -> Result<Done, Error> {
    if args.edits() {
        let editor = session.editor.as_deref().ok_or_else(|| {
            Error::Usage("there is nobody to edit the contents; give them with --stdin or --file".to_owned())
        })?;
        let mut operations = edit::edit(editor, &args.keys, &target.state, session).await?;
        document.operations.append(&mut operations);
    }
    commit(args, document, target, session).await
}

async fn commit(
    args: &Args,
    document: Document,
    target: committed::Target,
    session: &Session,
) -> Result<Done, Error> {
    let mut operations = document.operations;
    if operations.is_empty() {
        let nothing = if args.edits() {
            "nothing to commit: the contents came back from the editor as they were"
        } else {
            "nothing to commit; say --put, --delete or --file (`lochan content commit --help`)"
        };
        return Err(Error::Usage(nothing.to_owned()));
    }
    let new = args.put.as_ref().filter(|_| args.new);
    compare(&mut operations, new, &target.state, session).await?;
    let mut meta = document.commit_meta.unwrap_or_else(|| CommitMetaInput {
        message: committed::default_message(&operations),
        ..Default::default()
    });
    if let Some(message) = &args.onto.message {
        meta.message = message.clone();
    }
    if !args.onto.author.is_empty() {
        meta.authors = args.onto.author.clone();
    }
    committed::send(target, meta, operations, session).await
}

/// Compares operations with what their keys hold. Puts get the id of the content there, since people mean an update, but
/// for the key that is to be `new`; what is deleted must be there. Further operations on a key are left to the server.
async fn compare(
    operations: &mut [Operation],
    new: Option<&ContentKey>,
    state: &RefSpec,
    session: &Session,
) -> Result<(), Error> {
    let asked: Vec<ContentKey> = operations.iter().filter_map(to_compare).cloned().collect();
    if asked.is_empty() {
        return Ok(());
    }
    let found = session.client.contents(state, &asked).await?;
    let held: HashMap<&ContentKey, &Content> =
        found.contents.iter().map(|held| (&held.key, &held.content)).collect();
    let mut seen = HashSet::new();
    for operation in operations {
        if !seen.insert(operation.key().clone()) {
            continue;
        }
        match operation {
            Operation::Delete { key } if !held.contains_key(key) => return Err(get::no_content(key, &found)),
            Operation::Put { key, content } if content.id().is_none() => {
                let Some(held) = held.get(key) else { continue };
                if new == Some(key) {
                    return Err(Error::KeyTaken(key::show(key)));
                }
                let (is, wanted) = (held.kind(), content.kind());
                if is != wanted {
                    let (is, wanted) = (kind_word(is), kind_word(wanted));
                    return Err(Error::WrongType { key: key::show(key), is, wanted });
                }
                content.set_id(held.id().map(str::to_owned));
            }
            _ => {}
        }
    }
    Ok(())
}

fn to_compare(operation: &Operation) -> Option<&ContentKey> {
    match operation {
        Operation::Put { key, content } if content.id().is_none() => Some(key),
        Operation::Delete { key } => Some(key),
        _ => None,
    }
}
