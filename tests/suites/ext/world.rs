//! What the files of this suite share.

use serde_json::{Value, json};

use crate::harness::{Answer, Server, put, text};

/// The body of a failure of this surface.
#[track_caller]
pub fn failed(answer: Answer, status: u16, code: &str) -> Value {
    assert_eq!(answer.status.as_u16(), status, "{}", answer.body);
    assert_eq!(answer.body["error"]["code"], code, "{}", answer.body);
    assert!(answer.body["error"]["message"].is_string());
    answer.body["error"].clone()
}

/// Puts a table of this name, with a location of the same name.
pub async fn commit(server: &Server, branch: &str, key: &str) -> String {
    let committed = server.commit(branch, key, json!([put(key, &format!("s3://lake/{key}"))])).await;
    crate::harness::head(&committed)
}

/// Deletes a branch at its head.
pub async fn delete(server: &Server, name: &str) {
    let head = server.head(name).await;
    server.delete(&format!("/api/v2/trees/{name}@{head}")).await.ok();
}

/// The entries of the ref log that a query gives, over all its pages.
pub async fn reflog(server: &Server, query: &str) -> Vec<Value> {
    let mut entries = Vec::new();
    let mut token = String::new();
    loop {
        let page = server.get(&format!("/ext/v1/reflog?{query}&page-token={token}")).await.ok();
        entries.extend(page["entries"].as_array().expect("a list").iter().cloned());
        assert_eq!(page["hasMore"].as_bool(), Some(page["token"].is_string()), "{page}");
        if page["hasMore"] == false {
            return entries;
        }
        token = text(&page["token"]);
    }
}

/// The number of the newest entry of a reference.
pub async fn newest(server: &Server, name: &str) -> u64 {
    let page = server.get(&format!("/ext/v1/reflog?ref={name}&max-records=1")).await.ok();
    page["entries"][0]["number"].as_u64().expect("a number")
}
