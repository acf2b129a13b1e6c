//! Looking at all objects, piece by piece, while others write.

use bytes::Bytes;
use lochan_storage_model::ObjectId;
use lochan_storage_odb::{Checked, NewObject, ObjectInfo, Scanned, Shown, StoreError};
use sled::IVec;

use super::Session;
use crate::{
    chunks, error,
    keys::{self, Position, Space},
    objects::{self, Entry, ObjectHeader},
    parts,
    walk::{Unreadable, Walk},
};

/// Where a scan is: at an object of a row, or at the end of a row or a stretch that cannot be read.
pub(super) struct Place {
    key: IVec,
    id: Option<ObjectId>,
}

impl Place {
    /// What lets a scan go on behind it.
    fn token(&self) -> Bytes {
        let id = self.id.as_ref().map_or(&[][..], |id| id.as_bytes());
        [keys::inside(&self.key), id].concat().into()
    }
}

impl Session {
    pub(super) fn scan_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
    ) -> Result<Vec<Scanned>, StoreError> {
        let mut found = Vec::new();
        self.each_entry((after.as_deref(), None), |place, entry| {
            let info = entry.map(|entry| {
                let ObjectHeader { kind, epoch, id, size } = entry.header;
                ObjectInfo { id, kind, size, epoch }
            });
            found.push((place.token(), info));
            found.len() < limit
        });
        Ok(found)
    }

    pub(super) fn read_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Scanned<NewObject>>, StoreError> {
        let mut read = 0;
        let mut found = Vec::new();
        self.each_object((after.as_deref(), None), |place, object| {
            let object = object.map(|Shown { kind, id, bytes }| {
                read += bytes.len();
                NewObject { kind, id, bytes: Bytes::copy_from_slice(bytes) }
            });
            found.push((place.token(), object));
            found.len() < limit && read < bytes_max
        });
        Ok(found)
    }

    pub(super) fn object_marks(&self, parts: usize) -> Vec<Bytes> {
        let marks = parts::marks(&self.table.tree, parts);
        marks.into_iter().map(|mark| Bytes::copy_from_slice(&mark.bytes())).collect()
    }

    pub(super) fn check_objects(
        &self,
        (after, until): (Option<Bytes>, Option<Bytes>),
        limit: usize,
        bytes_max: usize,
    ) -> Result<Checked, StoreError> {
        let (mut checked, mut last) = (Checked::default(), None);
        let (mut count, mut read) = (0, 0);
        self.each_object((after.as_deref(), until.as_deref()), |place, object| {
            let size = object.map(|object| object.bytes.len());
            count += 1;
            read += size.as_ref().unwrap_or(&0);
            checked.add(size);
            last = Some(place);
            count < limit && read < bytes_max
        });
        checked.last = last.map(|place| place.token());
        Ok(checked)
    }
}

impl Session {
    /// Tells the objects behind a token, up to a mark if there is one, hashed, as long as `told` wants more.
    fn each_object(
        &self,
        between: (Option<&[u8]>, Option<&[u8]>),
        mut told: impl FnMut(Place, Result<Shown<'_>, StoreError>) -> bool,
    ) {
        self.each_entry(between, |place, entry| {
            let key = place.key.clone();
            let mut wants_more = true;
            self.show(&key, entry, |object| wants_more = told(place, object));
            wants_more
        });
    }

    /// Tells the objects behind a token, up to a mark if there is one, as their rows have them, as long as `told` wants more.
    fn each_entry(
        &self,
        between: (Option<&[u8]>, Option<&[u8]>),
        mut told: impl FnMut(Place, Result<Entry<'_>, StoreError>) -> bool,
    ) {
        let (walk, mut last) = self.walk_objects(between);
        for row in walk {
            let wants_more = match row {
                Ok((key, row)) => each_of(&key, &row, last.take(), &mut told),
                Err(Unreadable { place, detail, last }) => {
                    told(Place { key: last.into(), id: None }, Err(error::damaged(place, detail)))
                }
            };
            if !wants_more {
                return;
            }
        }
    }

    /// The rows of objects from a token on, up to a mark, and the object of the first of them that was told last.
    fn walk_objects(&self, (after, until): (Option<&[u8]>, Option<&[u8]>)) -> (Walk<'_>, Option<ObjectId>) {
        let space = keys::key(Space::Object, &[]);
        let end = until.map_or_else(|| keys::end_of(&space), |mark| [space.as_slice(), mark].concat());
        let Some(after) = after else { return (self.table.walk(space, end), None) };
        let told = after.split_at_checked(keys::POSITION_BYTES);
        match told.and_then(|(position, id)| Some((position, id.try_into().ok()?))) {
            // Others may stand behind it in its row.
            Some((position, id)) => {
                let from = [space.as_slice(), position].concat();
                (self.table.walk(from, end), Some(ObjectId::from_bytes(id)))
            }
            None => (self.table.walk([space.as_slice(), after, &[0]].concat(), end), None),
        }
    }

    /// Shows an object of the row at `key`, hashed, or what is wrong with it; nothing if a sweep has deleted it since the row
    /// was read.
    pub(super) fn show(
        &self,
        key: &[u8],
        entry: Result<Entry<'_>, StoreError>,
        onlooker: impl FnOnce(Result<Shown<'_>, StoreError>),
    ) {
        let Entry { header: ObjectHeader { kind, id, size, .. }, bytes, .. } = match entry {
            Ok(entry) => entry,
            Err(error) => return onlooker(Err(error)),
        };
        let chunked;
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => match error::guarded(|| self.chunked(key, id, size)) {
                Ok(Some(bytes)) => {
                    chunked = bytes;
                    &chunked[..]
                }
                Ok(None) => return,
                Err(error) => return onlooker(Err(error)),
            },
        };
        onlooker(match ObjectId::of(kind, bytes) == id {
            true => Ok(Shown { kind, id, bytes }),
            false => Err(StoreError::corrupt_object(id, "its bytes do not hash to its id")),
        });
    }

    /// The bytes of a chunked object whose row stands at `key`; `None` if it has been deleted since that was read.
    fn chunked(&self, key: &[u8], id: ObjectId, size: usize) -> Result<Option<Bytes>, StoreError> {
        let position = Position::from_bytes(keys::inside(key))
            .ok_or_else(|| error::damaged("an object row", "its key is no position"))?;
        match chunks::read(&self.table, position, size)? {
            Some(bytes) => Ok(Some(bytes)),
            None if self.table.get(key).map_err(error::read)?.is_none() => Ok(None),
            None => Err(StoreError::corrupt_object(id, "a chunk is missing")),
        }
    }
}

/// Tells the objects of a row behind `last`; whether `told` wants more.
pub(super) fn each_of(
    key: &IVec,
    row: &[u8],
    last: Option<ObjectId>,
    told: &mut impl FnMut(Place, Result<Entry<'_>, StoreError>) -> bool,
) -> bool {
    let place = |id| Place { key: key.clone(), id };
    match objects::behind(row, last) {
        Err(error) => told(place(None), Err(error::row("an object row")(error))),
        Ok(mut entries) => entries.all(|entry| told(place(Some(entry.header.id)), Ok(entry))),
    }
}
