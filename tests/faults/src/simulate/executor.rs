//! One thread, one order: an executor whose every choice follows from a seed.
//!
//! Of the tasks that are ready it picks one by chance and polls it once. Time stands still while any task is ready and
//! then jumps to the next timer. Tasks belong to a process; killing one drops its tasks wherever they wait.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use lochan_storage_engine::writer::Spawn;

use crate::rng::Rng;

/// Polls after which a run counts as one that never ends.
const POLLS_MAX: u64 = 20_000_000;

/// Tasks that live and die together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(pub u32);

/// Why a run ended before its main task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// Nothing is ready and no timer is set.
    #[error("every task waits for another")]
    Deadlock,
    /// It goes on and on.
    #[error("no end after {POLLS_MAX} polls")]
    Endless,
}

/// A handle; clones share one executor.
#[derive(Clone)]
pub struct Executor(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    ready: Arc<Mutex<Vec<u64>>>,
}

struct State {
    rng: Rng,
    now_us: u64,
    tasks: BTreeMap<u64, Task>,
    next_task: u64,
    timers: BTreeMap<(u64, u64), Waker>,
    next_timer: u64,
    polls: u64,
    trace: u64,
}

struct Task {
    process: Process,
    future: BoxFuture<'static, ()>,
    waker: Waker,
}

struct Turn {
    task: u64,
    ready: Arc<Mutex<Vec<u64>>>,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        let mut ready = locked(&self.ready);
        if !ready.contains(&self.task) {
            ready.push(self.task);
        }
    }
}

/// The lock; a task that panics ends the whole run, so nothing is read half done.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Executor {
    /// An executor that decides by `seed`.
    pub fn new(seed: u64) -> Self {
        let state = State {
            rng: Rng::new(seed),
            now_us: 0,
            tasks: BTreeMap::new(),
            next_task: 0,
            timers: BTreeMap::new(),
            next_timer: 0,
            polls: 0,
            trace: 0,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), ready: Arc::default() }))
    }

    /// Microseconds since the start.
    pub fn now_us(&self) -> u64 {
        locked(&self.0.state).now_us
    }

    /// Hash over every choice made so far: equal for equal runs.
    pub fn trace(&self) -> u64 {
        locked(&self.0.state).trace
    }

    /// Starts a task of a process.
    pub fn spawn(&self, process: Process, future: impl Future<Output = ()> + Send + 'static) {
        let mut state = locked(&self.0.state);
        let id = state.next_task;
        state.next_task += 1;
        let waker = Waker::from(Arc::new(Turn { task: id, ready: Arc::clone(&self.0.ready) }));
        waker.wake_by_ref();
        state.tasks.insert(id, Task { process, future: Box::pin(future), waker });
    }

    /// Starts a task of a process; what is returned is ready when it has ended or was killed.
    pub fn start(
        &self,
        process: Process,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (done, ended) = oneshot::channel::<()>();
        self.spawn(process, async move {
            future.await;
            drop(done);
        });
        ended.map(|_| ())
    }

    /// Starts tasks of a process for the engine.
    pub fn spawner(&self, process: Process) -> Arc<dyn Spawn> {
        Arc::new(Spawner { executor: self.clone(), process })
    }

    /// Drops all tasks of a process, wherever they wait; not to be called by one of them.
    pub fn kill(&self, process: Process) {
        let gone: Vec<Task> = {
            let mut state = locked(&self.0.state);
            let ids: Vec<u64> =
                state.tasks.iter().filter(|(_, task)| task.process == process).map(|(id, _)| *id).collect();
            ids.iter().filter_map(|id| state.tasks.remove(id)).collect()
        };
        // What they own may wake others, or start something, while it is dropped.
        drop(gone);
    }

    /// Drops every task that is left; they hold this executor, and it them.
    pub fn end(&self) {
        let (tasks, timers) = {
            let mut state = locked(&self.0.state);
            (std::mem::take(&mut state.tasks), std::mem::take(&mut state.timers))
        };
        drop((tasks, timers));
    }

    /// Ready again after so many microseconds; 0 only gives way to others.
    pub fn sleep(&self, us: u64) -> Sleep {
        Sleep { executor: self.clone(), us, until: None }
    }

    /// Runs until `main` has ended and returns what it gives.
    pub fn run<T: Send + 'static>(
        &self,
        process: Process,
        main: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Stuck> {
        let result = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&result);
        self.spawn(process, async move {
            let value = main.await;
            *locked(&slot) = Some(value);
        });
        loop {
            if let Some(value) = locked(&result).take() {
                return Ok(value);
            }
            self.step()?;
        }
    }

    /// Polls one task.
    fn step(&self) -> Result<(), Stuck> {
        let Some((id, mut task)) = self.next()? else { return Ok(()) };
        let poll = Pin::new(&mut task.future).poll(&mut Context::from_waker(&task.waker.clone()));
        if poll == Poll::Pending {
            locked(&self.0.state).tasks.insert(id, task);
        }
        Ok(())
    }

    /// The task whose turn it is, taken out; `None` when only time has passed.
    fn next(&self) -> Result<Option<(u64, Task)>, Stuck> {
        let mut state = locked(&self.0.state);
        let mut ready = locked(&self.0.ready);
        if ready.is_empty() {
            let Some(((at, _), waker)) = state.timers.pop_first() else { return Err(Stuck::Deadlock) };
            state.now_us = state.now_us.max(at);
            drop(ready);
            waker.wake();
            return Ok(None);
        }
        state.polls += 1;
        if state.polls > POLLS_MAX {
            return Err(Stuck::Endless);
        }
        let at = usize::try_from(state.rng.below(ready.len() as u64)).unwrap_or(0);
        let id = ready.swap_remove(at);
        state.trace = (state.trace ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) ^ state.now_us;
        // A task that has ended or was killed may have been woken before.
        Ok(state.tasks.remove(&id).map(|task| (id, task)))
    }
}

