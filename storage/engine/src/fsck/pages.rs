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

/// Everything, page by page; in no order beyond that of a page.
pub(super) enum Pages<'a> {
    /// Read by threads of the runtime.
    Ahead(mpsc::Receiver<Result<Page, StoreError>>),
    /// Read when asked for, where there is no runtime: a simulation decides the order of everything itself.
    Asked { store: &'a dyn Sweep, after: Option<Bytes> },
}

impl<'a> Pages<'a> {
    /// Begins reading.
    pub(super) async fn of(store: &'a Arc<dyn Sweep>) -> Result<Self, StoreError> {
        match Handle::try_current() {
            Ok(runtime) => ahead(store, &runtime).await.map(Self::Ahead),
            Err(_) => Ok(Self::Asked { store: &**store, after: None }),
        }
    }

    /// The next page; `None` at the end. An error is one of the store as a whole, and the last that is told.
    pub(super) async fn next(&mut self) -> Option<Result<Page, StoreError>> {
        match self {
            Self::Ahead(told) => told.recv().await,
            Self::Asked { store, after } => match store.read_objects(after.take(), PAGE, PAGE_BYTES).await {
                Ok(page) => {
                    *after = Some(page.last()?.0.clone());
                    Some(Ok(page))
                }
                Err(error) => Some(Err(error)),
            },
        }
    }
}

async fn ahead(
    store: &Arc<dyn Sweep>,
    runtime: &Handle,
) -> Result<mpsc::Receiver<Result<Page, StoreError>>, StoreError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let marks = Arc::new(store.scan_marks(threads * PARTS_PER_THREAD).await?);
    let next = Arc::new(AtomicUsize::new(0));
    let (tell, told) = mpsc::channel(threads * AHEAD);
    for _ in 0..threads {
        let (store, marks, next, tell) =
            (Arc::clone(store), Arc::clone(&marks), Arc::clone(&next), tell.clone());
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
        let runtime = runtime.clone();
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

    async fn filled() -> (Arc<dyn Sweep>, BTreeSet<ObjectId>) {
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
        (store, expected)
    }

    async fn every_object_is_read_once() {
        let (store, expected) = filled().await;
        let mut pages = Pages::of(&store).await.unwrap();
        let (mut found, mut count) = (BTreeSet::new(), 0);
        while let Some(page) = pages.next().await {
            for (_, object) in page.unwrap() {
                count += 1;
                found.insert(object.unwrap().id);
            }
        }
        assert_eq!((found, count), (expected, 3_000));
    }

    #[tokio::test]
    async fn every_object_is_read_once_by_threads() {
        every_object_is_read_once().await;
    }

    #[test]
    fn every_object_is_read_once_without_a_runtime() {
        futures::executor::block_on(every_object_is_read_once());
    }
}
