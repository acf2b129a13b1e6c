//! The schemas of bodies: what `schemars` says of the wire types, made fit for OpenAPI and as strict as the server is.
//!
//! A type is described twice. As requests are read: optional fields may be null (the readers take null for absent) and
//! unknown fields are passed over. As answers are written: exactly these fields, nullable ones included. Where the two
//! differ, the request's component is called `…Input`.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::unions;

/// Where components stand in a document.
const PREFIX: &str = "#/components/schemas/";

/// Which way a body goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the client, whose nulls are taken for absent fields.
    Request,
    /// From the client, to an API whose fields are null only where their type says so.
    StrictRequest,
    /// To the client.
    Response,
}

/// A generator whose components lie where OpenAPI wants them.
pub(super) fn generator(direction: Direction) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = PREFIX.trim_start_matches('#').trim_end_matches('/').into();
        settings.meta_schema = None;
    });
    match direction {
        Direction::Request | Direction::StrictRequest => settings.for_deserialize().into_generator(),
        Direction::Response => settings.for_serialize().into_generator(),
    }
}

/// The components of both directions under one set of names, which the paths are changed to use. `direction` says how
/// requests are read.
pub(super) fn components(
    direction: Direction,
    requests: &mut SchemaGenerator,
    responses: &mut SchemaGenerator,
    paths: &mut Map<String, Value>,
) -> Map<String, Value> {
    let mut read = prepared(requests.take_definitions(true), direction);
    let mut written = prepared(responses.take_definitions(true), Direction::Response);
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(|item| item.values_mut()) {
        rename_references(operation, &plain_name);
    }
    describe_alike(&mut read, &written);
    let different = different(&read, &written);
    let input = |name: &str| {
        if different.contains(name) { format!("{name}Input") } else { name.to_owned() }
    };
    for schema in read.values_mut() {
        rename_references(schema, &input);
    }
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(|item| item.values_mut()) {
        if let Some(body) = operation.get_mut("requestBody") {
            rename_references(body, &input);
        }
    }
    written.extend(read.into_iter().map(|(name, schema)| (input(&name), schema)));
    written.sort_keys();
    written
}

/// Gives undescribed fields of requests the description of the answer's field of that name.
fn describe_alike(read: &mut Map<String, Value>, written: &Map<String, Value>) {
    for (name, schema) in read {
        let Some(told) = written.get(name).and_then(|schema| schema.get("properties")) else { continue };
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (field, property) in properties.into_iter().flatten() {
            let about = told.get(field).and_then(|told| told.get("description"));
            if let (Some(about), Some(property)) = (about, property.as_object_mut()) {
                property.entry("description").or_insert_with(|| about.clone());
            }
        }
    }
}

/// Components under their plain names, with their unions told apart and their constraints written out.
fn prepared(definitions: Map<String, Value>, direction: Direction) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, mut schema) in definitions {
        rename_references(&mut schema, &plain_name);
        all.insert(plain_name(&name), schema);
    }
    unions::separate(&mut all);
    for schema in all.values_mut() {
        refine(schema, direction);
    }
    all
}

/// A type's name without its version and parameters: a document describes one version only.
fn plain_name(name: &str) -> String {
    let name = name.split("_for_").next().unwrap_or(name);
    match name.trim_end_matches("V1").trim_end_matches("V2") {
        // A schema's own name on the wire is that of its JSON tag.
        "struct" => "Schema".to_owned(),
        plain => plain.to_owned(),
    }
}

/// Names of components that both directions have and that differ, in themselves or in what they refer to.
fn different(read: &Map<String, Value>, written: &Map<String, Value>) -> BTreeSet<String> {
    let mut different: BTreeSet<String> = read
        .iter()
        .filter(|(name, schema)| written.get(*name).is_some_and(|other| other != *schema))
        .map(|(name, _)| name.clone())
        .collect();
    loop {
        let more: Vec<String> = read
            .iter()
            .filter(|(name, schema)| {
                written.contains_key(*name) && !different.contains(*name) && refers_to(schema, &different)
            })
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            return different;
        }
        different.extend(more);
    }
}

fn refers_to(schema: &Value, names: &BTreeSet<String>) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, member)| match member {
            Value::String(text) if name == "$ref" => {
                text.strip_prefix(PREFIX).is_some_and(|target| names.contains(target))
            }
            other => refers_to(other, names),
        }),
        Value::Array(items) => items.iter().any(|item| refers_to(item, names)),
        _ => false,
    }
}

