//! Settings from one source, and layers of them on top of each other.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::keys::{self, FILE_SUFFIX, Kind};

/// Sections whose next name the operator chooses.
const CHOSEN: [&[&str]; 3] = [&["warehouses"], &["auth", "tokens"], &["authz", "rules"]];

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// An environment variable.
    Env(String),
    /// A flag.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Env(name) => write!(f, "environment: {name}"),
            Origin::Flag(name) => write!(f, "flag: {name}"),
        }
    }
}

/// A value as given: typed in TOML, text elsewhere.
#[derive(Clone, Debug, PartialEq)]
enum Given {
    Text(String),
    Toml(toml::Value),
}

/// A checked value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text and words.
    Text(String),
    /// Truth values.
    Bool(bool),
    /// Numbers.
    Number(u32),
    /// Lists.
    Texts(Vec<String>),
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<V> {
    /// Sections and name.
    pub path: Vec<String>,
    /// Its value.
    pub value: V,
    /// Where it comes from.
    pub origin: Origin,
}

/// Unchecked settings of one source, in its order.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    entries: Vec<Entry<Given>>,
    /// Sections that are there with nothing in them: whoever wrote one meant something.
    empty: Vec<(Vec<String>, Origin)>,
}

impl Layer {
    /// No settings.
    pub fn new() -> Self {
        Layer::default()
    }

    /// Adds a setting given as text.
    pub fn set_text(&mut self, path: &[&str], text: &str, origin: Origin) {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.entries.push(Entry { path, value: Given::Text(text.to_owned()), origin });
    }

    /// The settings of a TOML document; `file` is where it was read from.
    pub fn from_toml(text: &str, file: &Path) -> Result<Self, Error> {
        let table: toml::Table = text
            .parse()
            .map_err(|source| Error::Syntax { file: file.to_owned(), source: Box::new(source) })?;
        let mut layer = Layer::new();
        layer.add_table(&mut Vec::new(), table, file);
        Ok(layer)
    }

    fn add_table(&mut self, at: &mut Vec<String>, table: toml::Table, file: &Path) {
        for (name, value) in table {
            at.push(name);
            match value {
                toml::Value::Table(table) if table.is_empty() => {
                    self.empty.push((at.clone(), Origin::File(file.to_owned())));
                }
                toml::Value::Table(table) => self.add_table(at, table, file),
                value => {
                    let origin = Origin::File(file.to_owned());
                    self.entries.push(Entry { path: at.clone(), value: Given::Toml(value), origin });
                }
            }
            at.pop();
        }
    }

    /// The settings among environment variables: `LOCHAN__SECTION__KEY`, whatever the case of section and key.
    pub fn from_env(vars: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut layer = Layer::new();
        let mut found: Vec<_> = vars
            .into_iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("LOCHAN__")?.to_lowercase(), name, value)))
            .collect();
        // The environment has no order of its own; the first warehouse must not depend on chance.
        found.sort();
        for (key, name, value) in found {
            let path = key.split("__").map(str::to_owned).collect();
            layer.entries.push(Entry { path, value: Given::Text(value), origin: Origin::Env(name) });
        }
        layer
    }
}

/// Checked settings, the later layer on top.
#[derive(Clone, Default)]
pub struct Merged {
    entries: Vec<Entry<Value>>,
    empty: Vec<Vec<String>>,
}

impl Merged {
    /// The defaults and then `layers`, each winning over those before.
    pub fn of(layers: impl IntoIterator<Item = Layer>) -> Result<Self, Error> {
        let mut merged = Merged::default();
        for key in keys::KEYS.iter().filter(|key| !key.path.contains(&"*")) {
            if let Some(default) = key.default {
                let path: Vec<String> = key.path.iter().map(|part| (*part).to_owned()).collect();
                let value = check(&path, key.kind, Given::Text(default.to_owned()), &Origin::Default)?;
                merged.entries.push(Entry { path, value, origin: Origin::Default });
            }
        }
        for layer in layers {
            merged.add(layer)?;
        }
        Ok(merged)
    }

    fn add(&mut self, layer: Layer) -> Result<(), Error> {
        for (path, origin) in layer.empty {
            if !keys::is_section(&path) {
                let nearest = keys::nearest(&path);
                return Err(Error::UnknownKey { key: path.join("."), origin, nearest });
            }
            self.empty.push(path);
        }
        let mut set_here: Vec<Vec<String>> = Vec::new();
        for Entry { mut path, value, origin } in layer.entries {
            self.adopt_name(&mut path, &origin);
            let Some((key, is_file)) = keys::find(&path) else {
                let nearest = keys::nearest(&path);
                return Err(Error::UnknownKey { key: path.join("."), origin, nearest });
            };
            let kind = if is_file { Kind::Text } else { key.kind };
            let value = check(&path, kind, value, &origin)?;
            if key.from_file {
                let twin = twin(&path, is_file);
                if set_here.contains(&twin) {
                    return Err(Error::Twice { key: path.join("."), twin: twin.join("."), origin });
                }
                self.entries.retain(|entry| entry.path != twin);
            }
            match self.entries.iter_mut().find(|entry| entry.path == path) {
                Some(entry) => (entry.value, entry.origin) = (value, origin),
                None => self.entries.push(Entry { path: path.clone(), value, origin }),
            }
            set_here.push(path);
        }
        Ok(())
    }

