use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::config::{self, Layer};

fn settings(folder: &Path) -> Config {
    let folder = folder.to_str().unwrap();
    let vars = [
        ("LOCHAN__STORE__DATA_DIR", folder),
        ("LOCHAN__SERVER__LISTEN", "127.0.0.1:0"),
        ("LOCHAN__SERVER__MANAGEMENT_LISTEN", "127.0.0.1:0"),
        ("LOCHAN__DEV__S3_LISTEN", "127.0.0.1:0"),
    ];
    let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
    config::load(None, vars, Layer::new()).unwrap().config
}

async fn get(url: &str) -> (u16, String) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[tokio::test]
async fn a_server_lives_from_start_to_stop_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = settings(folder.path());
    for _ in 0..2 {
        let running = start(&config, Mode::Serve).await.unwrap();
        let file = folder.path().join("ready.json");
        running.announce(&file).unwrap();
        let ready: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let nessie = ready["nessie"].as_str().unwrap().to_owned();
        assert!(nessie.ends_with("/api/") && ready["iceberg"].as_str().unwrap().ends_with("/iceberg"));
        assert_eq!(ready.get("s3"), None);

        let root = nessie.strip_suffix("/api/").unwrap();
        let (status, body) = get(&format!("{root}/ext/v1/info")).await;
        let info: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &info["store"]["durability"]), (200, &Value::from("fsync")));
        assert_eq!(info["warehouses"][0]["name"], "warehouse");
        assert_eq!(get(&format!("{nessie}v2/nothing")).await.0, 404);

        let management = ready["management"].as_str().unwrap();
        let (status, body) = get(&format!("{management}/q/health/ready")).await;
        assert_eq!((status, body.contains("\"writes\":\"accepted\"")), (200, true), "{body}");
        let (_, metrics) = get(&format!("{management}/metrics")).await;
        assert!(metrics.contains("lochan_http_request_duration_seconds_count"), "{metrics}");
        assert!(metrics.contains("endpoint=\"ExtGetInfo\""), "{metrics}");

        let taken = start(&config, Mode::Serve).await.err().unwrap();
        assert!(format!("{taken:#}").contains("in use"), "{taken:#}");
        running.stop().await;
        assert!(TcpStream::connect(root.strip_prefix("http://").unwrap()).await.is_err());
    }
    let report = crate::fsck::verify(&config.store, true).await.unwrap();
    assert!(report.is_sound() && report.references == 1, "{report:?}");
}

#[tokio::test]
async fn a_new_store_is_its_owners_alone_and_keeps_its_default_branch() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = settings(folder.path());
    start(&config, Mode::Serve).await.unwrap().stop().await;
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(crate::wiring::store_folder(&config.store)).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o700, "nobody else reads a store");
    config.catalog.default_branch = "trunk".into();
    let refused = format!("{:#}", start(&config, Mode::Serve).await.err().unwrap());
    assert!(refused.contains("'trunk'") && refused.contains("'main'"), "{refused}");
    config.catalog.default_branch = "main".into();
    start(&config, Mode::Serve).await.unwrap().stop().await;
}

#[tokio::test]
async fn dev_brings_a_warehouse_on_its_own_s3() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(&settings(folder.path()), Mode::Dev).await.unwrap();
    let s3 = running.ready.s3.clone().unwrap();
    assert_eq!((s3.bucket.as_str(), running.warehouse.as_str()), ("lake", "warehouse"));
    let root = running.ready.nessie.strip_suffix("/api/").unwrap();
    let (_, body) = get(&format!("{root}/ext/v1/info")).await;
    let info: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(info["warehouses"][0]["location"], "s3://lake/warehouse");
    assert_eq!(get(&format!("{}/", s3.endpoint)).await.0, 403);
    running.stop().await;
}
