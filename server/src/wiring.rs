//! The one place that picks implementations: it opens what the settings name and puts the parts together.

use std::sync::Arc;

use lochan_server_http::management::Health;
use lochan_server_http::{Handlers, Service, Telemetry};
use lochan_storage_files::WarehouseConfig;

use crate::config::Config;

/// The application that handlers are given.
pub struct App;

/// A server put together, not yet serving.
pub struct Wired {
    /// The public surfaces.
    pub service: Arc<Service<App>>,
}

impl Wired {
    /// Opens everything `config` names.
    pub async fn open(
        _config: &Config,
        _warehouses: Vec<WarehouseConfig>,
        telemetry: Arc<Telemetry>,
    ) -> anyhow::Result<Self> {
        Ok(Wired { service: Service::new(Arc::new(App), Handlers::new(), telemetry) })
    }

    /// How the parts are.
    pub fn health(&self) -> Health {
        Health { reads_refused: None, writes_refused: None }
    }

    /// Closes the store; nothing is at work any more.
    pub async fn close(&self) {}
}
