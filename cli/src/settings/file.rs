//! The settings file: a flat TOML file, read as a whole, changed key by key without touching the rest of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Value};

use super::TIMEOUT_S_MAX;
use crate::args::Global;
use crate::error::Error;
use crate::host::Host;

/// The keys of the file, and what they are for.
pub const KEYS: [(&str, &str); 10] = [
    ("endpoint", "the server's root"),
    ("default_branch", "the branch that is meant when none is named"),
    ("timeout_s", "how long a call may take, in seconds"),
    ("token", "a bearer token"),
    ("token_file", "a file that holds it"),
    ("oauth2_token_endpoint", "where an OpenID Connect provider hands out tokens"),
    ("oauth2_client_id", "this client's id there"),
    ("oauth2_client_secret", "its secret"),
    ("oauth2_client_secret_file", "a file that holds it"),
    ("oauth2_scope", "the scope to ask for"),
];

/// Keys whose values are never shown.
const SECRETS: [&str; 2] = ["token", "oauth2_client_secret"];

/// How alike a wrong key and a known one must be for the known one to be suggested.
const LIKENESS_MIN: f64 = 0.6;

/// Where the file lies, and whether it must be there.
pub struct Place {
    /// The path; none where no home is known.
    path: Option<PathBuf>,
    /// Whether somebody named it.
    named: bool,
}

impl Place {
    /// The same for whoever may make it.
    pub fn unless_absent(self) -> Self {
        Self { named: false, ..self }
    }
}

/// `--config`, `LOCHAN_CONFIG`, or `lochan/config.toml` in the usual folder.
pub fn place(global: &Global, host: &Host) -> Place {
    let named = global.config.clone().or_else(|| host.var("LOCHAN_CONFIG").map(PathBuf::from));
    let usual = || {
        let folder = match host.var("XDG_CONFIG_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(host.var("HOME")?).join(".config"),
        };
        Some(folder.join("lochan").join("config.toml"))
    };
    Place { named: named.is_some(), path: named.or_else(usual) }
}

/// The file's contents.
pub struct Values {
    /// Its path, if there is a place for one.
    pub path: Option<PathBuf>,
    /// Whether it exists.
    pub found: bool,
    document: DocumentMut,
}

impl Values {
    /// Reads the file; one that nobody named may be missing.
    pub fn read(place: Place) -> Result<Self, Error> {
        let nothing = |path| Self { path, found: false, document: DocumentMut::new() };
        let Some(path) = place.path else { return Ok(nothing(None)) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !place.named => {
                return Ok(nothing(Some(path)));
            }
            Err(error) => {
                return Err(Error::File { path: path.display().to_string(), reason: error.to_string() });
            }
        };
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            // The whole error quotes the line, which may hold a secret.
            let line =
                error.span().and_then(|span| text.get(..span.start)).map_or(0, |t| t.matches('\n').count());
            Error::Settings(format!("{}: line {}: {}", path.display(), line + 1, error.message()))
        })?;
        for (key, _) in document.iter() {
            known(key).map_err(|message| Error::Settings(format!("{}: {message}", path.display())))?;
        }
        Ok(Self { path: Some(path), found: true, document })
    }

    /// Reads the file again that settings were read from.
    pub fn reread(path: Option<PathBuf>, must_exist: bool) -> Result<Self, Error> {
        Self::read(Place { path, named: must_exist })
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<Option<String>, Error> {
        match self.document.get(key) {
            None => Ok(None),
            Some(item) => match item.as_str() {
                Some(text) => Ok(Some(text.to_owned())),
                None => Err(self.wrong(format!("'{key}' must be text"))),
            },
        }
    }

    /// A path; a relative one counts from the file that names it.
    pub fn file(&self, key: &str) -> Result<Option<PathBuf>, Error> {
        let folder = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        Ok(self.text(key)?.map(|path| folder.join(path)))
    }

    /// The bound on a call, in seconds.
    pub fn timeout_s(&self) -> Result<Option<u64>, Error> {
        let Some(item) = self.document.get("timeout_s") else { return Ok(None) };
        match item.as_integer().and_then(in_bounds) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(self.wrong(format!("'timeout_s' must be a number from 1 to {TIMEOUT_S_MAX}"))),
        }
    }

    /// What a key holds, as people may see it.
    pub fn shown(&self, key: &str) -> Option<String> {
        let item = self.document.get(key)?;
        if SECRETS.contains(&key) {
            return Some("(secret)".to_owned());
        }
        Some(item.as_str().map_or_else(|| item.to_string().trim().to_owned(), str::to_owned))
    }

    /// Sets a key, or removes it, and writes the file. Comments and order stay.
    pub fn change(&mut self, key: &str, value: Option<&str>) -> Result<PathBuf, Error> {
        known(key).map_err(Error::Usage)?;
        let path = self.path.clone().ok_or_else(|| {
            Error::Settings("there is no place for a settings file; name one with --config".to_owned())
        })?;
        match value {
            None => {
                self.document.remove(key);
            }
            Some(text) => {
                super::check(key, text).map_err(|error| Error::Usage(error.to_string()))?;
                let value: Value = if key == "timeout_s" {
                    let seconds = text.parse().ok().and_then(in_bounds).and_then(|s| i64::try_from(s).ok());
                    seconds
                        .ok_or_else(|| {
                            Error::Usage(format!("'timeout_s' must be a number from 1 to {TIMEOUT_S_MAX}"))
                        })?
                        .into()
                } else {
                    text.into()
                };
                match self.document.get_mut(key).and_then(Item::as_value_mut) {
                    Some(place) => {
                        let decor = place.decor().clone();
                        *place = value;
                        *place.decor_mut() = decor;
                    }
                    None => {
                        self.document.insert(key, Item::Value(value));
                    }
                }
            }
        }
        write(&path, &self.document.to_string())
            .map_err(|error| Error::File { path: path.display().to_string(), reason: error.to_string() })?;
        Ok(path)
    }

    fn wrong(&self, message: String) -> Error {
        let path = self.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
        Error::Settings(format!("{path}: {message}"))
    }
}

fn in_bounds(seconds: i64) -> Option<u64> {
    u64::try_from(seconds).ok().filter(|seconds| (1..=TIMEOUT_S_MAX).contains(seconds))
}

/// Says what a key that nobody knows might have meant.
pub fn known(key: &str) -> Result<(), String> {
    let names = KEYS.map(|(name, _)| name);
    if names.contains(&key) {
        return Ok(());
    }
    Err(match crate::hints::nearest(key, names, LIKENESS_MIN).first() {
        Some(near) => format!("unknown key '{key}', did you mean '{near}'?"),
        None => format!("unknown key '{key}', the keys are {}", names.join(", ")),
    })
}

/// Replaces the file as a whole, readable by its owner alone: it may hold a token.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(folder)?;
    }
    // A link stays a link.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut aside = path.clone().into_os_string();
    aside.push(".new");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&aside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&aside, &path)
}
