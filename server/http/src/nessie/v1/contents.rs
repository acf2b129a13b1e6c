//! `GET contents/{key}` and `POST contents`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{GetMultipleContentsRequest, GetMultipleContentsResponseV1};
use lochan_api_spec::nessie::v1::contents::{get_content, get_multiple_contents};
use lochan_api_spec::syntax::reference::check_name;
use lochan_server_catalog::Error;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{content, key_from_text, key_text_of_path, keys_in, point};
use crate::nessie::refuse::{Checks, bad};
use crate::nessie::v2;
use crate::reply::Reply;

/// `GET contents/{key}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: get_content::Query = req.query()?;
    let asked = query.reference.as_deref().filter(|name| !name.is_empty());
    let name = asked.unwrap_or(app.catalog.settings().default_branch.as_str());
    let at = point::v1(("getContent.ref", name), ("getContent.hashOnRef", query.hash_on_ref.as_deref()))?;
    let key = key_from_text(&key_text_of_path(&req, req.params.key)?)?
        .ok_or_else(|| bad("Content key must not be empty"))?;
    let found = app.catalog.get_content(&req.principal(), &at, key).await;
    let (_, found) = found.map_err(|error| match error {
        // The reference server names what was asked for, which is nothing.
        Error::ContentNotFound { key, .. } if asked.is_none() => {
            Error::ContentNotFound { key, reference: "null".to_owned() }
        }
        error => error,
    })?;
    Ok(Reply::json(&content::out(Some(found.id), found.content)))
}

/// `POST contents`
pub async fn query(app: Arc<App>, req: Req) -> Answer {
    let query: get_multiple_contents::Query = req.query()?;
    let body: Option<GetMultipleContentsRequest> = req.json_or_null()?;
    let name = query.reference.as_deref().unwrap_or(app.catalog.settings().default_branch.as_str());
    let mut checks = Checks::default();
    let keys = v2::contents::requested(body, &mut checks);
    checks.reference("getMultipleContents.ref", check_name(name));
    let at = At::parse(query.hash_on_ref.as_deref().unwrap_or_default());
    let at = checks.reference("getMultipleContents.hashOnRef", at);
    let (keys, at) = checks.done(keys.zip(at))?;
    let asked = keys.len();
    let at = point::named(name, at);
    let (_, found) = app.catalog.get_contents(&req.principal(), &at, keys_in(keys)?).await?;
    Ok(Reply::json(&GetMultipleContentsResponseV1 { contents: v2::contents::all_out(found, asked) }))
}
