//! The port of the object database, handed to the open session.

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{Micros, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{
    Batch, Checked, Damage, DerivedSpace, DerivedWrite, Epoch, Identity, Load, NewObject, Onlooker, Outcome,
    Point, Record, RecordSpace, RefLogEntry, Reference, Scanned, Store, StoreError, Sweep, Writes,
};
use uuid::Uuid;

use super::SledStore;
use crate::{error, folder::Manifest};

#[async_trait]
impl Store for SledStore {
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.object(kind, id)))
    }

    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.reference(name)))
    }

    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.references(after, limit)))
    }

    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.record(space, key)))
    }

    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.records(space, after, limit)))
    }

    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.ref_log(name, before, limit)))
    }

    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.ref_log_names(after, limit)))
    }

    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.request(key)))
    }

    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.derived(space, key)))
    }

    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        self.keeper
            .with(|session| error::guarded(|| session.derived_scan(space, prefix, from, reverse, limit)))
    }

    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError> {
        self.keeper.check_space()?;
        self.keeper.write(|session| session.write_derived(&rows))
    }

    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError> {
        self.keeper.check_space()?;
        self.keeper.write(|session| session.write_batch(batch))
    }

    fn writes(&self) -> Writes {
        self.keeper.writes()
    }

    async fn stalled(&self) -> String {
        self.keeper.stalled().await
    }

    fn unreadable(&self) -> Option<String> {
        self.keeper.unreadable()
    }
}

/// Without a look at the space that is left: sweeping is what makes room.
#[async_trait]
impl Sweep for SledStore {
    async fn epoch(&self) -> Result<Epoch, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.epoch()))
    }

    async fn begin_epoch(&self) -> Result<Epoch, StoreError> {
        self.keeper.write(|session| session.begin_epoch())
    }

    async fn scan_objects(&self, after: Option<Bytes>, limit: usize) -> Result<Vec<Scanned>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.scan_objects(after.clone(), limit)))
    }

    async fn read_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Scanned<NewObject>>, StoreError> {
        self.keeper.with(|session| error::guarded(|| session.read_objects(after.clone(), limit, bytes_max)))
    }

    async fn object_marks(&self, parts: usize) -> Result<Vec<Bytes>, StoreError> {
        self.keeper.with(|session| error::guarded(|| Ok(session.object_marks(parts))))
    }

    async fn check_objects(
        &self,
        between: (Option<Bytes>, Option<Bytes>),
        limit: usize,
        bytes_max: usize,
    ) -> Result<Checked, StoreError> {
        self.keeper
            .with(|session| error::guarded(|| session.check_objects(between.clone(), limit, bytes_max)))
    }

    async fn delete_objects(
        &self,
        ids: &[(ObjectKind, ObjectId)],
        epoch: Epoch,
    ) -> Result<usize, StoreError> {
        self.keeper.write(|session| session.delete_objects(ids, epoch))
    }

    async fn expire_ref_log(&self, time: Micros) -> Result<usize, StoreError> {
        self.keeper.write(|session| session.expire_ref_log(time))
    }

    fn identity(&self) -> Identity {
        let manifest = self.manifest();
        Identity { repository: manifest.repository.into_bytes(), instance: manifest.instance.into_bytes() }
    }

    async fn point(&self) -> Result<(Point, Bytes), StoreError> {
        self.keeper.with(|session| error::guarded(|| session.point()))
    }

    async fn salvage(&self) -> Result<(Load, Vec<Damage>), StoreError> {
        self.keeper.with(|session| Ok(session.salvage()))
    }

    async fn load(&self, rows: Load) -> Result<(), StoreError> {
        self.keeper.check_space()?;
        self.keeper.write(|session| session.load(rows))
    }

    async fn adopt(&self, repository: [u8; 16]) -> Result<(), StoreError> {
        let manifest = self.manifest();
        self.keeper.folder.set_manifest(Manifest { repository: Uuid::from_bytes(repository), ..manifest })
    }

    async fn verify(&self, onlooker: &Onlooker<'_>) -> Result<Vec<Damage>, StoreError> {
        self.keeper.with(|session| Ok(session.verify(onlooker)))
    }
}
