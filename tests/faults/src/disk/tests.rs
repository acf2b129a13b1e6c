//! What the model of a disk keeps, loses and tears, event by event.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{Disk, EventKind, Fate, Tear};

const ROOT: &str = "/disk";

/// Builds a record, event by event.
struct Told {
    disk: Disk,
    syncs: u64,
}

impl Told {
    fn new() -> Self {
        Self { disk: Disk::new(ROOT), syncs: 0 }
    }

    fn tell(&mut self, event: EventKind) -> &mut Self {
        self.disk.apply(&event).unwrap();
        self
    }

    /// The folder itself has an inode only once somebody opens it.
    fn open_root(&mut self) -> &mut Self {
        self.tell(EventKind::Open { path: ROOT.into(), inode: 1, is_made: false, is_emptied: false })
    }

    fn make(&mut self, name: &str, inode: u64) -> &mut Self {
        self.tell(EventKind::Open { path: path(name), inode, is_made: true, is_emptied: false })
    }

    fn write(&mut self, inode: u64, offset: u64, data: &[u8]) -> &mut Self {
        self.tell(EventKind::Write { inode, offset, data: data.into() })
    }

    fn begin_sync(&mut self, inode: u64) -> u64 {
        self.syncs += 1;
        let number = self.syncs;
        self.tell(EventKind::SyncBegin { inode, number });
        number
    }

    fn end_sync(&mut self, inode: u64, number: u64, is_ok: bool) -> &mut Self {
        self.tell(EventKind::SyncEnd { inode, number, is_ok })
    }

    fn sync(&mut self, inode: u64) -> &mut Self {
        let number = self.begin_sync(inode);
        self.end_sync(inode, number, true)
    }

    fn rename(&mut self, from: &str, to: &str) -> &mut Self {
        self.tell(EventKind::Rename { from: path(from), to: path(to) })
    }

    fn unlink(&mut self, name: &str) -> &mut Self {
        self.tell(EventKind::Unlink { path: path(name) })
    }

    /// Every file with its bytes after a power cut now.
    fn after(&self, fate: Fate) -> BTreeMap<String, Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        self.disk.write_image(fate, folder.path()).unwrap();
        let mut found = BTreeMap::new();
        files(folder.path(), "", &mut found);
        found
    }

    fn check(&self, fate: Fate, expected: &[(&str, &[u8])]) {
        let expected: BTreeMap<String, Vec<u8>> =
            expected.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        assert_eq!(self.after(fate), expected, "{fate:?}");
    }

    /// What torn fates leave, over many seeds.
    fn torn(&self, tear: Tear) -> BTreeSet<BTreeMap<String, Vec<u8>>> {
        (0..200).map(|seed| self.after(Fate::Torn(tear, seed))).collect()
    }
}

fn path(name: &str) -> String {
    format!("{ROOT}/{name}")
}

