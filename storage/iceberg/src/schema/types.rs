use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Extra;

/// A column type. Primitive names are kept as written; objects with an unknown `type` are kept whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// A name such as `long` or `decimal(10, 2)`, known or not; [`crate::schema::Primitive::parse`] tells.
    Primitive(String),
    /// Named fields.
    Struct(StructType),
    /// Elements of one type.
    List(Box<ListType>),
    /// Keys and values.
    Map(Box<MapType>),
    /// An object whose `type` is none of the above.
    Other(Value),
}

/// A column of a schema or a field of a struct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Field {
    /// Id, unique within the schema; follows the column through renames.
    pub id: i32,
    /// Name, unique within its struct.
    pub name: String,
    /// Whether nulls are excluded.
    pub required: bool,
    /// Type.
    #[serde(rename = "type")]
    pub field_type: Type,
    /// Comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// Value of rows written before the column existed (format v3), in single-value JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_default: Option<Value>,
    /// Value of rows written without the column (format v3), in single-value JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_default: Option<Value>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A struct type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StructType {
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A list type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ListType {
    /// Field id of the elements.
    pub element_id: i32,
    /// Type of the elements.
    pub element: Type,
    /// Whether elements may not be null.
    pub element_required: bool,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A map type. Keys are always required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct MapType {
    /// Field id of the keys.
    pub key_id: i32,
    /// Type of the keys.
    pub key: Type,
    /// Field id of the values.
    pub value_id: i32,
    /// Type of the values.
    pub value: Type,
    /// Whether values may not be null.
    pub value_required: bool,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Type {
    fn from_json(value: Value) -> Result<Self, String> {
        match value {
            Value::String(name) => Ok(Self::Primitive(name)),
            Value::Object(mut object) => match object.get("type").and_then(Value::as_str) {
                Some("struct") => {
                    object.remove("type");
                    inner(object).map(Self::Struct)
                }
                Some("list") => {
                    object.remove("type");
                    inner(object).map(|list| Self::List(Box::new(list)))
                }
                Some("map") => {
                    object.remove("type");
                    inner(object).map(|map| Self::Map(Box::new(map)))
                }
                Some(_) => Ok(Self::Other(Value::Object(object))),
                None => Err("cannot parse type: missing field type".to_owned()),
            },
            other => Err(format!("cannot parse type from JSON: {other}")),
        }
    }
}

fn inner<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(object)).map_err(|e| e.to_string())
}

/// Highest id among fields and everything inside them, 0 without any.
pub(super) fn highest_id(fields: &[Field]) -> i32 {
    fields.iter().map(|f| f.id.max(highest_in(&f.field_type))).max().unwrap_or(0).max(0)
}

fn highest_in(field_type: &Type) -> i32 {
    match field_type {
        Type::Primitive(_) | Type::Other(_) => 0,
        Type::Struct(inner) => highest_id(&inner.fields),
        Type::List(list) => list.element_id.max(highest_in(&list.element)),
        Type::Map(map) => map.key_id.max(map.value_id).max(highest_in(&map.key)).max(highest_in(&map.value)),
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "type")]
    name: &'static str,
    #[serde(flatten)]
    inner: &'a T,
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Primitive(name) => serializer.serialize_str(name),
            Self::Struct(inner) => Tagged { name: "struct", inner }.serialize(serializer),
            Self::List(inner) => Tagged { name: "list", inner: inner.as_ref() }.serialize(serializer),
            Self::Map(inner) => Tagged { name: "map", inner: inner.as_ref() }.serialize(serializer),
            Self::Other(value) => value.serialize(serializer),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(name) => f.write_str(name),
            Self::Struct(_) => f.write_str("struct"),
            Self::List(list) => write!(f, "list<{}>", list.element),
            Self::Map(map) => write!(f, "map<{}, {}>", map.key, map.value),
            Self::Other(value) => {
                write!(f, "{}", value.get("type").and_then(Value::as_str).unwrap_or("unknown object"))
            }
        }
    }
}
