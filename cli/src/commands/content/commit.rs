//! `content commit`

use lochan_api_spec::nessie::model::{CommitMetaInput, ContentKey, GetMultipleContentsRequest, Operation};
use lochan_api_spec::nessie::v2::trees::GetMultipleContents;
use lochan_api_spec::syntax::RefSpec;

use super::committed::{self, Onto};
use super::{document, edit};
use crate::args::key;
use crate::commands::{Done, Session};
use crate::error::Error;

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
    /// A property of the namespace; may be repeated
    #[arg(long, value_name = "NAME=VALUE", requires = "namespace", value_parser = property)]
    pub property: Vec<(String, String)>,
    /// The content, as JSON
    #[arg(long, value_name = "JSON", requires = "put", group = "what")]
    pub content: Option<String>,
    /// Only if the key holds nothing yet
    #[arg(long, requires = "put")]
    pub new: bool,
    /// The table's current snapshot; -1 is none
    #[arg(long, value_name = "ID", default_value_t = -1, allow_negative_numbers = true)]
    pub snapshot_id: i64,
    /// The view's current version
    #[arg(long, value_name = "ID", default_value_t = 1)]
    pub version_id: i64,
    /// The current schema
    #[arg(long, value_name = "ID", default_value_t = 0)]
    pub schema_id: i32,
    /// The table's partition spec
    #[arg(long, value_name = "ID", default_value_t = 0)]
    pub spec_id: i32,
    /// The table's sort order
    #[arg(long, value_name = "ID", default_value_t = 0)]
    pub sort_order_id: i32,
    /// Delete this key; may be repeated
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub delete: Vec<ContentKey>,
    /// Only if nobody changed this key; may be repeated
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub unchanged: Vec<ContentKey>,
}

pub fn property(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a property is written NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Args {
    /// Whether the keys' contents come from neither option nor document.
    fn edits(&self) -> bool {
        !self.keys.is_empty() && !self.remove_key && !self.stdin && self.file.is_none()
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let document = document::collect(args, session)?;
    let mut operations = document.operations;
    let state = args.onto.state(session).await?;
    if args.edits() {
        let editor = session.editor.as_deref().ok_or_else(|| {
            Error::Usage("there is nobody to edit the contents; give them with --stdin or --file".to_owned())
        })?;
        operations.extend(edit::edit(editor, &args.keys, &state, session).await?);
    }
    if operations.is_empty() {
        let nothing = "nothing to commit; say --put, --delete or --file (`lochan content commit --help`)";
        return Err(Error::Usage(nothing.to_owned()));
    }
    if !args.new {
        adopt_ids(&mut operations, &state, session).await?;
    }
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
    committed::send(&state, meta, operations, session).await
}

/// Gives puts the id of the content that their key holds: people mean an update. A put behind a delete of its key, or of
/// another type, is left to the server's rules.
async fn adopt_ids(operations: &mut [Operation], state: &RefSpec, session: &Session) -> Result<(), Error> {
    let requested_keys: Vec<ContentKey> = operations.iter().filter_map(|o| without_id(o).cloned()).collect();
    if requested_keys.is_empty() {
        return Ok(());
    }
    let body = GetMultipleContentsRequest { requested_keys };
    let path = GetMultipleContents::path(state);
    let held = session.client.send::<GetMultipleContents>(path, &Default::default(), &body).await?.contents;
    let mut deleted: Vec<ContentKey> = Vec::new();
    for operation in operations {
        match operation {
            Operation::Delete { key } => deleted.push(key.clone()),
            Operation::Put { key, content } if content.id().is_none() && !deleted.contains(key) => {
                let same = held.iter().find(|held| held.key == *key && held.content.kind() == content.kind());
                if let Some(held) = same {
                    content.set_id(held.content.id().map(str::to_owned));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn without_id(operation: &Operation) -> Option<&ContentKey> {
    match operation {
        Operation::Put { key, content } if content.id().is_none() => Some(key),
        _ => None,
    }
}
