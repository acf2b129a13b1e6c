use serde_json::{Value, json};

use crate::harness::{Server, view};

#[tokio::test]
async fn life_of_a_namespace() {
    let server = Server::new().await;
    let made = server
        .post("main/namespaces", json!({"namespace": ["eu"], "properties": {"owner": "ann"}}))
        .await
        .ok();
    assert_eq!(made["namespace"], json!(["eu"]));
    let location = made["properties"]["location"].as_str().unwrap().to_owned();
    assert!(location.starts_with("file:///") && location.ends_with("/lake/eu/"), "{location}");
    server.post("main/namespaces", json!({"namespace": ["eu"]})).await.refused(
        409,
        "AlreadyExistsException",
        "Namespace already exists: eu",
    );
    let missing = server.post("main/namespaces", json!({"namespace": ["x", "y"]})).await;
    missing.refused(404, "NoSuchNamespaceException", "Namespace does not exist: x");

    let body = json!({"removals": ["owner", "none"], "updates": {"k": "v"}});
    let changed = server.post("main/namespaces/eu/properties", body).await.ok();
    assert_eq!(changed, json!({"updated": ["k"], "removed": ["owner"], "missing": ["none"]}));
    let both = json!({"removals": ["a"], "updates": {"a": "1"}});
    let both = server.post("main/namespaces/eu/properties", both).await;
    both.refused(422, "UnprocessableEntityException", "a");
    let loaded = server.get("main/namespaces/eu").await.ok();
    assert_eq!(loaded["properties"], json!({"k": "v", "location": location}));

    assert_eq!(server.last_commit("main").await["message"], "update namespace eu");
    server.table("main", "eu", "t").await;
    let full = server.call("DELETE", "main/namespaces/eu", Value::Null).await;
    full.refused(409, "NamespaceNotEmptyException", "Namespace eu is not empty");
    assert_eq!(server.call("DELETE", "main/namespaces/eu/tables/t", Value::Null).await.status, 204);
    assert_eq!(server.call("DELETE", "main/namespaces/eu", Value::Null).await.status, 204);
    assert_eq!(server.last_commit("main").await["message"], "delete namespace eu");
    let gone = server.get("main/namespaces/eu").await;
    gone.refused(404, "NoSuchNamespaceException", "Namespace does not exist: eu");
    assert_eq!(server.call("HEAD", "main/namespaces/eu", Value::Null).await.status, 404);
}

#[tokio::test]
async fn only_direct_children_are_listed() {
    let server = Server::new().await;
    for levels in [json!(["a"]), json!(["a", "b"]), json!(["a", "b", "c"]), json!(["a", "d"]), json!(["a!"])]
    {
        server.post("main/namespaces", json!({"namespace": levels})).await.ok();
    }
    server.table("main", "a", "t").await;
    server.table("main", "a%1Fb", "u").await;
    let listed = async |path: &str| server.get(path).await.ok()["namespaces"].clone();
    assert_eq!(listed("main/namespaces").await, json!([["a"], ["a!"]]));
    assert_eq!(listed("main/namespaces?parent=a").await, json!([["a", "b"], ["a", "d"]]));
    assert_eq!(listed("main/namespaces?parent=a%1Fb").await, json!([["a", "b", "c"]]));
    assert_eq!(listed("main/namespaces?parent=a.b").await, json!([["a", "b", "c"]]));
    assert_eq!(listed("main/namespaces?parent=a%1Fd").await, json!([]));
    let absent = server.get("main/namespaces?parent=none").await;
    absent.refused(404, "NoSuchNamespaceException", "Namespace does not exist: none");
    let tables = server.get("main/namespaces/a/tables").await.ok();
    assert_eq!(tables["identifiers"], json!([{"namespace": ["a"], "name": "t"}]));
}

#[tokio::test]
async fn a_page_holds_five_hundred() {
    let server = Server::new().await;
    for n in 0..500 {
        server.namespace("main", &format!("n{n}")).await;
    }
    let page = async || {
        let page = server.get("main/namespaces?pageToken=&pageSize=1000").await.ok();
        (page["namespaces"].as_array().unwrap().len(), page["next-page-token"].is_string())
    };
    assert_eq!(page().await, (500, false));
    server.namespace("main", "more").await;
    assert_eq!(page().await, (500, true));
}

/// Pages stay those of the state they began with, whatever is committed meanwhile.
#[tokio::test]
async fn pages() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    for n in 0..5 {
        server.table("main", "a", &format!("t{n}")).await;
        server.post("main/namespaces/a/views", view(&format!("v{n}"), "select 1")).await.ok();
    }
    let mut names = Vec::new();
    let mut token = String::new();
    loop {
        let page = server.get(&format!("main/namespaces/a/tables?pageToken={token}&pageSize=2")).await.ok();
        let found = page["identifiers"].as_array().unwrap();
        assert!(found.len() <= 2);
        names.extend(found.iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        server.table("main", "a", &format!("t4{}", names.len())).await;
        match page["next-page-token"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
    let all = server.get("main/namespaces/a/tables?pageSize=2").await.ok();
    assert_eq!(all["identifiers"].as_array().unwrap().len(), 8, "a size without a token does not page");
    for bad in ["pageToken=zz&pageSize=1", "pageSize=0", "pageToken=&pageSize=-1"] {
        let answer = server.get(&format!("main/namespaces/a/tables?{bad}")).await;
        answer.refused(400, "BadRequestException", "page");
    }
    let first = server.get("main/namespaces/a/tables?pageToken=&pageSize=1").await.ok();
    let token = first["next-page-token"].as_str().unwrap();
    let other = server.get(&format!("main/namespaces/a/views?pageToken={token}")).await;
    other.refused(400, "BadRequestException", "pageToken");
}

#[tokio::test]
async fn locations() {
    let server = Server::new().await;
    for bad in ["relative/path", "nowhere://x/y", "s3:///no-bucket", "/etc"] {
        let body = json!({"namespace": ["bad"], "properties": {"location": bad}});
        assert_eq!(server.post("main/namespaces", body).await.status, 400, "{bad}");
    }
    let own = format!("file://{}/second/moved", server.folder().display());
    server.post("main/namespaces", json!({"namespace": ["a"], "properties": {"location": own}})).await.ok();
    server.post("main/namespaces", json!({"namespace": ["a", "b c"]})).await.ok();
    let inner = server.get("main/namespaces/a%1Fb%20c").await.ok();
    assert_eq!(inner["properties"]["location"], format!("{own}/b_c/"));
    let table = server.table("main", "a%1Fb+c", "t").await;
    assert!(table["location"].as_str().unwrap().starts_with(&format!("{own}/b_c/t_")), "{table}");
}
