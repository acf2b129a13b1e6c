//! `GET /ext/v1/info`

use std::sync::Arc;

use lochan_api_spec::ext::get_info::{Info, Store, Warehouse};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

/// `GET /ext/v1/info`
pub async fn get_info(app: Arc<App>, req: Req) -> Answer {
    let warehouses = app.catalog.warehouses_for(&req.principal()).await?;
    let default = app.catalog.warehouses().default().name();
    Ok(Reply::json(&Info {
        name: "lochan-server".to_owned(),
        version: app.site.version.to_owned(),
        default_branch: app.catalog.settings().default_branch.to_string(),
        store: Store { engine: app.site.store_engine.to_owned(), durability: app.site.durability.to_owned() },
        warehouses: warehouses
            .into_iter()
            .map(|warehouse| Warehouse {
                name: warehouse.name().to_owned(),
                location: warehouse.location().to_string(),
                default: warehouse.name() == default,
            })
            .collect(),
    }))
}
