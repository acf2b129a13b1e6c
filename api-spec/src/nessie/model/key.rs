//! The JSON form of a content key.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::syntax::key::{
    KeyError, check_key, encode_canonical, encode_escaped, encode_legacy, join_plain, parse,
};
use crate::syntax::lenient::{null_default, object};

/// The name of a content: 1 to 20 elements (none only where a caller allows it).
///
/// Limits are checked when a key is read, from JSON or text; see [`crate::syntax::key`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ContentKey {
    /// The elements, outermost first.
    #[cfg_attr(feature = "openapi", schemars(schema_with = "crate::openapi::scalars::elements"))]
    pub elements: Vec<String>,
}

impl ContentKey {
    /// A key within the limits.
    pub fn new(elements: Vec<String>) -> Result<Self, KeyError> {
        check_key(&elements)?;
        Ok(Self { elements })
    }

    /// Makes a key of elements already known to be within the limits, such as those of a stored key.
    pub fn from_valid(elements: Vec<String>) -> Self {
        Self { elements }
    }

    /// Reads the legacy, escaped or canonical string form.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        parse(text).map(Self::from_valid)
    }

    /// The legacy string form, which v1, CEL and authorization paths use.
    pub fn to_legacy(&self) -> String {
        encode_legacy(&self.elements)
    }

    /// The escaped string form of spec 2.2, for URLs.
    pub fn to_escaped(&self) -> String {
        encode_escaped(&self.elements)
    }

    /// The canonical string form, for people.
    pub fn to_canonical(&self) -> String {
        encode_canonical(&self.elements)
    }
}

impl fmt::Display for ContentKey {
    /// The plain join with dots, as keys appear in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join_plain(&self.elements))
    }
}

impl<'de> Deserialize<'de> for ContentKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "ContentKey")]
        struct Raw {
            #[serde(default, deserialize_with = "null_default")]
            elements: Vec<String>,
        }
        let raw: Raw = object(deserializer)?;
        Self::new(raw.elements).map_err(de::Error::custom)
    }
}