fn files(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn a_file_is_lost_unless_it_and_its_name_are_synced() {
    let mut told = Told::new();
    told.open_root().make("a", 2).write(2, 0, b"bytes");
    told.check(Fate::Dropped, &[]);
    told.check(Fate::Kept, &[("a", b"bytes")]);
    told.sync(2);
    told.check(Fate::Dropped, &[]);
    told.sync(1);
    told.check(Fate::Dropped, &[("a", b"bytes")]);
}

#[test]
fn a_synced_name_alone_leads_to_an_empty_file() {
    let mut told = Told::new();
    told.open_root().make("a", 2).write(2, 0, b"bytes").sync(1);
    told.check(Fate::Dropped, &[("a", b"")]);
}

#[test]
fn a_sync_covers_what_was_written_before_it_began() {
    let mut told = Told::new();
    told.open_root().make("a", 2).sync(1).write(2, 0, b"one");
    let number = told.begin_sync(2);
    told.write(2, 3, b"two").end_sync(2, number, true);
    told.check(Fate::Dropped, &[("a", b"one")]);
    told.check(Fate::Kept, &[("a", b"onetwo")]);
}

#[test]
fn a_sync_that_has_not_ended_or_has_failed_covers_nothing() {
    let mut told = Told::new();
    told.open_root().make("a", 2).sync(1).write(2, 0, b"one");
    let number = told.begin_sync(2);
    told.check(Fate::Dropped, &[("a", b"")]);
    told.end_sync(2, number, false);
    told.check(Fate::Dropped, &[("a", b"")]);
}

#[test]
fn a_sync_of_a_range_and_a_mark_change_nothing() {
    let mut told = Told::new();
    told.open_root().make("a", 2).sync(1).write(2, 0, b"one");
    told.tell(EventKind::Range).tell(EventKind::Mark("said".into())).tell(EventKind::Struck);
    told.check(Fate::Dropped, &[("a", b"")]);
}

#[test]
fn a_length_is_lost_like_bytes() {
    let mut told = Told::new();
    told.open_root().make("a", 2).write(2, 0, b"long text").sync(2).sync(1);
    told.tell(EventKind::Truncate { inode: 2, size: 4 });
    told.check(Fate::Dropped, &[("a", b"long text")]);
    told.check(Fate::Kept, &[("a", b"long")]);
    told.tell(EventKind::Truncate { inode: 2, size: 6 }).sync(2);
    told.check(Fate::Dropped, &[("a", b"long\0\0")]);
}

#[test]
fn a_file_emptied_by_its_opening_may_come_back() {
    let mut told = Told::new();
    told.open_root().make("a", 2).write(2, 0, b"old").sync(2).sync(1);
    told.tell(EventKind::Open { path: path("a"), inode: 2, is_made: false, is_emptied: true });
    told.check(Fate::Dropped, &[("a", b"old")]);
    told.check(Fate::Kept, &[("a", b"")]);
}

#[test]
fn a_rename_is_lost_until_a_folder_of_it_is_synced() {
    let mut told = Told::new();
    told.open_root().make("a", 2).make("b", 3).write(2, 0, b"new").write(3, 0, b"old");
    told.sync(2).sync(3).sync(1).rename("a", "b");
    told.check(Fate::Dropped, &[("a", b"new"), ("b", b"old")]);
    told.check(Fate::Kept, &[("b", b"new")]);
    told.sync(1);
    told.check(Fate::Dropped, &[("b", b"new")]);
}

#[test]
fn a_removed_file_may_come_back_and_bytes_written_to_it_go_nowhere_else() {
    let mut told = Told::new();
    told.open_root().make("a", 2).write(2, 0, b"old").sync(2).sync(1).unlink("a");
    told.check(Fate::Dropped, &[("a", b"old")]);
    told.check(Fate::Kept, &[]);
    // The system gives the inode to the next file.
    told.make("b", 2).write(2, 0, b"other").sync(2);
    told.check(Fate::Dropped, &[("a", b"old")]);
    told.check(Fate::Kept, &[("b", b"other")]);
}

#[test]
fn a_folder_of_a_folder_is_synced_by_itself() {
    let mut told = Told::new();
    told.open_root().tell(EventKind::MakeFolder { path: path("in"), inode: 5 });
    told.make("in/a", 2).write(2, 0, b"bytes").sync(2).sync(1);
    told.check(Fate::Dropped, &[]);
    told.sync(5);
    told.check(Fate::Dropped, &[("in/a", b"bytes")]);
    // The folder moves with what is in it.
    told.rename("in", "out").sync(1);
    told.check(Fate::Dropped, &[("out/a", b"bytes")]);
}

#[test]
fn torn_bytes_are_kept_or_lost_in_whole_sectors_on_their_borders() {
    let mut told = Told::new();
    told.open_root().make("a", 2).write(2, 0, &[1; 2048]).sync(2).sync(1);
    // From inside the first sector to inside the fourth.
    told.write(2, 500, &[2; 1500]);
    let disks = told.torn(Tear::Bytes512);
    for disk in &disks {
        let bytes = &disk["a"];
        assert_eq!(bytes.len(), 2048);
        for sector in [500..512, 512..1024, 1024..1536, 1536..2000] {
            let sector = &bytes[sector];
            assert!(sector.iter().all(|byte| byte == &sector[0]), "a sector is old or new, never both");
        }
        assert!(bytes[..500].iter().chain(&bytes[2000..]).all(|byte| *byte == 1), "what is around stays");
    }
    assert_eq!(disks.len(), 16, "every choice of four sectors comes up");
    let pages = told.torn(Tear::Bytes4096);
    assert_eq!(pages.len(), 2, "they lie in one page");
}

#[test]
fn torn_bytes_behind_the_end_leave_zeros_for_what_is_lost() {
    let mut told = Told::new();
    told.open_root().make("a", 2).sync(1).write(2, 0, &[7; 1024]);
    let disks = told.torn(Tear::Bytes512);
    let lengths: BTreeSet<usize> = disks.iter().map(|disk| disk["a"].len()).collect();
    assert_eq!(lengths, BTreeSet::from([0, 512, 1024]));
    assert!(
        disks.iter().any(|disk| disk["a"].len() == 1024 && disk["a"][..512].iter().all(|byte| *byte == 0))
    );
}

#[test]
fn torn_names_are_lost_alone_too_and_never_what_is_synced() {
    let mut told = Told::new();
    told.open_root().make("sure", 2).sync(1).make("a", 3).make("b", 4);
    let disks = told.torn(Tear::Bytes512);
    let names: BTreeSet<Vec<&str>> =
        disks.iter().map(|disk| disk.keys().map(String::as_str).collect()).collect();
    let expected: [&[&str]; 4] = [&["sure"], &["a", "sure"], &["b", "sure"], &["a", "b", "sure"]];
    assert_eq!(names, expected.into_iter().map(<[&str]>::to_vec).collect());
}

#[test]
fn a_fate_gives_the_same_disk_again_and_each_kind_comes_up() {
    let mut told = Told::new();
    told.open_root().make("a", 2).sync(1).write(2, 0, &[7; 9000]);
    let fates: Vec<Fate> = (0..60).map(|number| Fate::of(3, number)).collect();
    for fate in &fates {
        assert_eq!(told.after(*fate), told.after(*fate), "{fate:?}");
    }
    for wanted in [
        |fate: &Fate| *fate == Fate::Dropped,
        |fate: &Fate| *fate == Fate::Kept,
        |fate: &Fate| matches!(fate, Fate::Torn(Tear::Bytes512, _)),
        |fate: &Fate| matches!(fate, Fate::Torn(Tear::Bytes4096, _)),
    ] {
        assert!(fates.iter().any(wanted));
    }
}

#[test]
fn what_no_record_can_hold_is_an_error() {
    let open =
        |name: &str| EventKind::Open { path: name.into(), inode: 9, is_made: false, is_emptied: false };
    for event in [
        EventKind::Write { inode: 8, offset: 0, data: [1].into() },
        EventKind::SyncEnd { inode: 8, number: 1, is_ok: true },
        open("/disk/never-made"),
        open("/elsewhere/a"),
    ] {
        assert!(Disk::new(ROOT).apply(&event).is_err(), "{event:?}");
    }
}
