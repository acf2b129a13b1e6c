//! `GET trees/{ref}/contents/{key}`, `GET` and `POST trees/{ref}/contents`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    ContentResponse, ContentWithKey, GetMultipleContentsRequest, GetMultipleContentsResponseV2,
};
use lochan_api_spec::nessie::v2::trees::get_several_contents::Query;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::contents::Found;
use lochan_storage_model::ContentKey;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{content, key_from_text, key_out, keys_from_texts, keys_in, point, reference};
use crate::nessie::refuse::{SIZE, required, violation};
use crate::reply::Reply;

const REQUESTED_KEYS: &str = "getMultipleContents.request.requestedKeys";

/// `GET trees/{ref}/contents/{key}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let at = point::of_path(&app, &req, req.params.reference, "getContent.ref")?;
    let key = key_from_text(&req.param(req.params.key)?)?.ok_or_else(|| violation(REQUESTED_KEYS, SIZE))?;
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
    several(&app, &req, &at, keys_from_texts(&query.keys)?).await
}

/// `POST trees/{ref}/contents`
pub async fn query(app: Arc<App>, req: Req) -> Answer {
    let body: Option<GetMultipleContentsRequest> = req.json_or_null()?;
    let at = point::of_path(&app, &req, req.params.reference, "getMultipleContents.ref")?;
    let body = required("getMultipleContents.request", body)?;
    if body.requested_keys.is_empty() {
        return Err(violation(REQUESTED_KEYS, SIZE));
    }
    several(&app, &req, &at, keys_in(body.requested_keys)?).await
}

async fn several(app: &App, req: &Req, at: &Point, keys: Vec<ContentKey>) -> Answer {
    let (effective, found) = app.catalog.get_contents(&req.principal(), at, keys).await?;
    Ok(Reply::json(&GetMultipleContentsResponseV2 {
        contents: found.into_iter().map(found_out).collect(),
        effective_reference: reference::effective_out(&effective),
    }))
}

/// A content under its key.
pub fn found_out(found: Found) -> ContentWithKey {
    ContentWithKey { key: key_out(&found.key), content: content::out(Some(found.id), found.content) }
}
