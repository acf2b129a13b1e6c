//! `GET trees/{ref}/contents/{key}`, `GET` and `POST trees/{ref}/contents`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    ContentKey as WireKey, ContentResponse, ContentWithKey, GetMultipleContentsRequest,
    GetMultipleContentsResponseV2,
};
use lochan_api_spec::nessie::v2::trees::get_several_contents::Query;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::contents::Found;
use lochan_server_catalog::nessie::hash_order;
use lochan_storage_model::ContentKey;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{
    content, key_from_text, key_out, key_text_of_path, keys_from_texts, keys_in, point, reference,
};
use crate::nessie::refuse::{Checks, SIZE, violation};
use crate::reply::Reply;

const REQUESTED_KEYS: &str = "getMultipleContents.request.requestedKeys";

/// `GET trees/{ref}/contents/{key}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let at = point::of_path(&app, &req, req.params.reference, "getContent.ref")?;
    let key = key_from_text(&key_text_of_path(&req, req.params.key)?)?
        .ok_or_else(|| violation(REQUESTED_KEYS, SIZE))?;
    let (effective, found) = app.catalog.get_content(&req.principal(), &at, key).await?;
    Ok(Reply::json(&ContentResponse {
        content: content::out(Some(found.id), found.content),
        effective_reference: reference::effective_out(&effective),
    }))
}

/// `GET trees/{ref}/contents`
pub async fn get_several(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let at = point::of_path(&app, &req, req.params.reference, "getSeveralContents.ref")?;
    if query.keys.is_empty() {
        return Err(violation(REQUESTED_KEYS, SIZE));
    }
    several(&app, &req, &at, keys_from_texts(&query.keys)?, query.keys.len()).await
}

/// `POST trees/{ref}/contents`
pub async fn query(app: Arc<App>, req: Req) -> Answer {
    let body: Option<GetMultipleContentsRequest> = req.json_or_null()?;
    let mut checks = Checks::default();
    let keys = requested(body, &mut checks);
    let at = point::of_path_in(&app, &req, req.params.reference, "getMultipleContents.ref", &mut checks)?;
    let (keys, at) = checks.done(keys.zip(at))?;
    let asked = keys.len();
    several(&app, &req, &at, keys_in(keys)?, asked).await
}

/// The keys that a body asks for.
pub fn requested(body: Option<GetMultipleContentsRequest>, checks: &mut Checks) -> Option<Vec<WireKey>> {
    let keys = checks.present("getMultipleContents.request", body)?.requested_keys;
    checks.require(REQUESTED_KEYS, !keys.is_empty(), SIZE);
    Some(keys)
}

async fn several(app: &App, req: &Req, at: &Point, keys: Vec<ContentKey>, asked: usize) -> Answer {
    let (effective, found) = app.catalog.get_contents(&req.principal(), at, keys).await?;
    Ok(Reply::json(&GetMultipleContentsResponseV2 {
        contents: all_out(found, asked),
        effective_reference: reference::effective_out(&effective),
    }))
}

/// Contents found among `asked` keys.
pub fn all_out(mut found: Vec<Found>, asked: usize) -> Vec<ContentWithKey> {
    hash_order::sort(&mut found, asked, |found| found.key.elements());
    found.into_iter().map(found_out).collect()
}

/// A content under its key.
fn found_out(found: Found) -> ContentWithKey {
    ContentWithKey { key: key_out(&found.key), content: content::out(Some(found.id), found.content) }
}
