//! The one place that picks implementations: it opens what the settings name and puts the parts together.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use lochan_server_auth::oidc::Oidc;
use lochan_server_auth::{Bearer, Tokens};
use lochan_server_catalog::{Authenticator, Authorizer, Catalog, OpenAuthorizer, Settings};
use lochan_server_http::extract::Proxy;
use lochan_server_http::limits::DRAIN_TIMEOUT;
use lochan_server_http::management::Health;
use lochan_server_http::{App, Service, Site, Telemetry, routes};
use lochan_storage::{StoreConfig, Sweep};
use lochan_storage_engine::merge::Rules;
use lochan_storage_engine::{Engine, Options};
use lochan_storage_files::{WarehouseConfig, Warehouses};
use lochan_storage_model::RefName;
use lochan_storage_model::ports::{SystemClock, SystemRng};
use lochan_storage_odb::{Store, Writes};

use crate::config::{self, Config};

/// Folder of the store, in the data folder.
pub const STORE_FOLDER: &str = "store";

/// A server put together, not yet serving.
pub struct Wired {
    /// The public surfaces.
    pub service: Arc<Service<App>>,
    /// The store, for maintenance.
    pub store: Arc<dyn Sweep>,
    engine: Engine,
}

impl Wired {
    /// Opens everything `config` names. `local_url` is the root URL of the public listener.
    pub async fn open(
        config: &Config,
        warehouses: Vec<WarehouseConfig>,
        local_url: String,
        telemetry: Arc<Telemetry>,
    ) -> anyhow::Result<Self> {
        let default_branch = RefName::new(&config.catalog.default_branch).with_context(|| {
            format!("'{}' is no name for the default branch", config.catalog.default_branch)
        })?;
        let warehouses = Warehouses::open(warehouses).context("cannot open the warehouses")?;
        let store_config = store_config(&config.store);
        let store = open_store(store_config.clone()).await?;
        let engine = Engine::start(
            store.clone() as Arc<dyn Store>,
            Arc::new(SystemClock),
            Arc::new(SystemRng),
            Rules::default(),
            Options::default(),
        )
        .context("cannot start the engine")?;
        let (authenticator, authorizer) = guards(config.auth.as_ref())?;
        let settings = Settings {
            default_branch,
            merge_unrelated: config.catalog.merge_unrelated,
            document_cache_bytes: u64::from(config.catalog.document_cache_mib) << 20,
        };
        let catalog = Catalog::new(engine.clone(), warehouses, authorizer, settings);
        if let Err(error) = catalog.prepare().await {
            // Whoever hears of the refusal may start again at once: the writer lets go of the store.
            engine.stop(DRAIN_TIMEOUT).await;
            return Err(error).context("cannot prepare the repository");
        }
        let site = Site {
            public_url: config.server.public_url.clone(),
            proxy: if config.server.trusted_proxy { Proxy::Trusted } else { Proxy::Unknown },
            local_url,
            version: env!("CARGO_PKG_VERSION"),
            store_engine: store_config.engine.name(),
            durability: store_config.durability.name(),
        };
        let service = Service::guarded(Arc::new(App { catalog, site }), routes(), telemetry, authenticator);
        Ok(Wired { service, store, engine })
    }

    /// How the parts are, without reading or writing the disk.
    pub fn health(&self) -> Health {
        let store = self.engine.store();
        let writes_refused = match store.writes() {
            Writes::Allowed => None,
            Writes::Refused(cause) | Writes::Full(cause) => Some(cause),
        };
        Health { reads_refused: store.unreadable(), writes_refused }
    }

    /// Lets the writer finish and stores what a quick start needs; nothing is at work any more.
    pub async fn close(&self) {
        self.engine.stop(DRAIN_TIMEOUT).await;
    }
}

/// Who tells who asks, and who says what they may do. Without authentication nobody asks, and everything is allowed.
type Guards = (Option<Arc<dyn Authenticator>>, Arc<dyn Authorizer>);

fn guards(auth: Option<&config::Auth>) -> anyhow::Result<Guards> {
    let Some(auth) = auth else { return Ok((None, Arc::new(OpenAuthorizer))) };
    let policy = auth.policy()?;
    if policy.is_empty() {
        tracing::warn!(
            "authentication is on and there is no rule in [authz.rules]: nobody may do anything; \
             the rule \"true\" lets everybody with a token do everything"
        );
    }
    let tokens = Tokens::new(auth.tokens.clone())?;
    let oidc = auth.oidc.as_ref().map(Oidc::new).transpose().context("settings 'auth.oidc'")?;
    Ok((Some(Arc::new(Bearer::new(tokens, oidc))), Arc::new(policy)))
}

/// Where the store of these settings is.
pub fn store_folder(store: &config::Store) -> PathBuf {
    store.data_dir.join(STORE_FOLDER)
}

/// How the store of these settings is opened.
pub fn store_config(store: &config::Store) -> StoreConfig {
    StoreConfig {
        engine: store.engine,
        path: store_folder(store),
        cache_bytes: u64::from(store.cache_mib) << 20,
        durability: store.durability,
        reserve_bytes: u64::from(store.reserve_mib) << 20,
        replay_bytes: u64::from(store.replay_mib) << 20,
    }
}

/// Opens the store of these settings, which must be there.
pub async fn open_existing_store(store: &config::Store) -> anyhow::Result<Arc<dyn Sweep>> {
    let folder = store_folder(store);
    if !Path::new(&folder).is_dir() {
        anyhow::bail!("there is no store in {}", folder.display());
    }
    open_store(store_config(store)).await
}

/// Opens what is left of the damaged store of these settings, in a copy.
pub async fn open_damaged_store(
    store: &config::Store,
    copy: &Path,
    repository: [u8; 16],
) -> anyhow::Result<Arc<dyn Sweep>> {
    let (config, copy) = (store_config(store), copy.to_owned());
    let opened =
        tokio::task::spawn_blocking(move || lochan_storage::open_damaged(&config, &copy, repository));
    Ok(opened.await.context("opening the copy ended early")??)
}

/// Opens a store, and makes it if it is absent: then in a folder that its owner alone can enter, since it holds in the clear
/// what rules hide.
pub async fn open_store(config: StoreConfig) -> anyhow::Result<Arc<dyn Sweep>> {
    let folder = config.path.clone();
    let is_new = !folder.exists();
    let opened = tokio::task::spawn_blocking(move || lochan_storage::open(&config)).await;
    let store = opened
        .context("opening the store ended early")?
        .with_context(|| format!("cannot open the store in {}", folder.display()))?;
    if is_new && folder.is_dir() {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))
            .with_context(|| format!("cannot close {} to others", folder.display()))?;
    }
    Ok(store)
}
