//! The OpenAPI documents: that they are the ones checked in, and that they list what the router serves.
//!
//! After a change of the wire contract `LOCHAN_UPDATE_OPENAPI=1 cargo test -p lochan-tests --test openapi` writes
//! `api-spec/openapi/*.yaml` anew; the difference is what a review looks at.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "answers are read by name; what is missing or fails ends the test"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use lochan_api_spec::openapi::Document;
use lochan_server_http::Op;

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
