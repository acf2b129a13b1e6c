//! Schemas of values whose JSON is written and read by hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::nessie::model::{NoCommits, Operation, OperationV1, OperationV2};
use crate::parameter::{HASH_OR_RELATIVE_PATTERN, NAME_PATTERN};
use crate::syntax::Instant;
use crate::syntax::duration::IsoDuration;
use crate::syntax::key::{ELEMENTS_MAX, LENGTH_UTF16_MAX};

/// The elements of a key or namespace; their common length has a bound too, which a schema cannot say.
pub(crate) fn elements(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": ELEMENTS_MAX,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": LENGTH_UTF16_MAX,
            "pattern": r"^[^\u0000-\u001f\u007f]*$",
        },
    })
}

/// A 64-bit integer, which requests may also write as text.
pub(crate) fn number_or_text(generator: &mut SchemaGenerator) -> Schema {
    if generator.contract().is_serialize() {
        return i64::json_schema(generator);
    }
    json_schema!({ "anyOf": [i64::json_schema(generator), { "type": "string", "pattern": "^-?[0-9]{1,18}$" }] })
}

/// Text or null, which requests may also write as an integer.
pub(crate) fn text_or_number(generator: &mut SchemaGenerator) -> Schema {
    if generator.contract().is_serialize() {
        return json_schema!({ "type": "string" });
    }
    json_schema!({ "anyOf": [{ "type": ["string", "null"] }, i64::json_schema(generator)] })
}

/// The name of a reference in a body; none for a detached commit.
pub(crate) fn reference_name(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "pattern": NAME_PATTERN })
}

/// A hash with optional relative parts in a body.
pub(crate) fn hash_or_relative(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "pattern": HASH_OR_RELATIVE_PATTERN })
}

/// A reference in a body: a branch or tag needs its name, a detached commit its hash.
pub(crate) fn named_or_detached(schema: &mut Schema) {
    let rule = json_schema!({
        "anyOf": [
            {
                "properties": { "type": { "enum": ["BRANCH", "TAG"] }, "name": { "type": "string" } },
                "required": ["name"],
            },
            {
                "properties": { "type": { "enum": ["DETACHED"] }, "hash": { "type": "string", "minLength": 8 } },
                "required": ["hash"],
            },
        ],
    });
    if let (Some(members), Some(rule)) = (schema.as_object_mut(), rule.as_object()) {
        members.extend(rule.clone());
    }
}

impl JsonSchema for Instant {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl JsonSchema for IsoDuration {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "IsoDuration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "duration" })
    }
}

impl JsonSchema for NoCommits {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NoCommits".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": {}, "maxItems": 0 })
    }
}

/// The schema of an operation in a log: a put has one more field, which is null.
fn logged(generator: &mut SchemaGenerator, extra: &str) -> Schema {
    let mut schema = Operation::json_schema(generator);
    let variants = schema.get_mut("oneOf").and_then(|value| value.as_array_mut());
    for variant in variants.into_iter().flatten() {
        if variant.pointer("/properties/content").is_none() {
            continue;
        }
        if let Some(properties) = variant.pointer_mut("/properties").and_then(|value| value.as_object_mut()) {
            properties.insert(extra.to_owned(), json_schema!({ "type": "null" }).into());
        }
        if let Some(required) = variant.pointer_mut("/required").and_then(|value| value.as_array_mut()) {
            required.push(extra.into());
        }
    }
    schema
}

impl JsonSchema for OperationV1 {
    fn schema_name() -> Cow<'static, str> {
        "OperationV1".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        logged(generator, "expectedContent")
    }
}

impl JsonSchema for OperationV2 {
    fn schema_name() -> Cow<'static, str> {
        "OperationV2".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        logged(generator, "documentation")
    }
}