/// Changes the name in every reference below, those of discriminators included.
fn rename_references(schema: &mut Value, rename: &impl Fn(&str) -> String) {
    match schema {
        Value::String(text) => {
            if let Some(target) = text.strip_prefix(PREFIX) {
                *text = reference(&rename(target));
            }
        }
        Value::Object(members) => members.values_mut().for_each(|member| rename_references(member, rename)),
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, rename)),
        _ => {}
    }
}

/// The reference to a component.
pub(super) fn reference(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Makes a schema and all below it as strict as the server.
fn refine(schema: &mut Value, direction: Direction) {
    let Some(members) = schema.as_object_mut() else { return };
    members.remove("title");
    describe(members);
    words(members);
    integers(members);
    match direction {
        Direction::Request => take_nulls(members),
        Direction::StrictRequest => {}
        Direction::Response => close(members),
    }
    // The default of an answer's field is what a lenient reader takes for absent, and never sent.
    if direction == Direction::Response || members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    for (name, member) in members.iter_mut() {
        match (name.as_str(), member) {
            ("properties" | "patternProperties", Value::Object(properties)) => {
                properties.values_mut().for_each(|property| refine(property, direction));
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                items.iter_mut().for_each(|item| refine(item, direction));
            }
            ("items" | "additionalProperties", member) => refine(member, direction),
            _ => {}
        }
    }
}

/// Of a description the first paragraph is for everybody; what follows is for who reads the source.
fn describe(members: &mut Map<String, Value>) {
    let Some(Value::String(text)) = members.get_mut("description") else { return };
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    *text = paragraph.replace('\n', " ").replace("[`", "`").replace("`]", "`");
}

/// A union of described words becomes a plain enumeration, its descriptions a list.
fn words(members: &mut Map<String, Value>) {
    let Some(variants) = members.get("oneOf").and_then(Value::as_array) else { return };
    let mut all: Vec<Value> = Vec::new();
    let mut about = members.get("description").and_then(Value::as_str).unwrap_or("").to_owned();
    for variant in variants {
        match (variant.get("const"), variant.get("enum").and_then(Value::as_array)) {
            (Some(word), _) => {
                let described = variant.get("description").and_then(Value::as_str).unwrap_or("");
                about.push_str(&format!("\n- `{}`: {described}", word.as_str().unwrap_or("")));
                all.push(word.clone());
            }
            (None, Some(plain)) if variant.get("properties").is_none() => all.extend(plain.iter().cloned()),
            _ => return,
        }
    }
    members.remove("oneOf");
    members.insert("description".to_owned(), about.into());
    members.insert("type".to_owned(), json!("string"));
    members.insert("enum".to_owned(), all.into());
}

/// Integers get the bounds that their format only hints at.
fn integers(members: &mut Map<String, Value>) {
    let (least, greatest): (Value, Value) = match members.get("format").and_then(Value::as_str) {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64") => (i64::MIN.into(), i64::MAX.into()),
        Some("uint8") => (0.into(), u8::MAX.into()),
        Some("uint16") => (0.into(), u16::MAX.into()),
        Some("uint32") => (0.into(), u32::MAX.into()),
        Some("uint64" | "uint") => (0.into(), u64::MAX.into()),
        _ => return,
    };
    if members.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with('u')) {
        members.remove("format");
    }
    members.entry("minimum").or_insert(least);
    members.entry("maximum").or_insert(greatest);
}

/// In a request a field that may be absent may also be null.
fn take_nulls(members: &mut Map<String, Value>) {
    let required: BTreeSet<String> = members
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if required.contains(name) {
            continue;
        }
        let Some(members) = property.as_object_mut() else { continue };
        let kind = members.get("type").and_then(Value::as_str).map(str::to_owned);
        if let Some(kind) = kind.filter(|kind| kind != "null" && !members.contains_key("enum")) {
            members.insert("type".to_owned(), json!([kind, "null"]));
        } else if members.contains_key("$ref") {
            let mut plain = Map::new();
            for word in ["description", "default"] {
                plain.extend(members.remove_entry(word));
            }
            plain.insert("anyOf".to_owned(), json!([members.clone(), { "type": "null" }]));
            *property = plain.into();
        }
    }
}

/// An answer has no other fields than these.
fn close(members: &mut Map<String, Value>) {
    if members.contains_key("properties") && !members.contains_key("additionalProperties") {
        members.insert("additionalProperties".to_owned(), json!(false));
    }
}
