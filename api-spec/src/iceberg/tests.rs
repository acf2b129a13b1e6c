//! Shapes of bodies, paths and announcements.

use serde_json::{Value, json};

use super::error::{ErrorResponse, ErrorType};
use super::identifier::{ListIdentifiersResponse, TableIdentifier};
use super::paging::Page;
use super::{config, namespaces, tables, transactions, views};
use crate::endpoint::Endpoint;
use crate::syntax::query::QueryParams;

fn written(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn the_error_envelope() {
    let error = ErrorResponse::new(ErrorType::NoSuchTable, "Table does not exist: sales.orders");
    let wire = json!({"error": {"message": "Table does not exist: sales.orders", "type": "NoSuchTableException",
        "code": 404}});
    assert_eq!(written(&error), wire);
    assert_eq!(serde_json::from_value::<ErrorResponse>(wire).unwrap(), error);
}

#[test]
fn answers_write_what_strict_clients_require() {
    let namespace = namespaces::NamespaceDocument { namespace: vec!["a".into()], ..Default::default() };
    assert_eq!(written(namespace), json!({"namespace": ["a"], "properties": {}}));
    assert_eq!(
        written(namespaces::UpdatePropertiesResponse::default()),
        json!({"updated": [], "removed": [], "missing": []})
    );
    assert_eq!(
        written(namespaces::ListNamespacesResponse::default()),
        json!({"namespaces": [], "next-page-token": null})
    );
    let tables = ListIdentifiersResponse {
        identifiers: vec![TableIdentifier { namespace: vec!["a".into()], name: "t".into() }],
        next_page_token: Some("n".into()),
    };
    assert_eq!(
        written(tables),
        json!({"identifiers": [{"namespace": ["a"], "name": "t"}], "next-page-token": "n"})
    );
    assert_eq!(written(config::CatalogConfig::default()), json!({"defaults": {}, "overrides": {}}));
}

#[test]
fn documents_pass_through_untouched() {
    let wire = r#"{"name":"t","schema":{"type":"struct", "fields":[]},"location":null,"partition-spec":null,"stage-create":null,"properties":null}"#;
    let create: tables::CreateTableRequest = serde_json::from_str(wire).unwrap();
    assert_eq!(create.schema.get(), r#"{"type":"struct", "fields":[]}"#);
    assert!(create.partition_spec.is_none() && !create.stage_create && create.location.is_none());

    let wire =
        r#"{"requirements":[{"type":"assert-create"}],"updates":[{"action":"x", "id":9223372036854775807}]}"#;
    let commit: tables::CommitTableRequest = serde_json::from_str(wire).unwrap();
    assert_eq!(commit.updates.first().unwrap().get(), r#"{"action":"x", "id":9223372036854775807}"#);
    assert_eq!(serde_json::to_string(&commit).unwrap(), wire);
    let wire = r#"{"table-changes":[{"identifier":{"namespace":["eu"],"name":"o"},"requirements":[],"updates":[]}]}"#;
    let transaction: transactions::CommitTransactionRequest = serde_json::from_str(wire).unwrap();
    assert_eq!(serde_json::to_string(&transaction).unwrap(), wire);

    let metadata: &serde_json::value::RawValue = serde_json::from_str(r#"{"b":1, "a":2}"#).unwrap();
    let load = tables::LoadTableResult {
        metadata_location: Some("s3://m".into()),
        metadata,
        config: Default::default(),
        storage_credentials: vec![],
    };
    assert_eq!(
        serde_json::to_string(&load).unwrap(),
        r#"{"metadata-location":"s3://m","metadata":{"b":1, "a":2}}"#
    );
    let view: views::CreateViewRequest =
        serde_json::from_str(r#"{"name":"v","schema":{},"view-version":{}}"#).unwrap();
    assert!(view.properties.is_empty());
}

#[test]
fn paging() {
    let page = |raw: &str| Page::from_raw(raw).unwrap();
    assert_eq!(page(""), Page::default());
    assert_eq!(page("pageToken=&pageSize=3"), Page { token: Some(String::new()), size: Some(3) });
    assert_eq!(page("pageToken=ab").to_query(), "?pageToken=ab");
    let query = namespaces::list_namespaces::Query::from_raw("parent=a%1Fb&pageToken=").unwrap();
    assert_eq!(query.parent.as_deref(), Some("a\u{1f}b"));
    assert_eq!(query.to_query(), "?parent=a%1Fb&pageToken=");
}

#[test]
fn paths_are_encoded() {
    let namespace = ["a/b".to_owned(), "c d".to_owned()];
    assert_eq!(
        tables::LoadTable::path("main%7Csales", &namespace, "t@dev"),
        "/iceberg/v1/main%7Csales/namespaces/a%2Fb%1Fc%20d/tables/t%40dev"
    );
    assert_eq!(config::GetConfigOfReference::path("dev|sales"), "/iceberg/dev%7Csales/v1/config");
    assert_eq!(tables::RenameTable::path("main"), "/iceberg/v1/main/tables/rename");
}

#[test]
fn announcements() {
    let all: Vec<String> = super::ALL.iter().filter_map(super::announcement).collect();
    for wanted in [
        "GET /v1/{prefix}/namespaces",
        "HEAD /v1/{prefix}/namespaces/{namespace}",
        "POST /v1/{prefix}/namespaces/{namespace}/properties",
        "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
        "POST /v1/{prefix}/namespaces/{namespace}/register",
        "POST /v1/{prefix}/tables/rename",
        "POST /v1/{prefix}/transactions/commit",
        "HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}",
        "POST /v1/{prefix}/views/rename",
        "POST /v1/{prefix}/namespaces/{namespace}/register-view",
    ] {
        assert!(all.iter().any(|line| line == wanted), "{wanted}");
    }
    // The 24 the reference server announces, and register-view.
    assert_eq!(all.len(), 25);
    assert_eq!(super::announcement(&config::GetConfig::INFO), None);
}