struct Spawner {
    executor: Executor,
    process: Process,
}

impl Spawn for Spawner {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.process, task);
    }
}

/// See [`Executor::sleep`].
pub struct Sleep {
    executor: Executor,
    us: u64,
    until: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let executor = self.executor.clone();
        let mut state = locked(&executor.0.state);
        match self.until {
            Some(until) if state.now_us >= until => Poll::Ready(()),
            None if self.us == 0 => {
                self.until = Some(state.now_us);
                drop(state);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            until => {
                let until = until.unwrap_or(state.now_us + self.us);
                self.until = Some(until);
                let number = state.next_timer;
                state.next_timer += 1;
                state.timers.insert((until, number), cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64) -> (Vec<u32>, u64) {
        let executor = Executor::new(seed);
        let log = Arc::new(Mutex::new(Vec::new()));
        for n in 0..6 {
            let (log, executor) = (Arc::clone(&log), executor.clone());
            executor.clone().spawn(Process(0), async move {
                executor.sleep(0).await;
                log.lock().unwrap().push(n);
                executor.sleep(10).await;
            });
        }
        let last = executor.clone();
        executor.run(Process(0), async move { last.sleep(20).await }).unwrap();
        let log = log.lock().unwrap().clone();
        (log, executor.trace())
    }

    #[test]
    fn a_seed_gives_one_order_and_seeds_differ() {
        assert_eq!(order(1), order(1));
        assert!((2..9).any(|seed| order(seed) != order(1)));
    }

    #[test]
    fn a_killed_process_runs_no_further_and_time_jumps() {
        let executor = Executor::new(3);
        let seen = Arc::new(Mutex::new(0));
        let (own, clock) = (Arc::clone(&seen), executor.clone());
        executor.spawn(Process(1), async move {
            clock.sleep(5).await;
            *own.lock().unwrap() += 1;
            clock.sleep(1_000_000).await;
            *own.lock().unwrap() += 1;
        });
        let other = executor.clone();
        executor
            .run(Process(0), async move {
                other.sleep(500).await;
                other.kill(Process(1));
                other.sleep(9_000_000).await;
            })
            .unwrap();
        assert_eq!(*seen.lock().unwrap(), 1);
        assert_eq!(executor.now_us(), 9_000_500);
    }

    #[test]
    fn a_deadlock_is_told() {
        let executor = Executor::new(4);
        let stuck = executor.run(Process(0), std::future::pending::<()>());
        assert_eq!(stuck, Err(Stuck::Deadlock));
    }
}
