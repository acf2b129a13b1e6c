//! The operations of a commit, from options and from a JSON document.

use std::fs::File;
use std::io::Read;

use lochan_api_spec::nessie::model::{
    CommitMetaInput, Content, ContentKey, IcebergTable, IcebergView, Namespace, Operation,
};
use serde::Deserialize;

use super::commit::Args;
use crate::commands::Session;
use crate::error::{Error, count};

/// The largest document taken, in bytes; servers take less.
const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// What to commit.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// Message, authors and properties, as the document has them.
    pub commit_meta: Option<CommitMetaInput>,
    /// The operations, in order.
    pub operations: Vec<Operation>,
}

/// Puts the document's operations before those of the options.
pub fn collect(args: &Args, session: &Session) -> Result<Document, Error> {
    let source = match (&args.file, args.stdin) {
        (Some(path), _) if path != "-" => {
            let read = File::open(path).map_err(|error| error.to_string()).and_then(read_text);
            Some((path.as_str(), read))
        }
        (Some(_), _) | (None, true) => {
            Some(("standard input", read_text(session.stdin.borrow_mut().as_mut())))
        }
        (None, false) => None,
    };
    let mut document = match source {
        None => Document::default(),
        Some((name, text)) => {
            let failed = |reason: String| Error::File { path: name.to_owned(), reason };
            let text = text.map_err(failed)?;
            if args.keys.is_empty() || args.remove_key {
                operations(&text).map_err(failed)?
            } else {
                Document { commit_meta: None, operations: puts(&args.keys, &text).map_err(failed)? }
            }
        }
    };
    if args.remove_key {
        document.operations.extend(args.keys.iter().map(|key| Operation::Delete { key: key.clone() }));
    }
    if let Some(key) = &args.put {
        document.operations.push(Operation::Put { key: key.clone(), content: content(args)? });
    }
    let deletes = args.delete.iter().map(|key| Operation::Delete { key: key.clone() });
    document.operations.extend(deletes);
    let unchanged = args.unchanged.iter().map(|key| Operation::Unchanged { key: key.clone() });
    document.operations.extend(unchanged);
    Ok(document)
}

/// Reads a text up to the bound.
pub fn read_text(source: impl Read) -> Result<String, String> {
    let mut text = String::new();
    let mut limited = source.take(DOCUMENT_BYTES_MAX + 1);
    limited.read_to_string(&mut text).map_err(|error| error.to_string())?;
    if u64::try_from(text.len()).is_ok_and(|length| length > DOCUMENT_BYTES_MAX) {
        return Err(format!("it is longer than {DOCUMENT_BYTES_MAX} bytes"));
    }
    Ok(text)
}

/// A content for each key: JSON documents one behind the other.
fn puts(keys: &[ContentKey], text: &str) -> Result<Vec<Operation>, String> {
    let contents = serde_json::Deserializer::from_str(text).into_iter::<Content>();
    let contents = contents.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    if contents.len() != keys.len() {
        let (found, wanted) =
            (count(contents.len(), "content", "contents"), count(keys.len(), "key", "keys"));
        return Err(format!("it holds {found} for {wanted}"));
    }
    let puts = keys.iter().cloned().zip(contents);
    Ok(puts.map(|(key, content)| Operation::Put { key, content }).collect())
}

fn operations(text: &str) -> Result<Document, String> {
    let parsed = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map(|operations| Document { commit_meta: None, operations })
    } else {
        serde_json::from_str(text)
    };
    parsed.map_err(|error| error.to_string())
}

/// The content that the options describe.
fn content(args: &Args) -> Result<Content, Error> {
    let id = None;
    if let Some(location) = &args.table_metadata {
        return Ok(Content::IcebergTable(IcebergTable {
            id,
            metadata_location: location.clone(),
            snapshot_id: args.snapshot_id,
            schema_id: args.schema_id,
            spec_id: args.spec_id,
            sort_order_id: args.sort_order_id,
        }));
    }
    if let Some(location) = &args.view_metadata {
        return Ok(Content::IcebergView(IcebergView {
            id,
            metadata_location: location.clone(),
            version_id: args.version_id,
            schema_id: args.schema_id,
            sql_text: None,
            dialect: None,
        }));
    }
    if let Some(text) = &args.content {
        return serde_json::from_str(text)
            .map_err(|error| Error::Usage(format!("the value of --content is no content: {error}")));
    }
    let elements = args.put.as_ref().map(|key| key.elements.clone()).unwrap_or_default();
    if args.namespace {
        return Ok(Content::Namespace(Namespace {
            id,
            elements,
            properties: args.property.iter().cloned().collect(),
        }));
    }
    Err(Error::Usage("--put needs --table-metadata, --view-metadata, --namespace or --content".to_owned()))
}
