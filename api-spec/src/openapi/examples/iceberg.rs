//! Examples of the Iceberg REST API.

use serde_json::{Value, json};

const UUID: &str = "9c12d441-03fe-4693-9a96-a0705ddf69c1";
const TABLE_FILE: &str = "s3://lake/sales/orders/metadata/00000-a.metadata.json";
const VIEW_FILE: &str = "s3://lake/sales/totals/metadata/00000-b.metadata.json";

fn schema() -> Value {
    json!({
        "type": "struct",
        "schema-id": 0,
        "fields": [
            { "id": 1, "name": "id", "required": true, "type": "long" },
            { "id": 2, "name": "at", "required": false, "type": "timestamp", "doc": "when it was ordered" },
        ],
    })
}

fn table() -> Value {
    json!({
        "format-version": 2,
        "table-uuid": UUID,
        "location": "s3://lake/sales/orders",
        "last-sequence-number": 0,
        "last-updated-ms": 1777630830123_i64,
        "last-column-id": 2,
        "current-schema-id": 0,
        "schemas": [schema()],
        "default-spec-id": 0,
        "partition-specs": [{ "spec-id": 0, "fields": [] }],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{ "order-id": 0, "fields": [] }],
        "properties": {},
        "current-snapshot-id": -1,
        "refs": {},
        "snapshots": [],
        "statistics": [],
        "partition-statistics": [],
        "snapshot-log": [],
        "metadata-log": [],
    })
}

fn view_version() -> Value {
    json!({
        "version-id": 1,
        "timestamp-ms": 1777630830123_i64,
        "schema-id": 0,
        "summary": { "engine-name": "spark" },
        "representations": [{ "type": "sql", "sql": "select id, at from sales.orders", "dialect": "spark" }],
        "default-namespace": ["sales"],
    })
}

fn view() -> Value {
    json!({
        "view-uuid": UUID,
        "format-version": 1,
        "location": "s3://lake/sales/totals",
        "properties": {},
        "schemas": [schema()],
        "current-version-id": 1,
        "versions": [view_version()],
        "version-log": [{ "timestamp-ms": 1777630830123_i64, "version-id": 1 }],
    })
}

fn name(table: &str) -> Value {
    json!({ "namespace": ["sales"], "name": table })
}

fn table_commit() -> Value {
    json!({
        "identifier": name("orders"),
        "requirements": [{ "type": "assert-table-uuid", "uuid": UUID }],
        "updates": [{ "action": "set-properties", "updates": { "owner": "ada" } }],
    })
}

/// The example of a component.
pub(super) fn of(component: &str) -> Option<Value> {
    Some(match component {
        "CatalogConfig" => json!({
            "defaults": {},
            "overrides": { "prefix": "main%7Clake" },
            "endpoints": ["GET /v1/{prefix}/namespaces"],
            "idempotency-key-lifetime": "PT30M",
        }),
        "TokenRequest" => json!({ "grant_type": "client_credentials", "client_id": "ada" }),
        "ListNamespacesResponse" => {
            json!({ "namespaces": [["sales"], ["sales", "eu"]], "next-page-token": null })
        }
        "NamespaceDocument" | "NamespaceDocumentInput" => {
            json!({ "namespace": ["sales"], "properties": { "owner": "ada" } })
        }
        "UpdatePropertiesRequest" => json!({ "removals": ["team"], "updates": { "owner": "grace" } }),
        "UpdatePropertiesResponse" => json!({ "updated": ["owner"], "removed": [], "missing": ["team"] }),
        "ListIdentifiersResponse" => json!({ "identifiers": [name("orders")], "next-page-token": null }),
        "CreateTableRequest" => {
            json!({ "name": "orders", "schema": schema(), "properties": { "owner": "ada" } })
        }
        "LoadTableResult" => json!({ "metadata-location": TABLE_FILE, "metadata": table() }),
        "CommitTableRequest" => table_commit(),
        "CommitTableResponse" => json!({ "metadata-location": TABLE_FILE, "metadata": table() }),
        "RegisterTableRequest" => {
            json!({ "name": "orders", "metadata-location": TABLE_FILE, "overwrite": false })
        }
        "RenameRequest" => json!({ "source": name("orders"), "destination": name("sold") }),
        "LoadCredentialsResponse" => json!({
            "storage-credentials": [{ "prefix": "s3://lake/sales/orders", "config": { "client.region": "eu-1" } }],
        }),
        "MetricsReport" => json!({ "report-type": "scan-report" }),
        "CommitTransactionRequest" => json!({ "table-changes": [table_commit()] }),
        "CreateViewRequest" => {
            json!({ "name": "totals", "schema": schema(), "view-version": view_version(), "properties": {} })
        }
        "LoadViewResult" => json!({ "metadata-location": VIEW_FILE, "metadata": view() }),
        "CommitViewRequest" => json!({
            "identifier": name("totals"),
            "requirements": [{ "type": "assert-view-uuid", "uuid": UUID }],
            "updates": [{ "action": "set-properties", "updates": { "comment": "per day" } }],
        }),
        "RegisterViewRequest" => json!({ "name": "totals", "metadata-location": VIEW_FILE }),
        _ => return None,
    })
}
