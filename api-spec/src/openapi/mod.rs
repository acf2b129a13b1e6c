//! OpenAPI 3.1 documents, one per surface, built from the declarations that the router mounts.
//!
//! [`Document`] is the way in. What an operation is comes from its [`crate::endpoint::Endpoint`]; the schemas of bodies come
//! from the wire types themselves, once as they are read and once as they are written ([`schemas`]); path parameters,
//! headers, error answers and links follow from rules over the declaration. What the rules need to know by name (the
//! meaning of `{ref}`, an example of a body) stands in a table, and a test names what is missing in it.

mod answers;
mod builder;
mod examples;
mod headers;
mod links;
mod path_parameters;
pub(crate) mod scalars;
mod schemas;
#[cfg(test)]
mod tests;
mod unions;
mod yaml;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::endpoint::{Endpoint, EndpointInfo, Surface};
use crate::ext::stream::{MEDIA_TYPE, Stream};
use crate::{ext, iceberg, nessie};

/// What a body must be able to do to stand in a document.
pub trait Body {
    /// Its media type.
    const MEDIA_TYPE: &'static str;

    /// Its schema.
    fn schema(generator: &mut SchemaGenerator) -> Value;

    /// Reads a body and writes it again, which is what examples are checked with.
    ///
    /// # Errors
    /// Says why the text is no such body.
    fn rewritten(text: &str) -> Result<String, String>;
}

impl<T: JsonSchema + Serialize + DeserializeOwned> Body for T {
    const MEDIA_TYPE: &'static str = "application/json";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        builder::subschema::<T>(generator)
    }

    fn rewritten(text: &str) -> Result<String, String> {
        let value: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
        serde_json::to_string(&value).map_err(|error| error.to_string())
    }
}

impl Body for Stream {
    const MEDIA_TYPE: &'static str = MEDIA_TYPE;

    fn schema(_: &mut SchemaGenerator) -> Value {
        serde_json::json!({
            "type": "string",
            "description": "One JSON document per line: a header, then parts with their checksums.",
        })
    }

    fn rewritten(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
}

/// Is shown every endpoint of a surface with its types.
pub trait Visitor {
    /// One endpoint.
    fn endpoint<E: Endpoint<Request: Body, Response: Body>>(&mut self);
}

/// The OpenAPI document of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Document {
    /// `/api/v1`
    NessieV1,
    /// `/api/v2`
    NessieV2,
    /// `/iceberg`
    Iceberg,
    /// `/ext/v1`
    Ext,
}

impl Document {
    /// Every document, newest API first.
    pub const ALL: &'static [Document] = &[Self::NessieV2, Self::NessieV1, Self::Iceberg, Self::Ext];

    /// Its file name without ending: `nessie-v2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NessieV1 => "nessie-v1",
            Self::NessieV2 => "nessie-v2",
            Self::Iceberg => "iceberg",
            Self::Ext => "ext",
        }
    }

    /// Its title, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::NessieV1 => "Nessie API v1",
            Self::NessieV2 => "Nessie API v2",
            Self::Iceberg => "Iceberg REST catalog API",
            Self::Ext => "own API",
        }
    }

    /// The surface it describes.
    pub const fn surface(self) -> Surface {
        match self {
            Self::NessieV1 => Surface::NessieV1,
            Self::NessieV2 => Surface::NessieV2,
            Self::Iceberg => Surface::Iceberg,
            Self::Ext => Surface::Ext,
        }
    }

    /// The endpoints it lists.
    pub const fn endpoints(self) -> &'static [EndpointInfo] {
        match self {
            Self::NessieV1 => nessie::v1::ALL,
            Self::NessieV2 => nessie::v2::ALL,
            Self::Iceberg => iceberg::ALL,
            Self::Ext => ext::ALL,
        }
    }

    /// Shows its endpoints, with their types, to a visitor.
    pub fn visit(self, visitor: &mut impl Visitor) {
        match self {
            Self::NessieV1 => nessie::v1::visit(visitor),
            Self::NessieV2 => nessie::v2::visit(visitor),
            Self::Iceberg => iceberg::visit(visitor),
            Self::Ext => ext::visit(visitor),
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::NessieV1 => {
                "Branches, tags and commits of the catalog, in the older form of Nessie's API: names and hashes apart, \
                 parameters in camel case."
            }
            Self::NessieV2 => {
                "Branches, tags and commits of the catalog. A reference in a path is a name, optionally with a commit: \
                 `main`, `main@HASH`, `dev~2`, `-` for the default branch, `@HASH` for a commit outside of any \
                 reference."
            }
            Self::Iceberg => {
                "Tables, views and namespaces, as engines of Apache Iceberg use them. The prefix of a path names a \
                 reference and a warehouse: `main`, `dev|lake`, `|lake`. Every route also works below a reference, as in \
                 `/iceberg/dev/v1/…`."
            }
            Self::Ext => {
                "What the APIs of Nessie and Iceberg lack: the log of references, restore, rebase, export and import. \
                 Unknown fields of a request are refused."
            }
        }
    }

    /// The document.
    pub fn value(self) -> Value {
        builder::Builder::build(self)
    }

    /// The document as JSON.
    pub fn json(self) -> String {
        let mut text = serde_json::to_string_pretty(&self.value())
            .expect("a JSON value has text keys only and always serialises");
        text.push('\n');
        text
    }

    /// The document as YAML.
    pub fn yaml(self) -> String {
        yaml::write(&self.value())
    }
}
