//! Work in the background that must not be in the way.

use std::{
    future::pending,
    num::NonZero,
    panic::resume_unwind,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use tokio::task::JoinError;

/// Shortest pause worth taking.
const PAUSE_MIN: Duration = Duration::from_millis(2);

/// Threads at most for one piece of work: beyond that the store is what limits.
const THREADS_MAX: usize = 8;

/// As many threads as there are cores, for work that shall be done soon.
pub(crate) fn threads() -> usize {
    available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX)
}

/// What a task came to that was joined. Its panic goes on here; where the runtime ends before it, so does whoever asks.
pub(crate) async fn joined<T>(joined: Result<T, JoinError>) -> T {
    match joined.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => resume_unwind(panic),
        Err(Err(_)) => pending().await,
    }
}

/// A bound on how many bytes are read in a second. Time not used is not saved up.
#[derive(Debug)]
pub struct Pace {
    bytes_per_second: Option<u64>,
    /// When what was spent so far is allowed to be used up.
    until: Instant,
}

impl Pace {
    /// At most so many bytes in a second.
    #[must_use]
    pub fn bytes_per_second(limit: u64) -> Self {
        Self { bytes_per_second: Some(limit.max(1)), until: Instant::now() }
    }

    /// As fast as it goes.
    #[must_use]
    pub fn unbounded() -> Self {
        Self { bytes_per_second: None, until: Instant::now() }
    }

    /// Whether there is a limit.
    #[must_use]
    pub const fn is_bounded(&self) -> bool {
        self.bytes_per_second.is_some()
    }

    /// Says that bytes were read, and waits as long as they were to take; others get their turn in any case.
    pub async fn spend(&mut self, bytes: usize) {
        let Some(limit) = self.bytes_per_second else {
            tokio::task::yield_now().await;
            return;
        };
        let took = Duration::from_secs_f64(bytes as f64 / limit as f64);
        let now = Instant::now();
        self.until = self.until.max(now) + took;
        let pause = self.until - now;
        if pause >= PAUSE_MIN {
            tokio::time::sleep(pause).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}
