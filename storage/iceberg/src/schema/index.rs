use std::collections::BTreeMap;

use super::{Field, Schema, Type};
use crate::{Error, bounds};

/// The fields of a schema by id, with their place in the tree.
#[derive(Debug, Default)]
pub struct Index<'a> {
    nodes: BTreeMap<i32, Node<'a>>,
}

/// A field, list element, map key or map value.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    /// Name with the names of its parents, joined by dots.
    pub full_name: String,
    /// Type.
    pub field_type: &'a Type,
    /// Whether nulls are excluded.
    pub required: bool,
    /// Id of the enclosing field, `None` at the top.
    pub parent: Option<i32>,
    /// The struct field itself; `None` for list elements, map keys and values.
    pub field: Option<&'a Field>,
}

impl<'a> Index<'a> {
    /// Walks a schema.
    ///
    /// # Errors
    /// Validation for an id or name used twice and for a negative id; bad request beyond the bounds of [`bounds`].
    pub fn of(schema: &'a Schema) -> Result<Self, Error> {
        let mut index = Self::default();
        index.fields(&schema.fields, None, "", 1)?;
        Ok(index)
    }

    /// Field of an id.
    #[must_use]
    pub fn get(&self, id: i32) -> Option<&Node<'a>> {
        self.nodes.get(&id)
    }

    /// All nodes in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &Node<'a>)> {
        self.nodes.iter().map(|(id, node)| (*id, node))
    }

    fn fields(
        &mut self,
        fields: &'a [Field],
        parent: Option<i32>,
        prefix: &str,
        depth: usize,
    ) -> Result<(), Error> {
        let mut names = BTreeMap::new();
        for field in fields {
            bounds::text("Column name", &field.name, bounds::NAME_BYTES_MAX)?;
            if let Some(other) = names.insert(field.name.as_str(), field.id) {
                return Err(Error::Validation(format!(
                    "Invalid schema: multiple fields for name {prefix}{}: {other} and {}",
                    field.name, field.id
                )));
            }
            let full_name = format!("{prefix}{}", field.name);
            let node = Node {
                full_name: full_name.clone(),
                field_type: &field.field_type,
                required: field.required,
                parent,
                field: Some(field),
            };
            self.add(field.id, node, depth)?;
        }
        Ok(())
    }

    fn add(&mut self, id: i32, node: Node<'a>, depth: usize) -> Result<(), Error> {
        if depth > bounds::SCHEMA_DEPTH_MAX {
            return Err(Error::BadRequest(format!(
                "Schema is nested too deeply at {}: at most {} levels",
                node.full_name,
                bounds::SCHEMA_DEPTH_MAX
            )));
        }
        bounds::count("columns", self.nodes.len() + 1, bounds::SCHEMA_FIELDS_MAX)?;
        let (field_type, name) = (node.field_type, node.full_name.clone());
        if id < 0 {
            return Err(Error::Validation(format!("Invalid schema: field {name} has a negative id: {id}")));
        }
        if let Some(other) = self.nodes.insert(id, node) {
            return Err(Error::Validation(format!(
                "Invalid schema: field id {id} is used more than once: {} and {name}",
                other.full_name
            )));
        }
        let mut part = |part_id, suffix: &str, part_type, required| {
            let full_name = format!("{name}.{suffix}");
            self.add(
                part_id,
                Node { full_name, field_type: part_type, required, parent: Some(id), field: None },
                depth + 1,
            )
        };
        match field_type {
            Type::Primitive(_) | Type::Other(_) => Ok(()),
            Type::Struct(inner) => self.fields(&inner.fields, Some(id), &format!("{name}."), depth + 1),
            Type::List(list) => part(list.element_id, "element", &list.element, list.element_required),
            Type::Map(map) => {
                part(map.key_id, "key", &map.key, true)?;
                part(map.value_id, "value", &map.value, map.value_required)
            }
        }
    }
}
