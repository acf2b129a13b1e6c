//! Settings: defaults, then a TOML file, then the environment, then flags, each winning over those before.
//!
//! All sources know the same keys (`keys`); an unknown one is an error that names the nearest. The result is one
//! [`Config`], built once and handed down; nothing reads settings anywhere else.

mod auth;
mod error;
mod keys;
mod layer;
mod print;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use lochan_storage_files::{S3Config, S3Fault, Secret, WarehouseConfig, base_url};

pub use auth::Auth;
pub use error::Error;
use keys::FILE_SUFFIX;
pub use layer::{Layer, Origin};
use layer::{Merged, Value};
pub use print::print;

/// Largest configuration or secret file read, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Name of the warehouse that is there when none is configured.
pub const DEFAULT_WAREHOUSE: &str = "warehouse";

/// The effective settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// `[server]`.
    pub server: Server,
    /// `[store]`.
    pub store: Store,
    /// `[scrub]`.
    pub scrub: Scrub,
    /// `[backup]`.
    pub backup: Backup,
    /// `[catalog]`.
    pub catalog: Catalog,
    /// `[auth]` and `[authz]`; `None` while nobody is asked who they are.
    pub auth: Option<Auth>,
    /// `[log]`.
    pub log: Log,
    /// `[dev]`.
    pub dev: Dev,
    /// `[warehouses.*]`, the first mentioned first. Empty when none is configured.
    pub warehouses: Vec<WarehouseConfig>,
}

/// Listeners and threads.
#[derive(Clone, Debug)]
pub struct Server {
    /// Address of the public surfaces.
    pub listen: String,
    /// Address of health and metrics.
    pub management_listen: Listen,
    /// The URL under which clients reach the public surfaces, if it is not the host that they name.
    pub public_url: Option<String>,
    /// Whether `X-Forwarded-*` headers are believed: a proxy that sets them stands before every client.
    pub trusted_proxy: bool,
    /// Whether other machines may come in unasked.
    pub allow_unauthenticated: bool,
    /// Threads that serve; 0 for one per core.
    pub worker_threads: u32,
}

/// An address, and whether somebody chose it: one that nobody chose may give way when it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Host and port.
    pub address: String,
    /// Whether it was set.
    pub is_chosen: bool,
}

/// The embedded store.
#[derive(Clone, Debug)]
pub struct Store {
    /// The folder it is in, beside the warehouse that is there when none is configured.
    pub data_dir: PathBuf,
    /// Which engine keeps it.
    pub engine: lochan_storage::Engine,
    /// When a write is acknowledged.
    pub durability: lochan_storage::Durability,
    /// Page cache of the engine, in MiB; filled on use.
    pub cache_mib: u32,
    /// Free space that the disk must have for a write to be taken, in MiB; at most a twentieth of the disk, 0 for none.
    pub reserve_mib: u32,
    /// Log of the engine that a start has to read, about, in MiB; 0 for whatever was written since the last start.
    pub replay_mib: u32,
}

/// The scrub in the background.
#[derive(Clone, Copy, Debug)]
pub struct Scrub {
    /// How fast it reads, in MiB in a second; 0 for none at all.
    pub mib_per_second: u32,
    /// Pause between two rounds, in hours.
    pub every_hours: u32,
    /// Pause before the first one, in seconds.
    pub begin_after_seconds: u32,
}

/// Backups.
#[derive(Clone, Debug)]
pub struct Backup {
    /// How fast the store is read, in MiB in a second; 0 for no bound.
    pub mib_per_second: u32,
    /// How a bucket is reached.
    pub s3: Option<S3Config>,
}

/// The catalog.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The branch that a new store starts with.
    pub default_branch: String,
    /// Whether branches that share no commit may be merged.
    pub merge_unrelated: bool,
    /// Table and view metadata kept in memory, in MiB.
    pub document_cache_mib: u32,
}

/// Logs.
#[derive(Clone, Debug)]
pub struct Log {
    /// What is logged, as targets and levels.
    pub level: String,
    /// Whether as JSON.
    pub is_json: bool,
}

/// The S3 endpoint of `lochan-server dev`.
#[derive(Clone, Debug)]
pub struct Dev {
    /// Its address.
    pub s3_listen: Listen,
    /// Its bucket.
    pub bucket: String,
    /// Its region.
    pub region: String,
    /// Its key.
    pub access_key_id: String,
    /// Its secret.
    pub secret_access_key: Secret,
}

/// Settings with their origins.
#[derive(Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    merged: Merged,
}

