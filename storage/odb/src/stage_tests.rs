use lochan_storage_model::{ObjectId, ObjectKind};

use super::*;
use crate::NewObject;

fn change(size: usize) -> Change {
    let object =
        NewObject { kind: ObjectKind::Value, id: ObjectId::from_bytes([1; 32]), bytes: vec![0; size].into() };
    Change { objects: vec![object], ..Change::default() }
}

#[test]
fn an_object_of_the_largest_size_passes_and_a_larger_one_does_not() {
    assert!(check_bounds(&change(OBJECT_BYTES_MAX)).is_ok());
    let error = check_bounds(&change(OBJECT_BYTES_MAX + 1)).unwrap_err();
    assert!(error.to_string().contains(&OBJECT_BYTES_MAX.to_string()), "{error}");
}
