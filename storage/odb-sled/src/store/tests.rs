use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use lochan_storage_odb::{
    Sweep,
    conformance::{self, Backend},
};
use tempfile::TempDir;

use super::*;

#[derive(Default)]
struct InFolders {
    folders: Mutex<Vec<TempDir>>,
}

impl InFolders {
    fn last(&self) -> SledConfig {
        SledConfig::new(self.folders.lock().unwrap().last().unwrap().path().join("store"))
    }
}

#[async_trait]
impl Backend for InFolders {
    async fn create(&self) -> Arc<dyn Sweep> {
        self.folders.lock().unwrap().push(tempfile::tempdir().unwrap());
        Arc::new(SledStore::open(&self.last()).unwrap())
    }

    async fn reopen(&self, store: Arc<dyn Sweep>) -> Option<Arc<dyn Sweep>> {
        drop(store);
        Some(Arc::new(SledStore::open(&self.last()).unwrap()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    conformance::run(&InFolders::default()).await;
}
