use serde_json::{Value, json};

use crate::harness::{Server, append, snapshot_ids, unmoved};

/// A server that starts anew reads documents from the store, and mends files on disk from there.
#[tokio::test]
async fn served_from_the_store() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let mut table = server.table("main", "a", "t").await;
    let path = "main/namespaces/a/tables/t";
    for id in 1..=20 {
        table = server.commit(path, unmoved(&table), append(&table, id)).await.ok()["metadata"].clone();
    }
    let loaded = server.load("main", "a", "t").await;
    let file = server.path(&loaded["metadata-location"]);
    let written = std::fs::read(&file).unwrap();

    let again = server.again().await;
    assert_eq!(again.load("main", "a", "t").await, loaded);
    assert_eq!((again.io().gets, again.io().puts), (0, 0));

    for broken in [None, Some(&written[..10])] {
        match broken {
            None => std::fs::remove_file(&file).unwrap(),
            Some(short) => std::fs::write(&file, short).unwrap(),
        }
        let again = server.again().await;
        assert_eq!(again.load("main", "a", "t").await, loaded);
        assert_eq!(std::fs::read(&file).unwrap(), written);
    }
    server.stop().await;
}

/// Metadata files of native clients are read once.
#[tokio::test]
async fn files_of_native_clients() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    let done = server.commit("main/namespaces/a/tables/t", unmoved(&table), append(&table, 1)).await.ok();
    let file = server.path(&done["metadata-location"]);
    let own = file.with_file_name("00007-native.metadata.json");
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::write(&own, serde_json::to_vec_pretty(&document).unwrap()).unwrap();
    let location = format!("file://{}", own.display());
    let head = server.nessie("GET", "trees/main", Value::Null).await;
    let put = |location: &str| {
        json!({"commitMeta": {"message": "native"}, "operations": [{"type": "PUT", "key": {"elements": ["a", "n"]},
            "content": {"type": "ICEBERG_TABLE", "metadataLocation": location, "snapshotId": 1, "schemaId": 0,
                        "specId": 0, "sortOrderId": 0}}]})
    };
    let path = format!("trees/main@{}/history/commit", head["reference"]["hash"].as_str().unwrap());
    server.nessie("POST", &path, put(&location)).await;

    let before = server.io();
    let loaded = server.load("main", "a", "n").await;
    assert_eq!(
        (snapshot_ids(&loaded), loaded["metadata-location"].as_str()),
        (vec![1], Some(location.as_str()))
    );
    assert_eq!(server.io().since(before).gets, 1);
    let again = server.again().await;
    again.load("main", "a", "n").await;
    assert_eq!(again.io().gets, 0, "kept after the first load");
    let next =
        again.commit("main/namespaces/a/tables/n", json!([]), crate::harness::set("k", "v")).await.ok();
    assert!(next["metadata-location"].as_str().unwrap().contains("/metadata/00008-"));

    let mut operations = put("s3://elsewhere/t/metadata/00000-x.metadata.json");
    operations["operations"][0]["key"]["elements"][1] = "far".into();
    let head = again.nessie("GET", "trees/main", Value::Null).await;
    let path = format!("trees/main@{}/history/commit", head["reference"]["hash"].as_str().unwrap());
    again.nessie("POST", &path, operations).await;
    let far = again.get("main/namespaces/a/tables/far").await;
    far.refused(400, "IllegalArgumentException", "no warehouse");
    let gone = location.replace("00007", "00099");
    let mut operations = put(&gone);
    operations["operations"][0]["key"]["elements"][1] = "gone".into();
    let head = again.nessie("GET", "trees/main", Value::Null).await;
    let path = format!("trees/main@{}/history/commit", head["reference"]["hash"].as_str().unwrap());
    again.nessie("POST", &path, operations).await;
    let missing = again.get("main/namespaces/a/tables/gone").await;
    missing.refused(404, "NotFoundException", &format!("Failed to open input stream for file: {gone}"));
}

/// A location that a client wants is taken once; what ever lay there is never mixed with a new table.
#[tokio::test]
async fn wanted_locations() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let wanted = format!("file://{}/lake/chosen", server.folder().display());
    let body = |name: &str, location: &str| json!({"name": name, "schema": crate::harness::schema(), "location": location});
    let first = server.post("main/namespaces/a/tables", body("t", &format!("{wanted}/"))).await.ok();
    assert_eq!(first["metadata"]["location"], wanted);
    let second = server.post("main/namespaces/a/tables", body("u", &wanted)).await.ok();
    assert!(second["metadata"]["location"].as_str().unwrap().contains("/lake/a/u_"));
    let outside = server.post("main/namespaces/a/tables", body("w", "s3://elsewhere/w")).await.ok();
    assert!(outside["metadata"]["location"].as_str().unwrap().contains("/lake/a/w_"));
}
