//! The OpenAPI documents: that they are the ones checked in, and that they list what the router serves.
//!
//! After a change of the wire contract `LOCHAN_UPDATE_OPENAPI=1 cargo test -p lochan-tests --test openapi` writes
//! `api-spec/openapi/*.yaml` anew; the difference is what a review looks at.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "answers are read by name; what is missing or fails ends the test"
)]

#[path = "../live.rs"]
mod live;

use std::collections::BTreeSet;
use std::path::PathBuf;

use lochan_api_spec::openapi::Document;
use lochan_server::Mode;
use lochan_server_http::Op;

use crate::live::Live;
fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "api-spec", "openapi"].iter().collect()
}

#[test]
fn documents_are_the_ones_checked_in() {
    let update = std::env::var_os("LOCHAN_UPDATE_OPENAPI").is_some();
    for document in Document::ALL {
        let file = folder().join(format!("{}.yaml", document.name()));
        let generated = document.yaml();
        if update {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&file, &generated).unwrap();
        }
        let checked_in = std::fs::read_to_string(&file).unwrap_or_default();
        let same = checked_in.lines().zip(generated.lines()).take_while(|(a, b)| a == b).count();
        assert!(
            checked_in == generated,
            "{} differs from line {} on; if that is meant, run this suite with LOCHAN_UPDATE_OPENAPI=1",
            file.display(),
            same + 1
        );
    }
}

#[test]
fn no_other_documents_lie_there() {
    let known: BTreeSet<String> =
        Document::ALL.iter().map(|document| format!("{}.yaml", document.name())).collect();
    let found: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, known);
}

#[test]
fn router_and_documents_list_the_same_pairs() {
    let mut documented = BTreeSet::new();
    for document in Document::ALL {
        let value = document.value();
        for (path, item) in value["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys() {
                assert!(
                    documented.insert((method.to_uppercase(), path.clone())),
                    "{method} {path} is listed twice"
                );
            }
        }
    }
    let routed: BTreeSet<(String, String)> =
        Op::ALL.iter().map(|op| (op.method().to_owned(), op.template().to_owned())).collect();
    let only = |a: &BTreeSet<(String, String)>, b: &BTreeSet<(String, String)>| format!("{:?}", a - b);
    assert!(
        routed == documented,
        "only routed: {}; only documented: {}",
        only(&routed, &documented),
        only(&documented, &routed)
    );
}

/// Reads a page; its media type without parameters, and its text.
async fn page(live: &Live, path: &str) -> (String, String) {
    let url = format!("{}{path}", live.root());
    let answer = reqwest::get(&url).await.unwrap();
    assert_eq!(answer.status(), 200, "{url}");
    let media = answer.headers()["content-type"].to_str().unwrap();
    (media.split(';').next().unwrap().to_owned(), answer.text().await.unwrap())
}

#[tokio::test]
async fn a_server_serves_its_documents_and_a_page_to_read_them() {
    let live = Live::start(Mode::Serve).await;
    for document in Document::ALL {
        let (media, yaml) = page(&live, &format!("openapi/{}.yaml", document.name())).await;
        assert_eq!((media.as_str(), yaml), ("application/yaml", document.yaml()));
        let (media, json) = page(&live, &format!("openapi/{}.json", document.name())).await;
        assert_eq!((media.as_str(), json), ("application/json", document.json()));
    }
    let (media, html) = page(&live, "openapi/ui").await;
    assert_eq!(media, "text/html");
    for file in html.split('"').filter(|word| word.ends_with(".js") || word.ends_with(".css")) {
        // As a browser resolves it, with and without a slash behind `ui`.
        for place in ["openapi", "openapi/ui"] {
            assert!(!page(&live, &format!("{place}/{file}")).await.1.is_empty(), "{file}");
        }
    }
    assert!(page(&live, "openapi/swagger-ui-bundle.js").await.1.contains("SwaggerUIBundle"));
    let (_, index) = page(&live, "openapi/").await;
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    assert_eq!(index["documents"].as_array().unwrap().len(), Document::ALL.len());
    for (method, path, status) in [("POST", "openapi/ui", 405), ("GET", "openapi/nothing", 404)] {
        let url = format!("{}{path}", live.root());
        let answer = reqwest::Client::new().request(method.parse().unwrap(), url).send().await.unwrap();
        assert_eq!(answer.status(), status, "{method} {path}");
    }
    live.stop().await;
}
