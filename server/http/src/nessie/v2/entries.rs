//! `GET trees/{ref}/entries`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{EntryV2, ReferenceV2};
use lochan_api_spec::nessie::v2::trees::get_entries::Query;
use lochan_server_catalog::Effective;
use lochan_server_catalog::nessie::Page;
use lochan_server_catalog::nessie::entries::{List, Listed, Restriction, Resume};
use lochan_storage_model::ContentKey;
use serde::Serialize;

use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::convert::page::Each;
use crate::nessie::convert::{content, key_from_text, key_out, keys_from_texts, page, point, reference};
use crate::reply::Reply;

/// `GET trees/{ref}/entries`
pub async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let at = point::of_path(&app, &req, req.params.reference, "getEntries.refName")?;
    let list = List {
        only: restriction(&query.keys, query.min_key, query.max_key, query.prefix_key)?,
        contents: query.content,
        filter: query.filter,
        depth: None,
        size: page::size(query.max_records),
        from: page::entries_start(query.page_token.as_deref()),
    };
    let (effective, found) = app.catalog.list_entries(&req.principal(), &at, &list).await?;
    Ok(Reply::json(&out(&effective, found)))
}

/// Which keys a listing or diff is about.
pub fn restriction(
    keys: &[String],
    min: Option<String>,
    max: Option<String>,
    prefix: Option<String>,
) -> Result<Restriction, Failure> {
    let one = |text: Option<String>| -> Result<Option<ContentKey>, Failure> {
        Ok(text.map(|text| key_from_text(&text)).transpose()?.flatten())
    };
    let keys = if keys.is_empty() { None } else { Some(keys_from_texts(keys)?) };
    Ok(Restriction { keys, min: one(min)?, max: one(max)?, prefix: one(prefix)? })
}

/// `EntriesResponse`, written as it is converted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<E> {
    has_more: bool,
    token: Option<String>,
    entries: E,
    effective_reference: ReferenceV2,
}

fn out(effective: &Effective, found: Page<Listed, Resume>) -> impl Serialize {
    Response {
        has_more: found.next.is_some(),
        token: found.next.as_ref().map(page::entries_token),
        entries: Each::of(found.items.into_iter().map(entry_out)),
        effective_reference: reference::effective_out(effective),
    }
}

/// A key of a listing.
pub fn entry_out(listed: Listed) -> EntryV2 {
    let id = listed.id;
    EntryV2 {
        kind: content::type_out(listed.content_type),
        name: key_out(&listed.key),
        content_id: id.map(|id| id.to_string()),
        content: listed.content.map(|found| content::out(id, *found)),
    }
}
