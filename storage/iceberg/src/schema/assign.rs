use std::collections::BTreeMap;

use super::{Field, ListType, MapType, Schema, StructType, Type};

/// A schema with new ids, and which new id each old one got.
pub(crate) struct Fresh {
    pub schema: Schema,
    pub ids: BTreeMap<i32, i32>,
}

/// Numbers the columns of a new table from 1: all fields of a struct first, then what is inside each of them.
/// The schema must have passed validation, so that old ids are unique.
pub(crate) fn fresh(schema: &Schema) -> Fresh {
    let mut ids = Ids { last: 0, map: BTreeMap::new() };
    let fields = ids.fields(&schema.fields);
    let identifier_field_ids =
        schema.identifier_field_ids.iter().filter_map(|old| ids.map.get(old).copied()).collect();
    let schema = Schema { schema_id: 0, identifier_field_ids, fields, extra: schema.extra.clone() };
    Fresh { schema, ids: ids.map }
}

struct Ids {
    last: i32,
    map: BTreeMap<i32, i32>,
}

impl Ids {
    fn next(&mut self, old: i32) -> i32 {
        self.last += 1;
        self.map.insert(old, self.last);
        self.last
    }

    fn fields(&mut self, fields: &[Field]) -> Vec<Field> {
        let ids: Vec<i32> = fields.iter().map(|field| self.next(field.id)).collect();
        fields
            .iter()
            .zip(ids)
            .map(|(field, id)| Field { id, field_type: self.inside(&field.field_type), ..field.clone() })
            .collect()
    }

    fn inside(&mut self, field_type: &Type) -> Type {
        match field_type {
            Type::Primitive(_) | Type::Other(_) => field_type.clone(),
            Type::Struct(inner) => {
                Type::Struct(StructType { fields: self.fields(&inner.fields), extra: inner.extra.clone() })
            }
            Type::List(list) => {
                let element_id = self.next(list.element_id);
                let element = self.inside(&list.element);
                Type::List(Box::new(ListType {
                    element_id,
                    element,
                    element_required: list.element_required,
                    extra: list.extra.clone(),
                }))
            }
            Type::Map(map) => {
                let (key_id, value_id) = (self.next(map.key_id), self.next(map.value_id));
                let (key, value) = (self.inside(&map.key), self.inside(&map.value));
                Type::Map(Box::new(MapType {
                    key_id,
                    key,
                    value_id,
                    value,
                    value_required: map.value_required,
                    extra: map.extra.clone(),
                }))
            }
        }
    }
}
