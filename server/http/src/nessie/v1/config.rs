//! `GET config`

use std::sync::Arc;

use lochan_api_spec::nessie::model::NessieConfigurationV1;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

/// `GET config`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let config = app.catalog.server_config(&req.principal()).await?;
    Ok(Reply::json(&NessieConfigurationV1 {
        default_branch: config.default_branch.to_string(),
        max_supported_api_version: 2,
    }))
}
