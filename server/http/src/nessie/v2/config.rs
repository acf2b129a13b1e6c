//! `GET config`, `GET` and `POST config/repository`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    NessieConfigurationV2, RepositoryConfig, RepositoryConfigResponse, UpdateRepositoryConfigRequest,
    UpdateRepositoryConfigResponse,
};
use lochan_api_spec::nessie::v2::config::get_repository_config::Query;
use lochan_api_spec::syntax::Instant;
use serde::Deserialize;

use crate::app::App;
use crate::extract::{Req, from_json};
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::refuse::{bad, required};
use crate::reply::Reply;

/// The announced version of the contract: keys in URLs may be escaped.
const SPEC_VERSION: &str = "2.2.0";

/// `GET config`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let config = app.catalog.server_config(&req.principal()).await?;
    let created = config.created.map(Instant::from_micros);
    Ok(Reply::json(&NessieConfigurationV2 {
        default_branch: config.default_branch.to_string(),
        min_supported_api_version: 1,
        max_supported_api_version: 2,
        actual_api_version: 2,
        spec_version: Some(SPEC_VERSION.to_owned()),
        no_ancestor_hash: Some(config.no_ancestor.to_string()),
        repository_creation_timestamp: created,
        oldest_possible_commit_timestamp: created,
        additional_properties: Default::default(),
    }))
}

/// A type that every client knows and no document has.
const UNKNOWN: &str = "UNKNOWN";

/// `GET config/repository`
pub async fn get_repository(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let mut kinds: Vec<&str> = Vec::new();
    for asked in query.types.iter().filter(|asked| *asked != UNKNOWN) {
        let known = RepositoryConfig::TYPES
            .iter()
            .find(|known| *known == asked)
            .ok_or_else(|| bad(format!("No repository config type registered for name {asked}")))?;
        if !kinds.contains(known) {
            kinds.push(known);
        }
    }
    let documents = app.catalog.repository_configs(&req.principal(), &kinds).await?;
    let configs = documents.iter().map(|document| stored(document)).collect::<Result<_, _>>()?;
    Ok(Reply::json(&RepositoryConfigResponse { configs }))
}

/// The part of a request that says whether the rest can be understood.
#[derive(Deserialize)]
struct Kind {
    config: Option<KindOnly>,
}

#[derive(Deserialize)]
struct KindOnly {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// `POST config/repository`
pub async fn update_repository(app: Arc<App>, req: Arc<Req>) -> Answer {
    let kind: Option<Kind> = req.json_or_null()?;
    let kind = required("updateRepositoryConfig.repositoryConfigUpdate", kind)?.config;
    if let Some(kind) = kind.and_then(|config| config.kind)
        && !RepositoryConfig::TYPES.contains(&kind.as_str())
    {
        return Err(bad(format!(
            "Repository config type bundle for '{kind}' is not available on the Nessie server side."
        )));
    }
    let request: UpdateRepositoryConfigRequest = req.json()?;
    let document = serde_json::to_vec(&request.config).map_err(|error| Failure::Unexpected(error.into()))?;
    let kind = request.config.type_name();
    let previous = app.catalog.update_repository_config(&req.principal(), kind, document.into()).await?;
    let previous = previous.map(|document| stored(&document)).transpose()?;
    Ok(Reply::json(&UpdateRepositoryConfigResponse { previous }))
}

fn stored(document: &[u8]) -> Result<RepositoryConfig, Failure> {
    // Only what was read as such a document is stored.
    from_json(document).map_err(|error| Failure::Unexpected(error.into()))
}
