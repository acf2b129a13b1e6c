//! `GET trees/tree/{ref}/entries`

use std::sync::Arc;

use lochan_api_spec::nessie::model::EntryV1;
use lochan_api_spec::nessie::v1::trees::get_entries::Query;
use lochan_server_catalog::nessie::entries::{List, Restriction};
use serde::Serialize;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::page::Each;
use crate::nessie::convert::{page, point};
use crate::nessie::v2;
use crate::reply::Reply;

/// `GET trees/tree/{ref}/entries`
pub async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let name = req.param(req.params.reference)?;
    let hash = query.hash_on_ref.as_deref();
    let at = point::v1(("getEntries.refName", &name), ("getEntries.params.hashOnRef", hash))?;
    let list = List {
        only: Restriction::default(),
        contents: false,
        filter: query.filter,
        depth: page::size(query.namespace_depth),
        size: page::size(query.max_records),
        from: page::entries_start(query.page_token.as_deref()),
    };
    let (_, found) = app.catalog.list_entries(&req.principal(), &at, &list).await?;
    Ok(Reply::json(&Response {
        has_more: found.next.is_some(),
        token: found.next.as_ref().map(page::entries_token),
        entries: Each::of(
            found.items.into_iter().map(|listed| EntryV1::from(v2::entries::entry_out(listed))),
        ),
    }))
}

/// `EntriesResponse`, written as it is converted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<E> {
    has_more: bool,
    token: Option<String>,
    entries: E,
}