impl fmt::Debug for Loaded {
    // What was merged holds secrets in the clear; the settings mask them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}

/// Loads the settings: defaults, the file if there is one, variables, flags.
pub fn load(
    file: Option<&Path>,
    vars: impl IntoIterator<Item = (String, String)>,
    flags: Layer,
) -> Result<Loaded, Error> {
    let file_layer = match file {
        Some(file) => {
            let unreadable = |source| Error::Unreadable { file: file.to_owned(), source };
            Layer::from_toml(&read_bounded(file).map_err(unreadable)?, file)?
        }
        None => Layer::new(),
    };
    let merged = Merged::of([file_layer, Layer::from_env(vars), flags])?;
    Ok(Loaded { config: build(&merged)?, merged })
}

fn build(merged: &Merged) -> Result<Config, Error> {
    let get = Getter(merged);
    let listen = |path: &[&str]| Listen {
        address: get.text(path).unwrap_or_default(),
        is_chosen: merged.get(path).is_some_and(|entry| entry.origin != Origin::Default),
    };
    Ok(Config {
        server: Server {
            listen: get.text(&["server", "listen"]).unwrap_or_default(),
            management_listen: listen(&["server", "management_listen"]),
            public_url: public_url(&get)?,
            trusted_proxy: get.flag(&["server", "trusted_proxy"]).unwrap_or(false),
            allow_unauthenticated: get.flag(&["server", "allow_unauthenticated"]).unwrap_or(false),
            worker_threads: get.number(&["server", "worker_threads"]).unwrap_or(0),
        },
        store: Store {
            data_dir: get.text(&["store", "data_dir"]).unwrap_or_default().into(),
            engine: get.word(&["store", "engine"]),
            durability: get.word(&["store", "durability"]),
            cache_mib: get.number(&["store", "cache_mib"]).unwrap_or(0),
            reserve_mib: get.number(&["store", "reserve_mib"]).unwrap_or(0),
            replay_mib: get.number(&["store", "replay_mib"]).unwrap_or(0),
        },
        scrub: Scrub {
            mib_per_second: get.number(&["scrub", "mib_per_second"]).unwrap_or(0),
            every_hours: get.number(&["scrub", "every_hours"]).unwrap_or(0),
            begin_after_seconds: get.number(&["scrub", "begin_after_seconds"]).unwrap_or(0),
        },
        backup: Backup {
            mib_per_second: get.number(&["backup", "mib_per_second"]).unwrap_or(0),
            s3: s3_settings(merged, &["backup", "s3"])?,
        },
        catalog: Catalog {
            default_branch: get.text(&["catalog", "default_branch"]).unwrap_or_default(),
            merge_unrelated: get.flag(&["catalog", "merge_unrelated"]).unwrap_or(false),
            document_cache_mib: get.number(&["catalog", "document_cache_mib"]).unwrap_or(0),
        },
        log: Log {
            level: get.text(&["log", "level"]).unwrap_or_default(),
            is_json: get.text(&["log", "format"]).as_deref() == Some("json"),
        },
        dev: Dev {
            s3_listen: listen(&["dev", "s3_listen"]),
            bucket: get.text(&["dev", "bucket"]).unwrap_or_default(),
            region: get.text(&["dev", "region"]).unwrap_or_default(),
            access_key_id: get.credential(&["dev", "access_key_id"])?.unwrap_or_default(),
            secret_access_key: Secret::new(
                get.credential(&["dev", "secret_access_key"])?.unwrap_or_default(),
            ),
        },
        auth: auth::build(merged)?,
        warehouses: build_warehouses(merged)?,
    })
}

fn build_warehouses(merged: &Merged) -> Result<Vec<WarehouseConfig>, Error> {
    let get = Getter(merged);
    let mut all: Vec<WarehouseConfig> = Vec::new();
    for name in merged.names(&["warehouses"]) {
        let at = |key| ["warehouses", name, key];
        let location =
            get.text(&at("location")).ok_or_else(|| Error::NoLocation { name: name.to_owned() })?;
        let is_default = get.flag(&at("default")).unwrap_or(false);
        if is_default && let Some(first) = all.iter().find(|other| other.default) {
            return Err(Error::TwoDefaults { first: first.name.clone(), second: name.to_owned() });
        }
        let s3 = s3_settings(merged, &["warehouses", name, "s3"])?;
        all.push(WarehouseConfig {
            name: name.to_owned(),
            location: absolute(&location),
            default: is_default,
            s3,
        });
    }
    Ok(all)
}

/// The settings of a bucket below `section`, if any is set.
fn s3_settings(merged: &Merged, section: &[&str]) -> Result<Option<S3Config>, Error> {
    let get = Getter(merged);
    let is_set = merged.entries().iter().any(|entry| {
        entry.path.len() > section.len()
            && entry.path.iter().zip(section).all(|(part, wanted)| part == wanted)
    });
    if !is_set {
        return Ok(None);
    }
    let at = |key| [section, &[key]].concat();
    let basis = S3Config::default();
    let s3 = S3Config {
        endpoint: get.text(&at("endpoint")),
        external_endpoint: get.text(&at("external_endpoint")),
        region: get.text(&at("region")).unwrap_or(basis.region),
        path_style: get.flag(&at("path_style")).unwrap_or(basis.path_style),
        access_key_id: get.credential(&at("access_key_id"))?,
        secret_access_key: get.credential(&at("secret_access_key"))?.map(Secret::new),
    };
    let unusable = |S3Fault { setting, reason }| Error::Unusable {
        key: [section, &[setting]].concat().join("."),
        reason,
    };
    s3.check().map_err(unusable)?;
    Ok(Some(s3))
}

/// The URL that clients are told, which stands in answers as it is.
fn public_url(get: &Getter<'_>) -> Result<Option<String>, Error> {
    let path = ["server", "public_url"];
    let url = get.text(&path).filter(|url| !url.is_empty());
    if let Some(url) = &url {
        base_url(url).map_err(|reason| Error::Unusable { key: path.join("."), reason })?;
    }
    Ok(url)
}

/// A plain path is a folder; every other location is left as it is.
pub(crate) fn absolute(location: &str) -> String {
    let has_scheme = location.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    match std::path::absolute(location) {
        Ok(path) if !has_scheme => format!("file://{}", path.display()),
        _ => location.to_owned(),
    }
}

impl Config {
    /// The configured warehouses, or the one that is there when none is: a folder in the data folder.
    pub fn warehouses_or_default(&self) -> Vec<WarehouseConfig> {
        if !self.warehouses.is_empty() {
            return self.warehouses.clone();
        }
        let folder = self.store.data_dir.join(DEFAULT_WAREHOUSE);
        vec![WarehouseConfig {
            name: DEFAULT_WAREHOUSE.to_owned(),
            location: absolute(&folder.to_string_lossy()),
            default: true,
            s3: None,
        }]
    }
}

struct Getter<'m>(&'m Merged);

