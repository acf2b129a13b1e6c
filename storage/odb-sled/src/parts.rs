//! The space of objects in parts, for as many threads as there are cores: fetching a page costs far more than looking at it.

use std::{
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::keys::{self, Position, Space};

/// Threads at most: beyond that the engine is what limits.
const THREADS_MAX: usize = 8;
/// Parts for each thread: parts of as many batches are not of the same size.
const PARTS_PER_THREAD: usize = 8;

/// A stretch of keys: from the first to before the second.
pub(crate) type Stretch = (Vec<u8>, Vec<u8>);

/// Positions that split the objects into up to `parts` parts of as many batches each; none where the ends cannot be read.
pub(crate) fn marks(tree: &sled::Tree, parts: usize) -> Vec<Position> {
    let space = keys::key(Space::Object, &[]);
    let mut rows = tree.range(space.clone()..keys::end_of(&space));
    let batch = |row: Option<sled::Result<(sled::IVec, sled::IVec)>>| {
        row.and_then(Result::ok).and_then(|(key, _)| keys::object_position(&key)).map(|at| at.batch)
    };
    let (Some(first), Some(last)) = (batch(rows.next()), batch(rows.next_back())) else { return Vec::new() };
    let step = last.saturating_sub(first).div_ceil(parts.max(1) as u64).max(1);
    let marks = (1..parts as u64).map(|part| first.saturating_add(part * step));
    marks.take_while(|batch| *batch < last).map(|batch| Position { batch, place: u32::MAX }).collect()
}

/// Has `work` done for parts of the objects and for the `others`, and returns what came of each.
pub(crate) fn each<T: Send>(
    tree: &sled::Tree,
    others: Vec<Stretch>,
    work: impl Fn(Stretch) -> T + Sync,
) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let space = keys::key(Space::Object, &[]);
    let marks = marks(tree, threads * PARTS_PER_THREAD).into_iter().map(|mark| keys::object(mark).to_vec());
    let bounds: Vec<_> =
        std::iter::once(space.clone()).chain(marks).chain(std::iter::once(keys::end_of(&space))).collect();
    let mut stretches = others;
    stretches.extend(bounds.iter().zip(bounds.iter().skip(1)).map(|(from, to)| (from.clone(), to.clone())));
    let next = AtomicUsize::new(0);
    let take = || stretches.get(next.fetch_add(1, Ordering::Relaxed)).cloned();
    let run = || std::iter::from_fn(take).map(&work).collect::<Vec<T>>();
    std::thread::scope(|scope| {
        let started: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for thread in started {
            match thread.join() {
                Ok(found) => done.extend(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}
