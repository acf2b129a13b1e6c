//! Reading a document from the store: its parts level by level, then joined.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use lochan_storage_iceberg::parts::{self, DOCUMENT_BYTES_MAX, PartId};
use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{DerivedSpace, Store, StoreError};

use crate::error::Error;

/// Parts asked for at once.
const READS_AT_ONCE: usize = 16;

/// The document kept for a location with the ids of its parts; `None` if it is not kept, or not whole any more.
pub(super) async fn read(
    store: &Arc<dyn Store>,
    location: &str,
) -> Result<Option<(Bytes, Box<[PartId]>)>, Error> {
    let Some(row) = store.derived(DerivedSpace::Document, location.as_bytes()).await? else {
        return Ok(None);
    };
    let Ok(root) = PartId::try_from(&row[..]) else { return Ok(None) };
    let Some(found) = collect(store, root).await? else { return Ok(None) };
    let mut ids: Vec<PartId> = found.keys().copied().collect();
    ids.sort_unstable();
    match parts::join(root, |id| found.get(id)) {
        Ok(json) => Ok(Some((json.into(), ids.into()))),
        Err(error) => {
            tracing::warn!(location, %error, "a kept metadata document is damaged; the warehouse is read instead");
            Ok(None)
        }
    }
}

async fn collect(store: &Arc<dyn Store>, root: PartId) -> Result<Option<HashMap<PartId, Bytes>>, Error> {
    let mut found: HashMap<PartId, Bytes> = HashMap::new();
    let mut level = vec![root];
    let mut size = 0;
    while !level.is_empty() {
        let reads: Vec<_> = level.drain(..).map(|id| part(store.clone(), id).boxed()).collect();
        let reads = stream::iter(reads);
        let parts: Vec<(PartId, Option<Bytes>)> = reads.buffered(READS_AT_ONCE).try_collect().await?;
        let mut next = HashSet::new();
        for (id, part) in parts {
            let Some(part) = part else { return Ok(None) };
            size += part.len();
            let Ok(children) = parts::children(&part) else { return Ok(None) };
            found.insert(id, part);
            next.extend(children);
        }
        if size > DOCUMENT_BYTES_MAX {
            return Ok(None);
        }
        level.extend(next.into_iter().filter(|id| !found.contains_key(id)));
    }
    Ok(Some(found))
}

async fn part(store: Arc<dyn Store>, id: PartId) -> Result<(PartId, Option<Bytes>), StoreError> {
    let part = store.object(ObjectKind::MetadataPart, ObjectId::from_bytes(id)).await?;
    Ok((id, part))
}