impl Getter<'_> {
    fn text(&self, path: &[&str]) -> Option<String> {
        match &self.0.get(path)?.value {
            Value::Text(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) | Value::Texts(_) => None,
        }
    }

    /// A word that was checked against the list of its type.
    fn word<T: std::str::FromStr + Default>(&self, path: &[&str]) -> T {
        self.text(path).and_then(|word| word.parse().ok()).unwrap_or_default()
    }

    fn flag(&self, path: &[&str]) -> Option<bool> {
        match self.0.get(path)?.value {
            Value::Bool(value) => Some(value),
            Value::Text(_) | Value::Number(_) | Value::Texts(_) => None,
        }
    }

    fn number(&self, path: &[&str]) -> Option<u32> {
        match self.0.get(path)?.value {
            Value::Number(value) => Some(value),
            Value::Text(_) | Value::Bool(_) | Value::Texts(_) => None,
        }
    }

    fn texts(&self, path: &[&str]) -> Option<Vec<String>> {
        match &self.0.get(path)?.value {
            Value::Texts(list) => Some(list.clone()),
            Value::Text(_) | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// A setting that may stand in a file of its own. A line end after it does not count, there or here: variables are often
    /// filled from files.
    fn credential(&self, path: &[&str]) -> Result<Option<String>, Error> {
        let (Some(last), mut file_path) = (path.last(), path.to_vec()) else { return Ok(None) };
        let file_key = format!("{last}{FILE_SUFFIX}");
        file_path.pop();
        file_path.push(&file_key);
        let bare = |text: String| text.trim_end_matches(['\r', '\n']).to_owned();
        let Some(file) = self.text(&file_path) else { return Ok(self.text(path).map(bare)) };
        let file = PathBuf::from(file);
        match read_bounded(&file) {
            Ok(text) => Ok(Some(bare(text))),
            Err(source) => Err(Error::SecretFile { key: file_path.join("."), file, source }),
        }
    }
}

fn read_bounded(file: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(file)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("the file is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}
