//! Tagged unions: every variant becomes a component of its own, so that a discriminator can name it.

use serde_json::{Map, Value, json};

use super::schemas::reference;

/// Takes the variants of every tagged union apart.
pub(super) fn separate(components: &mut Map<String, Value>) {
    let names: Vec<String> = components.keys().cloned().collect();
    for name in names {
        let Some(union) = components.get(&name).cloned() else { continue };
        let Some((tag, variants)) = tagged(&union) else { continue };
        let mut mapping = Map::new();
        for (word, variant) in variants {
            let target = match inner(&variant) {
                // The variant wraps a component: the tag moves into it.
                Some(target) => {
                    if let Some(component) = components.get_mut(&target) {
                        insert_tag(component, &tag, &word);
                    }
                    target
                }
                None => {
                    let target = format!("{name}{}", pascal(&word));
                    components.insert(target.clone(), variant);
                    target
                }
            };
            mapping.insert(word, reference(&target).into());
        }
        let one_of: Vec<Value> = mapping.values().map(|target| json!({ "$ref": target })).collect();
        let mut replaced =
            json!({ "oneOf": one_of, "discriminator": { "propertyName": tag, "mapping": mapping } });
        if let (Some(replaced), Some(about)) = (replaced.as_object_mut(), union.get("description")) {
            replaced.insert("description".to_owned(), about.clone());
        }
        components.insert(name, replaced);
    }
}

/// The tag of a union and its variants by the tag's word, if every variant has one.
fn tagged(schema: &Value) -> Option<(String, Vec<(String, Value)>)> {
    let variants = schema.get("oneOf")?.as_array()?;
    let is_tag = |value: &Value| value.get("const").and_then(Value::as_str).is_some();
    let first = variants.first()?.get("properties")?.as_object()?;
    let tag = first.iter().find(|(_, property)| is_tag(property))?.0.clone();
    let word =
        |variant: &Value| Some(variant.get("properties")?.get(&tag)?.get("const")?.as_str()?.to_owned());
    let variants: Option<Vec<_>> =
        variants.iter().map(|variant| Some((word(variant)?, variant.clone()))).collect();
    let variants = variants?;
    Some((tag, variants))
}

/// The component that a variant wraps.
fn inner(variant: &Value) -> Option<String> {
    let target = variant.get("$ref")?.as_str()?;
    target.rsplit('/').next().map(str::to_owned)
}

/// Adds the tag to a component that is only ever sent with it.
fn insert_tag(component: &mut Value, tag: &str, word: &str) {
    let Some(members) = component.as_object_mut() else { return };
    let properties = members.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.shift_insert(0, tag.to_owned(), json!({ "type": "string", "const": word }));
    }
    let required = members.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut()
        && !required.iter().any(|name| name == tag)
    {
        required.insert(0, json!(tag));
    }
}

/// `ASSERT_CREATE` and `assert-create` as `AssertCreate`.
fn pascal(word: &str) -> String {
    word.split(['_', '-'])
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + &letters.as_str().to_ascii_lowercase()
            })
        })
        .collect()
}
