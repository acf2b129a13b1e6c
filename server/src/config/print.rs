//! The effective configuration as TOML, each line with its origin, secrets masked.

use std::fmt::Write as _;

use super::Loaded;
use super::keys;
use super::layer::{Entry, Value};

/// Writes the settings so that, but for the masks, the text is a configuration file again.
pub fn print(loaded: &Loaded) -> String {
    let mut out = String::new();
    let mut section: Option<&[String]> = None;
    let mut entries: Vec<&Entry<Value>> = loaded.merged.entries().iter().collect();
    // Sections in order of first mention; the sort is stable.
    let order: Vec<&[String]> = entries.iter().map(|entry| section_of(entry)).collect();
    entries.sort_by_key(|entry| order.iter().position(|known| *known == section_of(entry)));
    for entry in entries {
        let here = section_of(entry);
        if section != Some(here) {
            let gap = if section.is_some() { "\n" } else { "" };
            let name = here.iter().map(|part| quote_name(part)).collect::<Vec<_>>().join(".");
            let _ = writeln!(out, "{gap}[{name}]");
            section = Some(here);
        }
        let name = entry.path.last().map_or("", String::as_str);
        let _ = writeln!(out, "{name} = {} # {}", show(entry), entry.origin);
    }
    if loaded.config.warehouses.is_empty() {
        for warehouse in loaded.config.warehouses_or_default() {
            let location = toml::Value::String(warehouse.location);
            let _ = writeln!(out, "\n[warehouses.{}]\nlocation = {location} # default", warehouse.name);
        }
    }
    out
}

fn section_of(entry: &Entry<Value>) -> &[String] {
    entry.path.split_last().map_or(&[], |(_, section)| section)
}

fn quote_name(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { name.to_owned() } else { toml::Value::String(name.to_owned()).to_string() }
}

fn show(entry: &Entry<Value>) -> String {
    let is_secret = matches!(keys::find(&entry.path), Some((key, false)) if key.secret);
    match &entry.value {
        Value::Text(_) if is_secret => "\"***\"".to_owned(),
        Value::Text(text) => toml::Value::String(text.clone()).to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Texts(list) => {
            toml::Value::Array(list.iter().cloned().map(toml::Value::String).collect()).to_string()
        }
    }
}
