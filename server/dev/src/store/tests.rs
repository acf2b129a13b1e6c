use super::*;

fn sealed(store: &Store, key: &str, bytes: &[u8]) -> Sealed {
    let mut aside = store.aside().unwrap();
    aside.write(bytes).unwrap();
    let size_bytes = bytes.len() as u64;
    aside
        .seal(Description { key: key.into(), size_bytes, etag: "e".into(), ..Description::default() })
        .unwrap()
}

fn keys(bucket: &Bucket) -> Vec<String> {
    let page = bucket.list(&Query { items_max: 100, ..Query::default() });
    page.keys.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn keys_are_no_paths() {
    let folder = tempfile::tempdir().unwrap();
    let long = "k".repeat(1_024);
    let odd = ["", "../../x", "/abs", "a", "a/", "a//b", "a\u{1}\n", ".", "..", &long];
    let mut expected = odd.to_vec();
    expected.sort_unstable();
    {
        let store = Store::open(folder.path(), Limits::default()).unwrap();
        store.ensure_bucket("lake").unwrap();
        let bucket = store.bucket("lake").unwrap();
        for key in odd {
            bucket.place(sealed(&store, key, key.as_bytes()), &Precondition::default()).unwrap();
        }
        assert_eq!(keys(&bucket), expected);
        assert!(store.delete_bucket("lake").is_err());
    }
    let store = Store::open(folder.path(), Limits::default()).unwrap();
    let bucket = store.bucket("lake").unwrap();
    assert_eq!(keys(&bucket), expected);
    for key in odd {
        assert_eq!(bucket.get(key).unwrap().description.size_bytes, key.len() as u64);
        bucket.delete(key, &Precondition::default()).unwrap();
        assert!(bucket.get(key).is_err());
    }
    store.delete_bucket("lake").unwrap();
    assert!(store.bucket("lake").is_err());
}

#[test]
fn a_cut_file_is_no_object() {
    let folder = tempfile::tempdir().unwrap();
    let file_of = |path: &Path| {
        let shard = fs::read_dir(path).unwrap().next().unwrap().unwrap().path();
        fs::read_dir(shard).unwrap().next().unwrap().unwrap().path()
    };
    {
        let store = Store::open(folder.path(), Limits::default()).unwrap();
        store.ensure_bucket("lake").unwrap();
        let bucket = store.bucket("lake").unwrap();
        bucket.place(sealed(&store, "x", b"bytes"), &Precondition::default()).unwrap();
    }
    let path = file_of(&folder.path().join("buckets/lake/objects"));
    let bytes = fs::read(&path).unwrap();
    for length in [0, 4, 5, 11, 12, bytes.len() / 2, bytes.len() - 12, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let store = Store::open(folder.path(), Limits::default()).unwrap();
        assert!(keys(&store.bucket("lake").unwrap()).is_empty());
    }
}

#[test]
fn an_open_object_outlives_its_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Limits::default()).unwrap();
    store.ensure_bucket("lake").unwrap();
    let bucket = store.bucket("lake").unwrap();
    bucket.place(sealed(&store, "x", b"old"), &Precondition::default()).unwrap();
    let opened = bucket.get("x").unwrap();
    bucket.place(sealed(&store, "x", b"newer"), &Precondition::default()).unwrap();
    bucket.delete("x", &Precondition::default()).unwrap();
    let mut file = opened.file;
    let mut text = String::new();
    io::Seek::rewind(&mut file).unwrap();
    io::Read::read_to_string(&mut io::Read::take(file, opened.description.size_bytes), &mut text).unwrap();
    assert_eq!(text, "old");
}
