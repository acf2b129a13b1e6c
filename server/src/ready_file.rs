//! The file that says that requests are answered, and where.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

/// What the file holds. Field names are a contract with those who start servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// The process.
    pub pid: u32,
    /// Base URL of the Nessie API, ending in `/api/`.
    pub nessie: String,
    /// Base URL of the Iceberg catalog, ending in `/iceberg`.
    pub iceberg: String,
    /// Root URL of the management listener.
    pub management: String,
    /// The S3 endpoint of `dev`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3: Option<S3>,
}

/// How the S3 endpoint of `dev` is reached.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct S3 {
    /// Its URL.
    pub endpoint: String,
    /// Its key.
    pub access_key: String,
    /// Its secret: made for one machine's experiments, and needed by those who read this file.
    pub secret_key: String,
    /// Its region.
    pub region: String,
    /// Its bucket.
    pub bucket: String,
}

impl std::fmt::Debug for S3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Ready {
    /// Writes the file so that a reader sees all of it or nothing.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let mut aside = file.as_os_str().to_owned();
        aside.push(format!(".{}.tmp", self.pid));
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let mut out = File::create(&aside)?;
        out.write_all(&text)?;
        drop(out);
        std::fs::rename(&aside, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_appears_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ready.json");
        let ready = Ready {
            pid: 7,
            nessie: "http://127.0.0.1:1/api/".into(),
            iceberg: "http://127.0.0.1:1/iceberg".into(),
            management: "http://127.0.0.1:2".into(),
            s3: None,
        };
        ready.write(&file).unwrap();
        ready.write(&file).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(read["pid"], 7);
        assert_eq!(read.as_object().unwrap().len(), 4);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
