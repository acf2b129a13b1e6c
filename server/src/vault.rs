//! Where backups are kept: a folder or a prefix in a bucket.

use anyhow::Context;
use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_engine::backup::{Vault, VaultError};
use lochan_storage_files::{Error, Location, S3Config, Warehouse, WarehouseConfig, Warehouses};

/// Files below one location, through the clients that warehouses use.
pub struct Place {
    files: Warehouse,
    root: Location,
}

impl Place {
    /// The backup at `location`: a plain path, `file:///…` or `s3://…`. Nothing is connected to yet.
    pub fn open(location: &str, s3: Option<S3Config>) -> anyhow::Result<Self> {
        let location = crate::config::absolute(location);
        let s3 = s3.filter(|_| !location.starts_with("file:"));
        let config = WarehouseConfig { name: "backup".into(), location, default: true, s3 };
        let files = Warehouses::open(vec![config]).context("the place of the backup cannot be used")?;
        let files = files.default().clone();
        let root = files.location().clone();
        Ok(Self { files, root })
    }

    fn at(&self, name: &str) -> Result<Location, VaultError> {
        let mut at = self.root.clone();
        for part in name.split('/') {
            at = at.join(part).map_err(|error| told(&error))?;
        }
        Ok(at)
    }
}

/// The whole chain of causes: whoever runs a backup is the operator.
fn told(error: &Error) -> VaultError {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    VaultError(text)
}

#[async_trait]
impl Vault for Place {
    async fn read(&self, name: &str) -> Result<Option<Bytes>, VaultError> {
        self.files.read(&self.at(name)?).await.map_err(|error| told(&error))
    }

    async fn write(&self, name: &str, bytes: Bytes) -> Result<(), VaultError> {
        self.files.write(&self.at(name)?, bytes).await.map_err(|error| told(&error))
    }

    async fn delete(&self, name: &str) -> Result<(), VaultError> {
        self.files.delete(&self.at(name)?).await.map_err(|error| told(&error))
    }
}
