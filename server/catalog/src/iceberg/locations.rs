//! Where namespaces, tables and views lie.

use lochan_storage_engine::state::State;
use lochan_storage_files::{Error as FilesError, Location, Warehouse};
use lochan_storage_model::{Content, ContentKey};
use lochan_storage_odb::DerivedSpace;
use uuid::Uuid;

use super::{Iceberg, place::key_of};
use crate::error::Error;

/// Property of a namespace that says where it lies.
pub(crate) const LOCATION: &str = "location";
/// Bytes of a name that go into a path; file systems take 255 for one segment, and a uuid follows.
const SEGMENT_BYTES_MAX: usize = 120;

impl Iceberg<'_> {
    /// A location that a client brings, if it lies in a warehouse.
    pub(crate) fn allowed_location(&self, text: &str) -> Result<(Location, Warehouse), Error> {
        let location = Location::parse(text)?;
        match self.warehouses().owner_of(&location).cloned() {
            Some(warehouse) => Ok((location, warehouse)),
            None => {
                let reason = "lies in no warehouse of this server".to_owned();
                Err(FilesError::Invalid { location: location.as_str().to_owned(), reason }.into())
            }
        }
    }

    /// The location of a namespace, without a slash at its end: its own property, else that of the nearest ancestor that
    /// has one and the levels below, else the warehouse's and all levels.
    pub(crate) async fn namespace_location(
        &self,
        state: &State,
        warehouse: &Warehouse,
        levels: &[Box<str>],
    ) -> Result<String, Error> {
        for count in (1..=levels.len()).rev() {
            let (above, below) = levels.split_at(count);
            let found = state.content(&key_of(above)?).await?;
            if let Some((_, Content::Namespace { properties, .. })) = found
                && let Some(own) = properties.get(LOCATION)
            {
                return Ok(with_segments(own, below));
            }
        }
        Ok(with_segments(warehouse.location().as_str(), levels))
    }

    /// Where a new table or view shall lie: where the client wants, if that lies in a warehouse and nothing ever lay there,
    /// else in its namespace under a name that is used only once.
    pub(crate) async fn new_location(
        &self,
        state: &State,
        warehouse: &Warehouse,
        key: &ContentKey,
        wanted: Option<&str>,
        uuid: Uuid,
    ) -> Result<(Location, Warehouse), Error> {
        if let Some(wanted) = wanted.filter(|text| !text.is_empty())
            && let Ok((location, warehouse)) = self.allowed_location(wanted.trim_end_matches('/'))
            && !self.is_used(&location).await?
        {
            return Ok((location, warehouse));
        }
        let namespace = self.namespace_location(state, warehouse, key.namespace()).await?;
        self.allowed_location(&format!("{namespace}/{}_{uuid}", segment(key.name())))
    }

    /// Whether a metadata file is known to lie below a location.
    async fn is_used(&self, location: &Location) -> Result<bool, Error> {
        let prefix = format!("{}/", location.as_str().trim_end_matches('/'));
        let rows =
            self.engine().store().derived_scan(DerivedSpace::Document, prefix.as_bytes(), None, false, 1);
        Ok(!rows.await?.is_empty())
    }
}

fn with_segments(base: &str, levels: &[Box<str>]) -> String {
    let mut location = base.trim_end_matches('/').to_owned();
    for level in levels {
        location.push('/');
        location.push_str(&segment(level));
    }
    location
}

/// A name as one segment of a path that every client reads in the same way: letters, digits and a few signs, the rest
/// becomes an underscore.
fn segment(name: &str) -> String {
    let mut segment = String::with_capacity(name.len());
    for c in name.chars() {
        if segment.len() + c.len_utf8() > SEGMENT_BYTES_MAX {
            break;
        }
        segment.push(if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' });
    }
    if segment.chars().all(|c| c == '.') { segment.replace('.', "_") } else { segment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_plain() {
        assert_eq!(segment("orders_1.x-y"), "orders_1.x-y");
        assert_eq!(segment("a b/c%20?#"), "a_b_c_20__");
        assert_eq!(segment(".."), "__");
        assert_eq!(segment("späße_日本"), "späße_日本");
        assert_eq!(segment(&"ä".repeat(200)).len(), SEGMENT_BYTES_MAX);
        assert_eq!(with_segments("s3://b/w/", &["a".into(), "b c".into()]), "s3://b/w/a/b_c");
    }
}
