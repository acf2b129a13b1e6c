use std::collections::BTreeSet;

use http::HeaderValue;
use http_body_util::BodyExt;

use super::*;

async fn body(page: Page, takes_gzip: bool) -> (String, Vec<u8>) {
    let response = answer(page).await.into_response(takes_gzip, HeaderValue::from_static("id")).await;
    assert_eq!(response.status(), 200);
    let zipped = response.headers().contains_key("content-encoding");
    assert!(
        zipped || !takes_gzip || page == Page::Ui || page == Page::Index || page == Page::Asset(Asset::Start)
    );
    let media = response.headers()["content-type"].to_str().unwrap().to_owned();
    (media, response.into_body().collect().await.unwrap().to_bytes().to_vec())
}

async fn text(page: Page) -> String {
    String::from_utf8(body(page, false).await.1).unwrap()
}

#[tokio::test]
async fn documents_are_served_in_both_forms() {
    for document in Document::ALL {
        let page = find(&[&format!("{}.json", document.name())]).unwrap();
        let (media, json) = body(page, false).await;
        assert_eq!(media, "application/json");
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&json).unwrap(), document.value());
        let (media, yaml) = body(find(&["ui", &format!("{}.yaml", document.name())]).unwrap(), false).await;
        assert_eq!((media.as_str(), String::from_utf8(yaml).unwrap()), ("application/yaml", document.yaml()));
        let (_, packed) = body(page, true).await;
        let mut plain = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut plain).unwrap();
        assert_eq!(plain, json);
    }
    assert_eq!(find(&["nessie-v3.json"]), None);
    assert_eq!(find(&["nessie-v2"]), None);
    assert_eq!(find(&["a", "b"]), None);
}

#[tokio::test]
async fn the_index_and_the_ui_name_every_document_and_nothing_else() {
    let index: serde_json::Value = serde_json::from_str(&text(Page::Index).await).unwrap();
    let start = text(Page::Asset(Asset::Start)).await;
    for document in Document::ALL {
        assert!(start.contains(&format!(
            "{{ url: \"{}.json\", name: \"{}\" }}",
            document.name(),
            document.title()
        )));
        let listed = index["documents"].as_array().unwrap();
        assert!(listed.iter().any(|entry| entry["json"] == format!("/openapi/{}.json", document.name())));
    }
    assert_eq!(start.matches("url:").count(), Document::ALL.len());
    for entry in index["documents"].as_array().unwrap() {
        for form in ["yaml", "json"] {
            let path = entry[form].as_str().unwrap().strip_prefix("/openapi/").unwrap();
            assert!(find(&[path]).is_some(), "{path}");
        }
    }
}

#[tokio::test]
async fn everything_the_page_loads_is_there() {
    let page = text(Page::Ui).await;
    let loaded: Vec<&str> =
        page.split(['"']).filter(|word| word.ends_with(".css") || word.ends_with(".js")).collect();
    assert_eq!(loaded.len(), Asset::ALL.len());
    for file in loaded {
        let (asset, below) = (find(&[file]), find(&["ui", file]));
        assert!(asset.is_some() && asset == below, "{file}");
        assert!(!text(asset.unwrap()).await.is_empty());
    }
}

/// Hosts that files of ours name.
fn hosts(text: &str) -> BTreeSet<&str> {
    let end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    ["https://", "http://"]
        .iter()
        .flat_map(|scheme| text.split(scheme).skip(1))
        .filter_map(move |rest| rest.split(end).next())
        .filter(|host| host.contains('.'))
        .collect()
}

#[tokio::test]
async fn nothing_is_loaded_from_another_host() {
    let (page, start) = (text(Page::Ui).await, text(Page::Asset(Asset::Start)).await);
    for own in [&page, &start] {
        assert!(!own.contains("//"), "the page names another host");
    }
    // The browser is told so as well: whatever the program may try, it reaches this server only.
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for source in policy.split(';').skip(1) {
        let allowed = ["'self'", "'none'", "'unsafe-inline'", "data:"];
        assert!(source.split_whitespace().skip(1).all(|word| allowed.contains(&word)), "{source}");
    }
    // The one request that the program would make elsewhere by itself, unless it is told not to.
    assert!(start.contains("validatorUrl: null"));
    let styles = text(Page::Asset(Asset::Styles)).await;
    assert!(!styles.contains("@import"));
    for url in styles.split("url(").skip(1) {
        let url = url.trim_start_matches(['"', '\'']);
        assert!(url.starts_with("data:"), "{}", &url[..40.min(url.len())]);
    }
    assert!(hosts(&styles).iter().all(|host| *host == "www.w3.org"), "{:?}", hosts(&styles));
}

#[test]
fn the_ui_costs_little() {
    const BYTES_MAX: usize = 700 * 1024;
    let size: usize = [
        include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz")).len(),
        include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz")).len(),
        include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-standalone-preset.js.gz")).len(),
    ]
    .iter()
    .sum();
    assert!(size < BYTES_MAX, "{size}");
}
