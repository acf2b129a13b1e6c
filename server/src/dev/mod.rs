//! `lochan-server dev`: an S3 endpoint beside the catalog, and settings for clients.

pub mod settings;

use std::path::Path;

use anyhow::Context;
use lochan_server_dev::{Credentials, DevS3};
use lochan_storage_files::{S3Config, Secret, WarehouseConfig};

use crate::config::{DEFAULT_WAREHOUSE, Dev};
use crate::listen;
use crate::ready_file::S3;

/// Folder of the endpoint's objects, in the data folder.
const FOLDER: &str = "s3";

/// A running S3 endpoint.
pub struct Endpoint {
    server: DevS3,
    /// How it is reached.
    pub access: S3,
}

impl Endpoint {
    /// Starts the endpoint over a folder in `data_dir`.
    pub async fn start(dev: &Dev, data_dir: &Path) -> anyhow::Result<Self> {
        let listener = listen::open_side(&dev.s3_listen, "the S3 endpoint").await?;
        let secret = dev.secret_access_key.expose().to_owned();
        let credentials = Credentials { access_key: dev.access_key_id.clone(), secret_key: secret.clone() };
        let server = DevS3::start(listener, data_dir.join(FOLDER), credentials, &dev.region, &dev.bucket)
            .await
            .context("cannot start the S3 endpoint")?;
        let access = S3 {
            endpoint: server.endpoint().to_owned(),
            access_key: dev.access_key_id.clone(),
            secret_key: secret,
            region: dev.region.clone(),
            bucket: dev.bucket.clone(),
        };
        Ok(Endpoint { server, access })
    }

    /// The warehouse on the endpoint, used when none is configured.
    pub fn warehouse(&self) -> WarehouseConfig {
        WarehouseConfig {
            name: DEFAULT_WAREHOUSE.to_owned(),
            location: format!("s3://{}/{DEFAULT_WAREHOUSE}", self.access.bucket),
            default: true,
            s3: Some(S3Config {
                endpoint: Some(self.access.endpoint.clone()),
                region: self.access.region.clone(),
                path_style: true,
                access_key_id: Some(self.access.access_key.clone()),
                secret_access_key: Some(Secret::new(self.access.secret_key.clone())),
                ..S3Config::default()
            }),
        }
    }

    /// Stops the endpoint when requests under way are done, within its own bound.
    pub async fn stop(self) {
        self.server.shutdown().await;
    }
}
