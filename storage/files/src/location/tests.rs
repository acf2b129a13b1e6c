use super::*;

fn check(text: &str, canonical: &str) {
    let location = Location::parse(text).unwrap();
    assert_eq!(location.canonical(), canonical, "{text}");
    assert_eq!(location.as_str(), text);
}

fn refused(text: &str, reason: &str) {
    match Location::parse(text) {
        Err(Error::Invalid { reason: found, .. }) => assert!(found.contains(reason), "{text}: {found}"),
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[test]
fn forms_of_one_place_are_equal_and_keep_their_text() {
    for text in
        ["/lake/ns/t", "file:/lake/ns/t", "file:///lake/ns/t", "file:///lake/ns/t/", "file:////lake//ns/t"]
    {
        check(text, "file:///lake/ns/t");
    }
    for text in ["s3://lake/ns/t", "s3a://lake/ns/t", "s3n://lake/ns/t/", "S3://lake/ns/t"] {
        check(text, "s3://lake/ns/t");
    }
    check("s3://lake", "s3://lake");
    check("s3://lake/", "s3://lake");
    assert_ne!(Location::parse("s3://lake/ns").unwrap(), Location::parse("file:///lake/ns").unwrap());
}

#[test]
fn names_are_taken_literally() {
    check("s3://lake/a b/ü/x=1/ta+b&c", "s3://lake/a b/ü/x=1/ta+b&c");
    check("file:///lake/a b/ü/100%", "file:///lake/a b/ü/100%");
    check("s3://lake/a%20b", "s3://lake/a%20b");
    assert_ne!(Location::parse("/l/a%20b").unwrap(), Location::parse("/l/a b").unwrap());
    check("/l/..x/.y/z.", "file:///l/..x/.y/z.");
}

#[test]
fn what_is_refused_says_why() {
    refused("", "empty");
    refused("lake/ns", "neither a URI nor an absolute path");
    refused("file:lake", "relative");
    refused("file://host/lake", "host");
    refused("file:///", "root folder");
    refused("/", "root folder");
    refused("gs://lake/x", "scheme");
    refused("http://lake/x", "scheme");
    refused("s3:lake/x", "bucket");
    refused("s3:///x", "bucket");
    refused("s3://ab/x", "bucket");
    refused("s3://la ke/x", "bucket");
    refused("s3://lake:9000/x", "bucket");
    refused("s3://key:secret@lake/x", "user information");
    refused("s3://lake//x", "empty segment");
    refused("s3://lake/x//", "empty segment");
    refused("s3://lake/a?versionId=1", "query");
    refused("/lake/a#b", "fragment");
    refused("/lake/../etc", "'..' segment");
    refused("/lake/./x", "'.' segment");
    refused("s3://lake/a/..", "'..' segment");
    refused("/lake/a\0b", "control");
    refused("/lake/a\nb", "control");
    refused("/lake\\x", "backslash");
    for tricky in ["%2e%2e", "%2E.", "a%2fb", "a%2Fb", "a%5cb", "a%00b", "%252e%252e", "a%25252fb"] {
        refused(&format!("/lake/{tricky}/x"), "encoded");
        refused(&format!("s3://lake/{tricky}/x"), "encoded");
    }
    refused("/lake/%2525252525252541", "over and over");
    refused(&format!("/lake/{}", "a".repeat(256)), "longer than 255");
    refused(&format!("s3://lake/{}", "a".repeat(1_025)), "longer than 1024");
    refused(&format!("/{}", "a/".repeat(3_000)), "longer than 4096");
}

#[test]
fn a_refusal_hides_credentials() {
    let error = Location::parse("s3://key:hunter2@lake/x").unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[test]
fn containment_counts_whole_segments() {
    let at = |text: &str| Location::parse(text).unwrap();
    assert!(at("s3://lake/orders").contains(&at("s3a://lake/orders/data/x")));
    assert!(at("s3://lake/orders/").contains(&at("s3://lake/orders")));
    assert!(!at("s3://lake/orders").contains(&at("s3://lake/orders2")));
    assert!(!at("s3://lake/orders/x").contains(&at("s3://lake/orders")));
    assert!(at("s3://lake").contains(&at("s3://lake/x")));
    assert!(!at("s3://lake").contains(&at("s3://lake2/x")));
    assert!(at("/lake").contains(&at("file:///lake/x")));
    assert!(!at("/lake").contains(&at("s3://lake/x")));
}

#[test]
fn join_keeps_the_style_and_checks_the_result() {
    let base = Location::parse("s3a://lake/wh/").unwrap();
    assert_eq!(base.join("ns/t ü").unwrap().as_str(), "s3a://lake/wh/ns/t ü");
    assert_eq!(base.join("x").unwrap().file_name(), Some("x"));
    assert_eq!(Location::parse("s3://lake").unwrap().join("x").unwrap().as_str(), "s3://lake/x");
    assert_eq!(Location::parse("s3://lake").unwrap().file_name(), None);
    for bad in ["", "/x", "x/", "..", "a/../b", "a?b", "%2e%2e"] {
        assert!(base.join(bad).is_err(), "{bad}");
    }
}
