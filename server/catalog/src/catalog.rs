//! The catalog: what all use cases share.

use std::sync::Arc;

use lochan_storage_engine::Engine;
use lochan_storage_files::Warehouses;
use lochan_storage_model::RefName;

use crate::{
    access::{Authorizer, Check, Principal},
    error::Error,
    ext::Transfers,
    iceberg::documents::Documents,
    nessie::filter::Filters,
};

/// Settings of the catalog.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the default branch.
    pub default_branch: RefName,
    /// Whether branches that share no commit merge, as they do when both were cut while nothing was committed yet.
    pub merge_unrelated: bool,
    /// Metadata documents kept in memory, in bytes.
    pub document_cache_bytes: u64,
}

struct Shared {
    engine: Engine,
    warehouses: Warehouses,
    authorizer: Arc<dyn Authorizer>,
    settings: Settings,
    documents: Documents,
    filters: Filters,
    transfers: Transfers,
}

/// Every use case of the server. Cheap to clone.
#[derive(Clone)]
pub struct Catalog(Arc<Shared>);

impl Catalog {
    /// Puts the parts together. Call [`Catalog::prepare`] before the first request.
    #[must_use]
    pub fn new(
        engine: Engine,
        warehouses: Warehouses,
        authorizer: Arc<dyn Authorizer>,
        settings: Settings,
    ) -> Self {
        let documents = Documents::new(settings.document_cache_bytes);
        Self(Arc::new(Shared {
            engine,
            warehouses,
            authorizer,
            settings,
            documents,
            filters: Filters::default(),
            transfers: Transfers::default(),
        }))
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The warehouses.
    #[must_use]
    pub fn warehouses(&self) -> &Warehouses {
        &self.0.warehouses
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Metadata documents of tables and views.
    pub(crate) fn documents(&self) -> &Documents {
        &self.0.documents
    }

    /// Compiled filters.
    pub(crate) fn filters(&self) -> &Filters {
        &self.0.filters
    }

    /// Exports and imports at work.
    pub(crate) fn transfers(&self) -> &Transfers {
        &self.0.transfers
    }

    /// Whether everything is allowed to everybody.
    pub(crate) fn is_open(&self) -> bool {
        self.0.authorizer.is_open()
    }

    /// Asks the authorizer; every subject must be allowed.
    pub(crate) async fn authorize(&self, who: &Principal, check: &Check) -> Result<(), Error> {
        let answers = self.0.authorizer.check(who, check).await?;
        let refused: Vec<String> = check
            .subjects
            .iter()
            .zip(answers)
            .filter(|(_, allowed)| !allowed)
            .map(|(subject, _)| subject.refusal(who))
            .collect();
        if refused.is_empty() { Ok(()) } else { Err(Error::Forbidden(refused.join(", "))) }
    }

    /// The same for a question that was put together from what is there, of which `blind` is what was not read for it.
    pub(crate) async fn authorize_read(
        &self,
        who: &Principal,
        check: &Check,
        blind: &Check,
    ) -> Result<(), Error> {
        match self.authorize(who, check).await {
            Ok(()) => Ok(()),
            Err(refused) => Err(self.refusal(who, refused, blind).await?),
        }
    }

    /// What is told of a refusal. Who may not see a reference is not told what it holds, not even by which keys may not be
    /// changed: only what is refused of `blind`, for which nothing was read.
    pub(crate) async fn refusal(
        &self,
        who: &Principal,
        refused: Error,
        blind: &Check,
    ) -> Result<Error, Error> {
        if self.visible(who, &blind.views()).await?.contains(&false) {
            self.authorize(who, blind).await?;
        }
        Ok(refused)
    }

    /// What was found. What is not there is told to those alone who may know of it.
    pub(crate) async fn found<T>(
        &self,
        who: &Principal,
        check: &Check,
        found: Result<T, Error>,
    ) -> Result<T, Error> {
        if found.is_err() {
            self.authorize(who, check).await?;
        }
        found
    }

    /// Asks the authorizer about items of a list; the answers tell which ones may be shown.
    pub(crate) async fn visible(&self, who: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        self.0.authorizer.check(who, check).await
    }
}
