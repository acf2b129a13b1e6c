//! `GET /iceberg/v1/config` and `GET /iceberg/{reference}/v1/config` (Iceberg REST contract, 3.2).

use std::sync::Arc;

use lochan_api_spec::iceberg::config::{CatalogConfig, get_config::Query};
use lochan_api_spec::iceberg::paging::PAGE_SIZE_DEFAULT;
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::prefix::{PATTERN, Prefix};

use super::{announced, convert};
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::replay;
use crate::reply::Reply;

pub(super) async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let (mut place, prefix) = convert::place_of(req.raw_param(req.params.reference))?;
    let asked = query.warehouse.filter(|name| !name.is_empty());
    let names_warehouse = asked.is_some() || place.warehouse.is_some();
    place.warehouse = asked.or(place.warehouse);
    let setup = app.catalog.iceberg().client_setup(&convert::principal(&req), &place).await?;

    let default_branch = app.catalog.settings().default_branch.to_string();
    let reference = prefix.reference.unwrap_or_else(|| RefSpec::named(default_branch.as_str()));
    let branch = reference.name.clone().unwrap_or_else(|| reference.to_string());
    let warehouse = (names_warehouse || !setup.is_default).then_some(setup.warehouse);
    let prefix = Prefix { reference: Some(reference), warehouse }.encode();
    let base = app.base_url(&req);

    let defaults = [
        ("warehouse", setup.location),
        ("prefix", prefix),
        ("rest-page-size", PAGE_SIZE_DEFAULT.to_string()),
        ("rest-metrics-reporting-enabled", "false".to_owned()),
    ];
    let overrides = [
        ("uri", format!("{base}/iceberg/")),
        ("nessie.iceberg-base-uri", format!("{base}/iceberg/")),
        ("nessie.core-base-uri", format!("{base}/api/")),
        ("nessie.catalog-base-uri", format!("{base}/catalog/v1/")),
        ("nessie.is-nessie-catalog", "true".to_owned()),
        ("nessie.prefix-pattern", PATTERN.to_owned()),
        ("nessie.default-branch.name", branch),
    ];
    let texts = |pairs: Vec<(&str, String)>| pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    Ok(Reply::json(&CatalogConfig {
        defaults: texts(defaults.to_vec()),
        overrides: texts(overrides.to_vec()),
        endpoints: announced(),
        idempotency_key_lifetime: Some(replay::lifetime()),
    }))
}
