//! The `fetch` parameter, alike in both versions.

use crate::nessie::model::Fetch;
use crate::syntax::query::{Pairs, QueryError, QueryWriter};

/// Reads `fetch`: `MINIMAL` (also when absent) or `ALL`.
pub(crate) fn fetch(pairs: &Pairs<'_>) -> Result<Fetch, QueryError> {
    match pairs.get("fetch") {
        None | Some("MINIMAL") => Ok(Fetch::Minimal),
        Some("ALL") => Ok(Fetch::All),
        Some(other) => {
            Err(QueryError::Word { name: "fetch", allowed: "MINIMAL, ALL", value: other.to_owned() })
        }
    }
}

/// Writes `fetch` when it is not the default.
pub(crate) fn write_fetch(out: &mut QueryWriter, fetch: Fetch) {
    if fetch == Fetch::All {
        out.push("fetch", "ALL");
    }
}
