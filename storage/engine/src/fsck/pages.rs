//! All objects of a store, read and hashed on as many threads as there are cores.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use lochan_storage_odb::{NewObject, Scanned, StoreError, Sweep};
use tokio::{runtime::Handle, sync::mpsc};

use super::{PAGE, PAGE_BYTES};

/// Parts for each thread: parts of as many batches are not of the same size.
const PARTS_PER_THREAD: usize = 8;
/// Threads at most: beyond that the engine is what limits.
const THREADS_MAX: usize = 8;
/// Pages read ahead, for each thread.
const AHEAD: usize = 2;

/// Objects read in one piece.
pub(super) type Page = Vec<Scanned<NewObject>>;

/// Reads everything; in no order beyond that of a page. Ends with the first error of the store as a whole.
pub(super) async fn all(
    store: &Arc<dyn Sweep>,
) -> Result<mpsc::Receiver<Result<Page, StoreError>>, StoreError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let marks = Arc::new(store.scan_marks(threads * PARTS_PER_THREAD).await?);
    let next = Arc::new(AtomicUsize::new(0));
    let (tell, told) = mpsc::channel(threads * AHEAD);
    for _ in 0..threads {
        let (store, marks, next, tell) =
            (Arc::clone(store), Arc::clone(&marks), Arc::clone(&next), tell.clone());
        let runtime = Handle::current();
        let read = async move {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part > marks.len() {
                    return;
                }
                let from = part.checked_sub(1).and_then(|before| marks.get(before).cloned());
                if !read_part(&*store, from, marks.get(part), &tell).await {
                    return;
                }
            }
        };
        tokio::task::spawn_blocking(move || runtime.block_on(read));
    }
    Ok(told)
}

/// Reads from behind one mark to the next. Whether there is reason to go on.
async fn read_part(
    store: &dyn Sweep,
    mut after: Option<Bytes>,
    until: Option<&Bytes>,
    tell: &mpsc::Sender<Result<Page, StoreError>>,
) -> bool {
    loop {
        let mut page = match store.read_objects(after.take(), PAGE, PAGE_BYTES).await {
            Ok(page) => page,
            Err(error) => {
                // Nobody listens any more where another part has failed.
                let _ = tell.send(Err(error)).await;
                return false;
            }
        };
        let count = page.len();
        if let Some(until) = until {
            page.retain(|(token, _)| token <= until);
        }
        let is_last = page.len() < count;
        after = page.last().map(|(token, _)| token.clone());
        let is_empty = page.is_empty();
        if !is_empty && tell.send(Ok(page)).await.is_err() {
            return false;
        }
        if is_last || is_empty {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lochan_storage_model::{ObjectId, ObjectKind};
    use lochan_storage_odb::{Batch, Change, memory::Memory};

    use super::*;

    #[tokio::test]
    async fn every_object_is_read_once() {
        let store: Arc<dyn Sweep> = Arc::new(Memory::new());
        let mut expected = BTreeSet::new();
        for batch in 0..3_000u32 {
            let bytes = batch.to_be_bytes().to_vec();
            let id = ObjectId::of(ObjectKind::Value, &bytes);
            let object = NewObject { kind: ObjectKind::Value, id, bytes: bytes.into() };
            let change = Change { objects: vec![object], ..Change::default() };
            store.commit(Batch { changes: vec![change] }).await.unwrap();
            expected.insert(id);
        }
        let mut pages = all(&store).await.unwrap();
        let (mut found, mut count) = (BTreeSet::new(), 0);
        while let Some(page) = pages.recv().await {
            for (_, object) in page.unwrap() {
                count += 1;
                found.insert(object.unwrap().id);
            }
        }
        assert_eq!((found, count), (expected, 3_000));
    }
}
