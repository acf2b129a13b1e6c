use std::borrow::Cow;

use serde_json::value::RawValue;

use super::chunk::tree;
use super::format::Root;
use super::scan::Members;
use super::{Error, INLINE_BYTES_MAX, PartId};
use crate::table::TableMetadata;

/// Splits table metadata and gives the id of the root. Every part goes through `put`, children before their parents, parts
/// that an earlier version already has among them; `put` returns the part's id, the same for the same bytes.
///
/// [`super::join()`] gives back exactly [`TableMetadata::to_json`].
pub fn split(metadata: &TableMetadata, put: &mut dyn FnMut(Vec<u8>) -> PartId) -> Result<PartId, Error> {
    split_json(&metadata.to_json(), put)
}

/// Splits any JSON object, as [`split()`] does. Compact text is given back byte for byte; other text without the white
/// space between top-level members and between the items of long lists.
///
/// # Errors
/// [`Error::NotAnObject`] for other bytes, before anything is put.
pub fn split_json(json: &[u8], put: &mut dyn FnMut(Vec<u8>) -> PartId) -> Result<PartId, Error> {
    let not_an_object = |e: serde_json::Error| Error::NotAnObject(e.to_string());
    let Members(members) = serde_json::from_slice(json).map_err(not_an_object)?;
    let mut root = Root::new();
    let mut text = String::from("{");
    for (place, (key, value)) in members.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&encoded(key));
        text.push(':');
        let raw = value.get();
        let id = if raw.len() > INLINE_BYTES_MAX { list(raw, put).map_err(not_an_object)? } else { None };
        match (id, raw.chars().next(), raw.chars().next_back()) {
            (Some(id), Some(open), Some(close)) => {
                text.push(open);
                root.text(&text)?;
                root.tree(id);
                text.clear();
                text.push(close);
            }
            _ => text.push_str(raw),
        }
    }
    text.push('}');
    root.text(&text)?;
    Ok(put(root.finish()))
}

/// Puts the items of an array or object as a tree; `None` for an empty one and for other values.
fn list(raw: &str, put: &mut dyn FnMut(Vec<u8>) -> PartId) -> Result<Option<PartId>, serde_json::Error> {
    match raw.as_bytes().first() {
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw)?;
            Ok(tree(items.iter().map(|item| Cow::Borrowed(item.get())), put))
        }
        Some(b'{') => {
            let Members(members) = serde_json::from_str(raw)?;
            let items =
                members.iter().map(|(key, value)| Cow::Owned(format!("{}:{}", encoded(key), value.get())));
            Ok(tree(items, put))
        }
        _ => Ok(None),
    }
}

fn encoded(key: &str) -> String {
    serde_json::Value::from(key).to_string()
}
