//! A whole server in this process: settings, store in a temporary folder, listeners on free ports.

use lochan_server::{
    Mode, Running,
    config::{self, Config, Layer},
    start,
};
use tempfile::TempDir;

/// A running server.
pub struct Live {
    /// Where it is reached.
    pub running: Running,
    config: Config,
    mode: Mode,
    folder: TempDir,
}

impl Live {
    /// Starts a server on an empty folder.
    pub async fn start(mode: Mode) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let vars = [
            ("LOCHAN__STORE__DATA_DIR", folder.path().to_str().expect("temporary folders have plain names")),
            ("LOCHAN__SERVER__LISTEN", "127.0.0.1:0"),
            ("LOCHAN__SERVER__MANAGEMENT_LISTEN", "127.0.0.1:0"),
            ("LOCHAN__DEV__S3_LISTEN", "127.0.0.1:0"),
        ];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = config::load(None, vars, Layer::new()).expect("these settings exist").config;
        let running = start(&config, mode).await.expect("a server starts on an empty folder");
        Self { running, config, mode, folder }
    }

    /// The root URL, with a slash at the end.
    pub fn root(&self) -> &str {
        self.running.ready.nessie.strip_suffix("api/").expect("the address ends so by contract")
    }

    /// Stops the server and starts it again on the same folder, on other ports.
    #[allow(dead_code, reason = "not every suite restarts")]
    pub async fn restart(self) -> Self {
        let Self { running, config, mode, folder } = self;
        running.stop().await;
        let running = start(&config, mode).await.expect("a server starts on a folder it left");
        Self { running, config, mode, folder }
    }

    /// Stops the server.
    pub async fn stop(self) {
        self.running.stop().await;
        drop(self.folder);
    }
}
