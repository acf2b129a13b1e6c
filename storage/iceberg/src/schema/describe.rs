//! What a column type looks like, for the documents of the API: its JSON is text or an object, by a rule of its own.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::{ListType, MapType, StructType, Type};

/// Adds the `type` of a written schema. A schema that is read may leave it out, which its own description says.
pub(super) fn tag_struct(schema: &mut schemars::Schema) {
    if schema.pointer("/properties/type").is_none() {
        tag(schema, "struct");
    }
}

/// Adds a `type` that is always the same word.
fn tag(schema: &mut schemars::Schema, word: &str) {
    if let Some(properties) = schema.pointer_mut("/properties").and_then(|value| value.as_object_mut()) {
        properties.insert("type".to_owned(), json_schema!({ "type": "string", "const": word }).into());
    }
    if let Some(required) = schema.pointer_mut("/required").and_then(|value| value.as_array_mut()) {
        required.push("type".into());
    }
}

impl JsonSchema for Type {
    fn schema_name() -> Cow<'static, str> {
        "Type".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let tagged = |tag: &str, mut fields: schemars::Schema| {
            if let Some(object) = fields.as_object_mut() {
                if let Some(properties) = object.get_mut("properties").and_then(|value| value.as_object_mut())
                {
                    properties
                        .insert("type".to_owned(), json_schema!({ "type": "string", "const": tag }).into());
                }
                if let Some(required) = object.get_mut("required").and_then(|value| value.as_array_mut()) {
                    required.push("type".into());
                }
            }
            fields
        };
        let nested = [
            tagged("struct", StructType::json_schema(generator)),
            tagged("list", ListType::json_schema(generator)),
            tagged("map", MapType::json_schema(generator)),
        ];
        let [structs, lists, maps] = nested;
        json_schema!({
            "description": "A column type: the name of a primitive one, such as `long` or `decimal(10, 2)`, or an \
                object for a nested one. Types this server does not know are kept as they are.",
            "anyOf": [
                { "type": "string", "minLength": 1, "examples": ["long", "string", "decimal(10, 2)"] },
                structs,
                lists,
                maps,
                { "type": "object", "properties": { "type": { "type": "string" } }, "required": ["type"] },
            ],
        })
    }
}
