use super::{Index, Node, Primitive, Schema, Type};
use crate::Error;

/// Lowest format version with default values.
const DEFAULTS_FORMAT_VERSION_MIN: u8 = 3;

/// Checks a schema about to be added: [`structure`], and types and defaults legal for the format version.
pub(crate) fn validate(schema: &Schema, format_version: u8) -> Result<Index<'_>, Error> {
    let index = structure(schema)?;
    let problems: Vec<String> = index.iter().flat_map(|(_, node)| problems(node, format_version)).collect();
    if problems.is_empty() {
        return Ok(index);
    }
    Err(Error::Validation(format!("Invalid schema for v{format_version}:\n- {}", problems.join("\n- "))))
}

/// Checks what holds for tables and views of every version: unique ids and names, identifier fields.
pub(crate) fn structure(schema: &Schema) -> Result<Index<'_>, Error> {
    let index = Index::of(schema)?;
    for id in &schema.identifier_field_ids {
        identifier(&index, *id).map_err(Error::Validation)?;
    }
    Ok(index)
}

fn problems(node: &Node<'_>, format_version: u8) -> Vec<String> {
    let mut found = Vec::new();
    let name = &node.full_name;
    match node.field_type {
        Type::Primitive(text) => match Primitive::parse(text) {
            None => found.push(format!("Invalid type for {name}: cannot parse type string: {text}")),
            Some(kind) if kind.format_version_min() > format_version => found.push(format!(
                "Invalid type for {name}: {text} is not supported until v{}",
                kind.format_version_min()
            )),
            Some(Primitive::Unknown) if node.required => {
                found.push(format!("Invalid type for {name}: unknown type must be optional"));
            }
            Some(_) => {}
        },
        Type::Other(_) => {
            found.push(format!("Invalid type for {name}: cannot parse type: {}", node.field_type))
        }
        Type::Struct(_) | Type::List(_) | Type::Map(_) => {}
    }
    if format_version < DEFAULTS_FORMAT_VERSION_MIN
        && let Some(field) = node.field
    {
        for (kind, value) in [("initial", &field.initial_default), ("write", &field.write_default)] {
            if let Some(value) = value {
                found.push(format!(
                    "Invalid {kind} default for {name}: non-null default ({value}) is not supported until v{DEFAULTS_FORMAT_VERSION_MIN}"
                ));
            }
        }
    }
    found
}

fn identifier(index: &Index<'_>, id: i32) -> Result<(), String> {
    let Some(node) = index.get(id) else {
        return Err(format!("Cannot add fieldId {id} as an identifier field: field does not exist"));
    };
    let refuse =
        |why: &str| Err(format!("Cannot add field {} as an identifier field: {why}", node.full_name));
    let Type::Primitive(text) = node.field_type else {
        return refuse("not a primitive type field");
    };
    if !node.required {
        return refuse("not a required field");
    }
    if matches!(Primitive::parse(text), Some(Primitive::Float | Primitive::Double)) {
        return refuse("must not be float or double field");
    }
    let mut parent = node.parent;
    while let Some(outer) = parent.and_then(|id| index.get(id)) {
        if !matches!(outer.field_type, Type::Struct(_)) {
            return refuse(&format!("must not be nested in {}", outer.full_name));
        }
        if !outer.required {
            return refuse(&format!("must not be nested in an optional field {}", outer.full_name));
        }
        parent = outer.parent;
    }
    Ok(())
}
