//! Tolerant readers: `null` counts as absent for every optional field, scalars of string maps may be numbers.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Error;

/// Reads a value, `null` as the default.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a map of strings. Numbers and booleans become their text; other values are refused.
pub(crate) fn string_map<'de, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    let raw = Option::<BTreeMap<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
    raw.into_iter()
        .map(|(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            Value::Number(number) => Ok((key, number.to_string())),
            Value::Bool(flag) => Ok((key, flag.to_string())),
            _ => Err(D::Error::custom(format!("property {key} must be a string"))),
        })
        .collect()
}

/// Reads a snapshot id where `null`, absence and -1 all mean "none".
pub(crate) fn snapshot_id_or_none<'de, D>(deserializer: D) -> Result<Option<i64>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(Option::<i64>::deserialize(deserializer)?.filter(|id| *id != -1))
}

/// Reads a typed value out of JSON, naming `what` in the error.
pub(crate) fn from_value<T: DeserializeOwned>(what: &str, value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(|e| Error::parse(what, &e))
}

/// Takes the text field `tag` of a JSON object, which says what the object is.
pub(crate) fn tag(what: &str, tag: &str, value: &Value) -> Result<String, Error> {
    match value.get(tag) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(Error::BadRequest(format!("Cannot parse {what}: field {tag} must be a string"))),
        None if value.is_object() => {
            Err(Error::BadRequest(format!("Cannot parse {what}: missing field {tag}")))
        }
        None => Err(Error::BadRequest(format!("Cannot parse {what}: not an object"))),
    }
}
