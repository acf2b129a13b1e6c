//! Loading tables, and asking whether something exists.

use lochan_storage_model::{Content, ContentKey, Entry};

use super::{
    Iceberg, TableLoaded,
    documents::Kind,
    place::{Reading, Target, content_type, missing, name_key},
    seen::Seen,
};
use crate::{
    access::{Access, Check, Principal},
    error::{Error, ObjectKind},
};

/// Which snapshots a load shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Snapshots {
    /// All of them.
    #[default]
    All,
    /// Only those that a reference of the table names.
    Refs,
}

impl Snapshots {
    /// The word of the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Refs => "refs",
        }
    }
}

/// A table or view found.
pub(super) struct Found {
    pub(super) reading: Reading,
    pub(super) key: ContentKey,
    pub(super) entry: Entry,
    pub(super) location: String,
}

impl Iceberg<'_> {
    /// Loads a table. `is_known` tells whether the client has the state of an entity tag already.
    pub async fn load_table(
        &self,
        who: &Principal,
        target: &Target,
        snapshots: Snapshots,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<TableLoaded, Error> {
        let found = self.find(who, target, ObjectKind::Table).await?;
        let reference = found.reading.reference.as_ref();
        let at = found.reading.state.commit();
        let seen = Seen {
            location: &found.location,
            content_id: found.entry.content_id,
            reference,
            commit: self.last_change(reference, &found.key, &found.location, at).await?,
            snapshots,
        };
        let etag = seen.etag();
        if is_known(&etag) {
            return Ok(TableLoaded::Unchanged(etag));
        }
        let document = self.document(&found.location, Kind::Table).await?;
        Ok(TableLoaded::Table(self.table_answer(&seen, &document)?))
    }

    /// Whether a table or view exists.
    pub async fn object_exists(
        &self,
        who: &Principal,
        target: &Target,
        kind: ObjectKind,
    ) -> Result<(), Error> {
        self.find(who, target, kind).await.map(drop)
    }

    /// Takes a client's report about a table, which is not kept. The table need not exist any more.
    pub async fn take_report(&self, who: &Principal, target: &Target) -> Result<(), Error> {
        let reading = self.reading(who, &target.point).await?;
        let key = name_key(&reading.state, &target.name).await?;
        let kind = Some(content_type(ObjectKind::Table));
        let check = Check::default().and_key(Access::ReadContent, reading.rights.as_ref(), &key, kind);
        self.authorize(who, &check).await
    }

    /// Finds a table or view. A missing namespace makes it missing too.
    pub(super) async fn find(
        &self,
        who: &Principal,
        target: &Target,
        kind: ObjectKind,
    ) -> Result<Found, Error> {
        let reading = self.reading(who, &target.point).await?;
        let key = name_key(&reading.state, &target.name).await?;
        let content_type = content_type(kind);
        let check =
            Check::default().and_key(Access::ReadContent, reading.rights.as_ref(), &key, Some(content_type));
        self.authorize(who, &check).await?;
        let found = reading.state.content(&key).await?;
        let found = found.filter(|(entry, _)| entry.content_type == content_type);
        match found {
            Some((
                entry,
                Content::IcebergTable { metadata_location, .. }
                | Content::IcebergView { metadata_location, .. },
            )) => Ok(Found { reading, key, entry, location: metadata_location }),
            _ => Err(missing(kind, &key)),
        }
    }
}