    /// A chosen name that the environment gives, which knows no case, is the one already there that differs in case only.
    fn adopt_name(&self, path: &mut [String], origin: &Origin) {
        let Origin::Env(_) = origin else { return };
        for section in CHOSEN {
            if let Some((section_part, [name, ..])) = path.split_at_mut_checked(section.len())
                && *section_part == *section
                && let Some(known) = self.names(section).find(|known| known.eq_ignore_ascii_case(name))
            {
                *name = known.to_owned();
            }
        }
    }

    /// The names chosen in a section, the first mentioned first; also those with nothing below them.
    pub fn names(&self, section: &[&str]) -> impl Iterator<Item = &str> {
        let mut seen: Vec<&str> = Vec::new();
        for path in self.entries.iter().map(|entry| &entry.path).chain(&self.empty) {
            if let Some((here, [name, ..])) = path.split_at_checked(section.len())
                && here == section
                && !seen.contains(&name.as_str())
            {
                seen.push(name);
            }
        }
        seen.into_iter()
    }

    /// Whether a section is there, if only empty.
    pub fn has_section(&self, section: &[&str]) -> bool {
        let mut paths = self.entries.iter().map(|entry| &entry.path).chain(&self.empty);
        paths.any(|path| {
            path.len() >= section.len() && path.iter().zip(section).all(|(part, wanted)| part == wanted)
        })
    }

    /// The setting at `path`.
    pub fn get(&self, path: &[&str]) -> Option<&Entry<Value>> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// All settings, in the order of first mention.
    pub fn entries(&self) -> &[Entry<Value>] {
        &self.entries
    }
}

/// `x` for `x_file` and the other way round.
fn twin(path: &[String], is_file: bool) -> Vec<String> {
    let mut twin = path.to_vec();
    if let Some(last) = twin.last_mut() {
        *last = match last.strip_suffix(FILE_SUFFIX) {
            Some(bare) if is_file => bare.to_owned(),
            _ => format!("{last}{FILE_SUFFIX}"),
        };
    }
    twin
}

fn check(path: &[String], kind: Kind, given: Given, origin: &Origin) -> Result<Value, Error> {
    let bad = |expected: String| Error::BadValue { key: path.join("."), origin: origin.clone(), expected };
    match (kind, given) {
        (Kind::Text, Given::Text(text) | Given::Toml(toml::Value::String(text))) => Ok(Value::Text(text)),
        (Kind::Text, _) => Err(bad("a text".to_owned())),
        (Kind::Address, Given::Text(text) | Given::Toml(toml::Value::String(text))) if is_address(&text) => {
            Ok(Value::Text(text))
        }
        (Kind::Address, _) => Err(bad("a host and a port, such as 127.0.0.1:19120".to_owned())),
        (Kind::Word(words), Given::Text(text) | Given::Toml(toml::Value::String(text)))
            if words.contains(&text.as_str()) =>
        {
            Ok(Value::Text(text))
        }
        (Kind::Word(words), _) => Err(bad(format!("one of {}", words.join(", ")))),
        (Kind::Texts, given) => {
            texts(given).map(Value::Texts).ok_or_else(|| bad("a list of texts".to_owned()))
        }
        (Kind::Bool, Given::Toml(toml::Value::Boolean(value))) => Ok(Value::Bool(value)),
        (Kind::Bool, Given::Text(text)) if text == "true" || text == "false" => {
            Ok(Value::Bool(text == "true"))
        }
        (Kind::Bool, _) => Err(bad("true or false".to_owned())),
        (Kind::Number(max), given) => {
            let number = match given {
                Given::Text(text) => text.parse().ok(),
                Given::Toml(toml::Value::Integer(number)) => u32::try_from(number).ok(),
                Given::Toml(_) => None,
            };
            let number = number.filter(|number| *number <= max);
            number.map(Value::Number).ok_or_else(|| bad(format!("a whole number from 0 to {max}")))
        }
    }
}

/// Whether somebody could listen there, once a name has been looked up.
fn is_address(text: &str) -> bool {
    let is_name = |host: &str| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
    };
    let is_host = |host: &str| is_name(host) || host.parse::<IpAddr>().is_ok();
    text.parse::<SocketAddr>().is_ok()
        || text.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && port.parse::<u16>().is_ok())
}

/// A list of texts; one text is a list of what stands between its commas.
fn texts(given: Given) -> Option<Vec<String>> {
    match given {
        Given::Text(text) | Given::Toml(toml::Value::String(text)) => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            Some(parts.map(str::to_owned).collect())
        }
        Given::Toml(toml::Value::Array(list)) => {
            list.iter().map(|one| one.as_str().map(str::to_owned)).collect()
        }
        Given::Toml(_) => None,
    }
}
