//! Golden vectors: bytes and ids that a released version has written stay as they are.

use std::collections::BTreeMap;

use crate::{
    Commit, CommitId, CommitMeta, Content, ContentId, ContentKey, ContentType, Entry, Instant, ObjectId,
    Operation, Put, commit::Header,
};

fn table() -> Content {
    Content::IcebergTable {
        metadata_location: "s3://lake/t/metadata/00000-a.metadata.json".into(),
        snapshot_id: -1,
        schema_id: 0,
        spec_id: 1,
        sort_order_id: 2,
    }
}

fn commit() -> Commit {
    let key = ContentKey::new(["sales", "orders"]).unwrap();
    let (entry, object) = Entry::of(ContentId::from_bytes([7; 16]), &table());
    assert!(object.is_none());
    Commit {
        header: Header {
            parents: vec![CommitId::NO_ANCESTOR],
            depth: 1,
            generation: 1,
            skip: CommitId::NO_ANCESTOR,
            time: 1_766_000_000_123_456,
            root: ObjectId::from_bytes([9; 32]),
        },
        meta: CommitMeta {
            committer: "bob".into(),
            authors: vec!["ann".into()],
            signed_off_by: vec![],
            message: "add orders".into(),
            author_time: Some(Instant { seconds: 1, nanos: 5 }),
            properties: BTreeMap::from([("App".into(), vec!["x".into(), "y".into()])]),
        },
        attachments: vec![ObjectId::from_bytes([3; 32])],
        operations: vec![
            Operation::Put(Put { key: key.index_key(), entry }),
            Operation::Delete(ContentKey::new(["sales", "p"]).unwrap().index_key()),
        ],
    }
}

#[test]
fn no_ancestor_is_the_announced_constant() {
    use sha2::Digest;
    assert_eq!(CommitId::NO_ANCESTOR.as_bytes()[..], sha2::Sha256::digest(b"empty")[..]);
}

#[test]
fn commit_bytes_and_id_are_fixed() {
    let bytes = commit().encode();
    assert_eq!(Commit::decode(&bytes).unwrap(), commit());
    assert_eq!(Commit::decode_header(&bytes).unwrap(), commit().header);
    assert_eq!(hex::encode(&bytes), include_str!("golden/commit-v1.hex").trim());
    assert_eq!(Commit::id_of(&bytes).to_string(), include_str!("golden/commit-v1.id").trim());
    for cut in 0..bytes.len() {
        assert!(Commit::decode(&bytes[..cut]).is_err(), "{cut}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(Commit::decode(&longer).is_err());
}

#[test]
fn content_bytes_are_fixed() {
    let text = |t: &str| Some(t.to_owned());
    let contents = [
        table(),
        Content::IcebergView {
            metadata_location: "m".into(),
            version_id: i64::MAX,
            schema_id: -1,
            sql_text: text("-"),
            dialect: None,
        },
        Content::Namespace {
            elements: vec!["a".into()],
            properties: BTreeMap::from([("k".into(), "v".into())]),
        },
        Content::DeltaLakeTable {
            metadata_location_history: vec!["m".into()],
            checkpoint_location_history: vec![],
            last_checkpoint: text("c"),
        },
        Content::Udf {
            metadata_location: None,
            version_id: text("1"),
            signature_id: text(""),
            sql_text: None,
            dialect: text("d"),
        },
        Content::System(b"{\"next\":5}".to_vec()),
    ];
    let mut lines = String::new();
    for content in contents {
        let bytes = content.encode();
        assert_eq!(Content::decode(content.content_type(), &bytes).unwrap(), content);
        lines += &format!("{:?} {}\n", content.content_type(), hex::encode(bytes));
    }
    assert_eq!(lines, include_str!("golden/contents-v1.txt"));
    assert!(Content::decode(ContentType::Udf, &[2]).is_err());
}
