//! `GET contents/{key}` and `POST contents`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{GetMultipleContentsRequest, GetMultipleContentsResponseV1};
use lochan_api_spec::nessie::v1::contents::{get_content, get_multiple_contents};
use lochan_server_catalog::nessie::Point;

use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::convert::{content, key_from_text, keys_in, point};
use crate::nessie::refuse::{SIZE, bad, required, violation};
use crate::nessie::v2;
use crate::reply::Reply;

/// `GET contents/{key}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: get_content::Query = req.query()?;
    let (reference, hash) = (query.reference.as_deref(), query.hash_on_ref.as_deref());
    let at = at(&app, reference, hash, "getContent.ref", "getContent.hashOnRef")?;
    let key =
        key_from_text(&req.param(req.params.key)?)?.ok_or_else(|| bad("Content key must not be empty"))?;
    let (_, found) = app.catalog.get_content(&req.principal(), &at, key).await?;
    Ok(Reply::json(&content::out(Some(found.id), found.content)))
}

/// `POST contents`
pub async fn query(app: Arc<App>, req: Req) -> Answer {
    let query: get_multiple_contents::Query = req.query()?;
    let body: Option<GetMultipleContentsRequest> = req.json_or_null()?;
    let (reference, hash) = (query.reference.as_deref(), query.hash_on_ref.as_deref());
    let at = at(&app, reference, hash, "getMultipleContents.ref", "getMultipleContents.hashOnRef")?;
    let body = required("getMultipleContents.request", body)?;
    if body.requested_keys.is_empty() {
        return Err(violation("getMultipleContents.request.requestedKeys", SIZE));
    }
    let keys = keys_in(body.requested_keys)?;
    let (_, found) = app.catalog.get_contents(&req.principal(), &at, keys).await?;
    let contents = found.into_iter().map(v2::contents::found_out).collect();
    Ok(Reply::json(&GetMultipleContentsResponseV1 { contents }))
}

fn at(
    app: &App,
    reference: Option<&str>,
    hash: Option<&str>,
    name_argument: &str,
    hash_argument: &str,
) -> Result<Point, Failure> {
    let name = reference.unwrap_or(app.catalog.settings().default_branch.as_str());
    point::name_v1(name, name_argument)?;
    point::v1(name, hash, hash_argument)
}
