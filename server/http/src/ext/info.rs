//! `GET /ext/v1/info`: what this server is and what it promises.

use std::sync::Arc;

use serde::Serialize;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

#[derive(Serialize)]
struct Info<'a> {
    name: &'static str,
    version: &'a str,
    default_branch: &'a str,
    store: Store<'a>,
    warehouses: Vec<Warehouse<'a>>,
}

#[derive(Serialize)]
struct Store<'a> {
    engine: &'a str,
    durability: &'a str,
}

#[derive(Serialize)]
struct Warehouse<'a> {
    name: &'a str,
    location: String,
    default: bool,
}

/// `GET /ext/v1/info`
pub async fn get_info(app: Arc<App>, _req: Req) -> Answer {
    let warehouses = app.catalog.warehouses();
    let default = warehouses.default().name();
    Ok(Reply::json(&Info {
        name: "lochan-server",
        version: app.site.version,
        default_branch: app.catalog.settings().default_branch.as_str(),
        store: Store { engine: app.site.store_engine, durability: app.site.durability },
        warehouses: warehouses
            .iter()
            .map(|warehouse| Warehouse {
                name: warehouse.name(),
                location: warehouse.location().to_string(),
                default: warehouse.name() == default,
            })
            .collect(),
    }))
}
