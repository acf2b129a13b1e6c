//! `lochan-server dev` as its users meet it: Iceberg REST in front, its own S3 behind, and both after a restart.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "answers are read by name; what is missing or fails ends the test"
)]

#[path = "../live.rs"]
mod live;

use lochan_server::Mode;
use object_store::{ObjectStore, ObjectStoreExt, aws::AmazonS3Builder, path::Path};
use serde_json::{Value, json};

use crate::live::Live;

const TABLES: &str = "/v1/main/namespaces/nyc/tables";

async fn call(live: &Live, method: &str, path: &str, body: Value) -> Value {
    let url = format!("{}{path}", live.running.ready.iceberg);
    let method = method.parse().unwrap();
    let mut request = reqwest::Client::new().request(method, &url);
    if !body.is_null() {
        request = request.json(&body);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert!(status.is_success(), "{url}: {status}: {text}");
    serde_json::from_str(&text).unwrap_or_default()
}

/// A client of the endpoint that has the keys which `dev` hands out.
fn bucket(live: &Live) -> impl ObjectStore {
    let s3 = live.running.ready.s3.clone().unwrap();
    AmazonS3Builder::new()
        .with_endpoint(s3.endpoint)
        .with_allow_http(true)
        .with_region(s3.region)
        .with_bucket_name(s3.bucket)
        .with_access_key_id(s3.access_key)
        .with_secret_access_key(s3.secret_key)
        .build()
        .unwrap()
}

/// The document at a location of the answer, read from the endpoint itself.
async fn stored(live: &Live, location: &Value) -> Value {
    let path = location.as_str().unwrap().strip_prefix("s3://lake/").unwrap();
    let found = bucket(live).get(&Path::from(path)).await.unwrap();
    serde_json::from_slice(&found.bytes().await.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_lives_on_the_s3_of_dev_and_through_a_restart() {
    let live = Live::start(Mode::Dev).await;
    let config = call(&live, "GET", "/v1/config", Value::Null).await;
    assert_eq!(
        config["overrides"]["prefix"].as_str().or(config["defaults"]["prefix"].as_str()),
        Some("main"),
        "{config}"
    );
    call(&live, "POST", "/v1/main/namespaces", json!({"namespace": ["nyc"]})).await;
    let schema =
        json!({"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": true}]});
    let made = call(&live, "POST", TABLES, json!({"name": "flights", "schema": schema})).await;
    let location = made["metadata"]["location"].as_str().unwrap();
    assert!(location.starts_with("s3://lake/warehouse/nyc/flights_"), "{location}");
    let document = stored(&live, &made["metadata-location"]).await;
    assert_eq!(document["table-uuid"], made["metadata"]["table-uuid"]);

    let change = json!({
        "requirements": [{"type": "assert-table-uuid", "uuid": made["metadata"]["table-uuid"]}],
        "updates": [{"action": "set-properties", "updates": {"owner": "ann"}}]
    });
    let changed = call(&live, "POST", &format!("{TABLES}/flights"), change).await;
    assert_ne!(changed["metadata-location"], made["metadata-location"]);
    let document = stored(&live, &changed["metadata-location"]).await;
    assert_eq!(document["properties"]["owner"], "ann");
    assert_eq!(document["metadata-log"][0]["metadata-file"], made["metadata-location"]);
    let loaded = call(&live, "GET", &format!("{TABLES}/flights"), Value::Null).await;
    assert_eq!(
        (&loaded["metadata-location"], &loaded["metadata"]),
        (&changed["metadata-location"], &changed["metadata"])
    );

    let live = live.restart().await;
    let again = call(&live, "GET", &format!("{TABLES}/flights"), Value::Null).await;
    assert_eq!(
        (&again["metadata-location"], &again["metadata"]),
        (&loaded["metadata-location"], &loaded["metadata"])
    );
    assert_eq!(stored(&live, &again["metadata-location"]).await, document);
    let more =
        json!({"requirements": [], "updates": [{"action": "set-properties", "updates": {"owner": "bob"}}]});
    let after = call(&live, "POST", &format!("{TABLES}/flights"), more).await;
    assert_eq!(stored(&live, &after["metadata-location"]).await["properties"]["owner"], "bob");
    let log = reqwest::get(format!("{}api/v2/trees/main/history", live.root())).await.unwrap();
    let log: Value = serde_json::from_str(&log.text().await.unwrap()).unwrap();
    assert_eq!(log["logEntries"].as_array().unwrap().len(), 4, "namespace, table, two changes: {log}");
    live.stop().await;
}
