use super::*;
use crate::{Warehouse, WarehouseConfig, Warehouses};

struct Lake {
    _folder: tempfile::TempDir,
    root: Location,
    warehouses: Warehouses,
}

impl Lake {
    fn warehouse(&self) -> &Warehouse {
        self.warehouses.default()
    }
}

fn lake() -> Lake {
    let folder = tempfile::tempdir().unwrap();
    let root = Location::parse(&format!("file://{}/wh", folder.path().display())).unwrap();
    let config =
        WarehouseConfig { name: "lake".into(), location: root.as_str().into(), default: true, s3: None };
    let warehouses = Warehouses::open(vec![config]).unwrap();
    Lake { _folder: folder, root, warehouses }
}

#[tokio::test]
async fn create_read_write_delete_and_their_counts() {
    let lake = lake();
    let warehouse = lake.warehouse();
    let at = lake.root.join("ns ü/t 1/metadata/00000-x%41.metadata.json").unwrap();
    assert_eq!(warehouse.read(&at).await.unwrap(), None);
    assert_eq!(warehouse.size(&at).await.unwrap(), None);
    let before = warehouse.io_counts();

    warehouse.create(&at, Bytes::from_static(b"one")).await.unwrap();
    let counts = warehouse.io_counts().since(before);
    assert_eq!((counts.puts, counts.gets, counts.heads), (1, 0, 0));

    let again = warehouse.create(&at, Bytes::from_static(b"two")).await;
    assert!(matches!(again, Err(Error::AlreadyExists { location }) if location == at.as_str()));
    assert_eq!(warehouse.read(&at).await.unwrap().unwrap(), "one");
    warehouse.write(&at, Bytes::from_static(b"three")).await.unwrap();
    assert_eq!(warehouse.size(&at).await.unwrap(), Some(5));
    warehouse.delete(&at).await.unwrap();
    warehouse.delete(&at).await.unwrap();
    assert_eq!(warehouse.size(&at).await.unwrap(), None);
    // The key is the name, literally.
    warehouse.create(&at, Bytes::new()).await.unwrap();
    assert!(std::path::Path::new(&format!("/{}", at.key())).is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_racing_creators_one_wins() {
    let lake = lake();
    let at = lake.root.join("ns/t/metadata/v1.json").unwrap();
    let racers = (0..16).map(|n| {
        let (warehouse, at) = (lake.warehouse().clone(), at.clone());
        tokio::spawn(async move { warehouse.create(&at, Bytes::from(format!("{n}"))).await.map(|()| n) })
    });
    let results = futures::future::join_all(racers.collect::<Vec<_>>()).await;
    let winners: Vec<i32> = results.into_iter().filter_map(|r| r.unwrap().ok()).collect();
    assert_eq!(winners.len(), 1);
    let stored = lake.warehouse().read(&at).await.unwrap().unwrap();
    assert_eq!(stored, winners[0].to_string());
}

#[tokio::test]
async fn folders_and_objects_are_told_apart() {
    let lake = lake();
    let table = lake.root.join("ns/t").unwrap();
    let warehouse = lake.warehouse();
    warehouse.make_folders(&table, &["metadata", "data"]).await.unwrap();
    warehouse.make_folders(&table, &["metadata", "data"]).await.unwrap();
    for name in ["metadata", "data"] {
        assert!(std::path::Path::new(&format!("/{}/{name}", table.key())).is_dir());
    }
    assert_eq!(warehouse.read(&table).await.unwrap(), None);
    assert_eq!(warehouse.size(&table).await.unwrap(), None);
    warehouse.delete(&table).await.unwrap();
    assert!(matches!(warehouse.write(&table, Bytes::new()).await, Err(Error::Invalid { .. })));
    let file = table.join("x").unwrap();
    warehouse.create(&file, Bytes::new()).await.unwrap();
    assert_eq!(warehouse.read(&file.join("y").unwrap()).await.unwrap(), None);
    let below = warehouse.create(&file.join("y").unwrap(), Bytes::new()).await;
    assert!(matches!(below, Err(Error::Invalid { .. })), "{below:?}");
}

#[tokio::test]
async fn a_removed_folder_is_made_again() {
    let lake = lake();
    let warehouse = lake.warehouse();
    let at = lake.root.join("ns/t/metadata/v1.json").unwrap();
    warehouse.create(&at, Bytes::new()).await.unwrap();
    fs::remove_dir_all(format!("/{}", lake.root.join("ns").unwrap().key())).unwrap();
    warehouse.create(&at, Bytes::from_static(b"again")).await.unwrap();
    assert_eq!(warehouse.size(&at).await.unwrap(), Some(5));
}

#[tokio::test]
async fn what_lies_outside_is_refused_before_it_is_touched() {
    let lake = lake();
    let outside = Location::parse(&format!("{}2/x", lake.root)).unwrap();
    let warehouse = lake.warehouse();
    for result in [
        warehouse.create(&outside, Bytes::new()).await,
        warehouse.write(&outside, Bytes::new()).await,
        warehouse.delete(&outside).await,
        warehouse.make_folders(&outside, &["x"]).await,
        warehouse.make_folders(&lake.root, &["../x"]).await,
        warehouse.read(&outside).await.map(|_| ()),
        warehouse.size(&outside).await.map(|_| ()),
    ] {
        assert!(matches!(result, Err(Error::Invalid { .. })), "{result:?}");
    }
    assert_eq!(warehouse.io_counts(), crate::IoCounts::default());
}

#[tokio::test]
async fn a_large_file_is_refused_by_its_size() {
    let lake = lake();
    let at = lake.root.join("large").unwrap();
    lake.warehouse().create(&at, Bytes::new()).await.unwrap();
    let file = fs::OpenOptions::new().write(true).open(format!("/{}", at.key())).unwrap();
    file.set_len(OBJECT_BYTES_MAX + 1).unwrap();
    let read = lake.warehouse().read(&at).await;
    assert!(matches!(read, Err(Error::TooLarge { size_bytes, .. }) if size_bytes == OBJECT_BYTES_MAX + 1));
}

#[tokio::test]
async fn a_probe_makes_the_root_and_leaves_nothing() {
    let lake = lake();
    lake.warehouse().probe().await.unwrap();
    let root = format!("/{}", lake.root.key());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    fs::remove_dir(&root).unwrap();
    fs::write(&root, b"a file").unwrap();
    assert!(lake.warehouse().probe().await.is_err());
}
