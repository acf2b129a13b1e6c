//! `GET trees/tree/{ref}/entries`

use std::sync::Arc;

use lochan_api_spec::nessie::model::EntriesResponseV1;
use lochan_api_spec::nessie::v1::trees::get_entries::Query;
use lochan_server_catalog::nessie::entries::{List, Restriction};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{page, point};
use crate::nessie::v2;
use crate::reply::Reply;

/// `GET trees/tree/{ref}/entries`
pub async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let name = req.param(req.params.reference)?;
    point::name_v1(&name, "getEntries.refName")?;
    let at = point::v1(&name, query.hash_on_ref.as_deref(), "getEntries.params.hashOnRef")?;
    let list = List {
        only: Restriction::default(),
        contents: false,
        filter: query.filter,
        depth: page::size(query.namespace_depth),
        size: page::size(query.max_records),
        from: query.page_token.as_deref().map(page::from_entries_token).transpose()?,
    };
    let (effective, found) = app.catalog.list_entries(&req.principal(), &at, &list).await?;
    Ok(Reply::json(&EntriesResponseV1::from(v2::entries::out(&effective, found))))
}
