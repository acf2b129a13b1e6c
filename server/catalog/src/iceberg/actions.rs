//! What rules are told about the course of a change (`actions`; Nessie's authorization rules name them so).

use std::collections::BTreeMap;

use lochan_storage_iceberg::{table::TableUpdate, view::ViewUpdate};

pub(super) const CREATE: &str = "CATALOG_CREATE_ENTITY";
pub(super) const UPDATE: &str = "CATALOG_UPDATE_ENTITY";
pub(super) const DROP: &str = "CATALOG_DROP_ENTITY";
pub(super) const RENAME_FROM: &str = "CATALOG_RENAME_ENTITY_FROM";
pub(super) const RENAME_TO: &str = "CATALOG_RENAME_ENTITY_TO";
pub(super) const REGISTER: &str = "CATALOG_REGISTER_ENTITY";
pub(super) const UPDATE_MULTIPLE: &str = "CATALOG_UPDATE_MULTIPLE";

const SET_PROPERTIES: &str = "META_SET_PROPERTIES";
const REMOVE_PROPERTIES: &str = "META_REMOVE_PROPERTIES";
const SET_LOCATION: &str = "META_SET_LOCATION";
const REMOVE_LOCATION: &str = "META_REMOVE_LOCATION_PROPERTY";

/// The action of an update of a table.
pub(super) fn of_table_update(update: &TableUpdate) -> &'static str {
    match update.action() {
        "add-encryption-key" => "META_ADD_ENCRYPTION_KEY",
        "add-schema" => "META_ADD_SCHEMA",
        "add-snapshot" => "META_ADD_SNAPSHOT",
        "add-sort-order" => "META_ADD_SORT_ORDER",
        "add-spec" => "META_ADD_PARTITION_SPEC",
        "assign-uuid" => "META_ASSIGN_UUID",
        "remove-encryption-key" => "META_REMOVE_ENCRYPTION_KEY",
        "remove-partition-specs" => "META_REMOVE_PARTITION_SPECS",
        "remove-partition-statistics" => "META_REMOVE_PARTITION_STATISTICS",
        "remove-properties" => REMOVE_PROPERTIES,
        "remove-schemas" => "META_REMOVE_SCHEMAS",
        "remove-snapshot-ref" => "META_REMOVE_SNAPSHOT_REF",
        "remove-snapshots" => "META_REMOVE_SNAPSHOTS",
        "remove-statistics" => "META_REMOVE_STATISTICS",
        "set-current-schema" => "META_SET_CURRENT_SCHEMA",
        "set-default-sort-order" => "META_SET_DEFAULT_SORT_ORDER",
        "set-default-spec" => "META_SET_DEFAULT_PARTITION_SPEC",
        "set-location" => SET_LOCATION,
        "set-partition-statistics" => "META_SET_PARTITION_STATISTICS",
        "set-properties" => SET_PROPERTIES,
        "set-snapshot-ref" => "META_SET_SNAPSHOT_REF",
        "set-statistics" => "META_SET_STATISTICS",
        "upgrade-format-version" => "META_UPGRADE_FORMAT_VERSION",
        _ => "META_OTHER",
    }
}

/// The action of an update of a view.
pub(super) const fn of_view_update(update: &ViewUpdate) -> &'static str {
    match update {
        ViewUpdate::AssignUuid(_) => "META_ASSIGN_UUID",
        ViewUpdate::UpgradeFormatVersion(_) => "META_UPGRADE_FORMAT_VERSION",
        ViewUpdate::AddSchema(_) => "META_ADD_SCHEMA",
        ViewUpdate::SetLocation(_) => SET_LOCATION,
        ViewUpdate::SetProperties(_) => SET_PROPERTIES,
        ViewUpdate::RemoveProperties(_) => REMOVE_PROPERTIES,
        ViewUpdate::AddViewVersion { .. } => "META_ADD_VIEW_VERSION",
        ViewUpdate::SetCurrentViewVersion { .. } => "META_SET_CURRENT_VIEW_VERSION",
    }
}

/// The actions of a change of a namespace's properties.
pub(super) fn of_properties(
    removals: &[String],
    updates: &BTreeMap<String, String>,
) -> impl Iterator<Item = &'static str> {
    let location = super::locations::LOCATION;
    let told = [
        (UPDATE, true),
        (SET_PROPERTIES, !updates.is_empty()),
        (SET_LOCATION, updates.contains_key(location)),
        (REMOVE_PROPERTIES, !removals.is_empty()),
        (REMOVE_LOCATION, removals.iter().any(|name| name == location)),
    ];
    told.into_iter().filter(|(_, told)| *told).map(|(action, _)| action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_update_has_an_action() {
        for action in TableUpdate::ACTIONS {
            let word = action.replace('-', "_").to_uppercase();
            let source = include_str!("actions.rs");
            assert!(source.contains(&format!("\"{action}\" =>")), "{word}");
        }
    }
}
