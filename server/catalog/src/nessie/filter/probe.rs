//! A way to a filter that needs no store: what fuzzing feeds with text.

use lochan_storage_model::{ContentKey, ContentType};

use super::{Filters, Kind, values};
use crate::error::Error;

/// Compiles an expression for every kind of listing, and tries it on an entry and on a difference.
///
/// # Errors
/// The first of what a client would be told.
pub fn probe_filter(text: &str) -> Result<(), Error> {
    let filters = Filters::default();
    let compiled = [Kind::References, Kind::Commits, Kind::Entries, Kind::Differences]
        .map(|kind| filters.compile(kind, Some(text)));
    let [_, _, entries, differences] = &compiled;
    if let Ok(key) = ContentKey::new(["sales.eu", "orders"]) {
        if let Ok(Some(filter)) = entries {
            filter.accepts(&values::Entry { key: &key, content_type: ContentType::IcebergTable })?;
        }
        if let Ok(Some(filter)) = differences {
            filter.accepts(&values::Key(&key))?;
        }
    }
    compiled.into_iter().try_for_each(|filter| filter.map(drop))
}
