//! Why a session of the engine refuses writes.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use lochan_storage_odb::StoreError;

use crate::bell::Bell;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    /// For the operator and, in the answer to a refused write, for clients.
    pub text: String,
    /// Whether the disk was full.
    pub is_full: bool,
    /// Whether the files are damaged: then an engine that is opened anew meets the same.
    pub is_damage: bool,
}

impl Cause {
    /// A failure of the system.
    pub(crate) fn system(what: &str, error: &io::Error) -> Self {
        Self { text: format!("{what}: {error}"), is_full: is_full(error), is_damage: false }
    }

    /// A failure of the engine.
    pub(crate) fn engine(what: &str, error: &sled::Error) -> Self {
        let is_full = matches!(error, sled::Error::Io(error) if is_full(error));
        let is_damage = matches!(error, sled::Error::Corruption { .. });
        Self { text: format!("{what}: {error}"), is_full, is_damage }
    }

    /// A failure of a read of the engine on behalf of a write.
    pub(crate) fn read(what: &str, error: &StoreError) -> Self {
        let is_damage = matches!(error, StoreError::Corrupt { .. });
        Self { text: format!("{what}: {error}"), is_full: false, is_damage }
    }

    /// The same, told with what was being done.
    pub(crate) fn at(self, what: &str) -> Self {
        Self { text: format!("{what}: {}", self.text), ..self }
    }

    /// Anything else.
    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_full: false, is_damage: false }
    }

    /// What a write is refused with.
    pub(crate) fn refusal(&self) -> StoreError {
        if self.is_full {
            StoreError::Full(self.text.clone())
        } else {
            StoreError::WritesRefused(self.text.clone())
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The first failure of a session; nothing ends it but a new session.
pub(crate) struct Trouble {
    first: OnceLock<Cause>,
    bell: Arc<Bell>,
}

impl Trouble {
    /// None yet. Whoever waits at `bell` hears of it.
    pub(crate) fn none(bell: Arc<Bell>) -> Self {
        Self { first: OnceLock::new(), bell }
    }

    /// Notes a failure; returns the first one.
    pub(crate) fn tell(&self, cause: Cause) -> &Cause {
        let mut is_first = false;
        let first = self.first.get_or_init(|| {
            is_first = true;
            tracing::error!(cause = cause.text, "writes are refused until the engine is opened anew");
            cause
        });
        if is_first {
            self.bell.ring();
        }
        first
    }

    /// The first failure, if there was one.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.first.get()
    }

    /// Writes. After a failure or a panic the outcome is unknown, and writes are refused from then on.
    pub(crate) fn attempt(&self, write: impl FnOnce() -> Result<(), Cause>) -> Result<(), StoreError> {
        // sled asserts in some of its failures; such a one is a failed write like any other.
        let cause = match catch_unwind(AssertUnwindSafe(write)) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(cause)) => cause,
            Err(_) => Cause::other("the engine panicked in a write"),
        };
        Err(StoreError::Unknown(self.tell(cause).text.clone()))
    }

    /// Refuses a write after a failure.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.cause().map_or(Ok(()), |cause| Err(cause.refusal()))
    }
}

/// Since when something is under way.
#[derive(Default)]
pub(crate) struct UnderWay(Mutex<Option<Instant>>);

impl UnderWay {
    pub(crate) fn begin(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether it is.
    pub(crate) fn lasts(&self) -> bool {
        self.begun().is_some()
    }

    /// Whether it is, and has been for longer than `time`, counted from `awake` on at the earliest.
    pub(crate) fn lasts_longer(&self, time: Duration, awake: Instant) -> bool {
        self.begun().is_some_and(|begun| begun.max(awake).elapsed() > time)
    }

    fn begun(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Since when this process has been running without a standstill, as a thread finds that looks at the clock again and again. The
/// clock goes on while a process is stopped or its machine is paused, and nothing that is under way then is late for it.
pub(crate) struct Awake {
    since: Instant,
    looked: Instant,
}

impl Awake {
    pub(crate) fn from(now: Instant) -> Self {
        Self { since: now, looked: now }
    }

    /// Looks at the clock; `standstill` is longer than it takes from one look to the next.
    pub(crate) fn look(&mut self, now: Instant, standstill: Duration) -> Instant {
        if now.saturating_duration_since(self.looked) > standstill {
            self.since = now;
        }
        self.looked = now;
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_not_late_for_a_standstill() {
        let second = Duration::from_secs(1);
        let begun = Instant::now();
        let mut awake = Awake::from(begun);
        assert_eq!(awake.look(begun + second, 2 * second), begun);
        assert_eq!(awake.look(begun + 3 * second, 2 * second), begun);
        assert_eq!(awake.look(begun + 6 * second, 2 * second), begun + 6 * second);
        assert_eq!(awake.look(begun + 7 * second, 2 * second), begun + 6 * second);

        let under_way = UnderWay::default();
        let long_ago = begun.checked_sub(10 * second).unwrap();
        assert!(!under_way.lasts() && !under_way.lasts_longer(Duration::ZERO, long_ago));
        *under_way.0.lock().unwrap() = Some(long_ago);
        assert!(under_way.lasts() && under_way.lasts_longer(9 * second, long_ago));
        assert!(!under_way.lasts_longer(9 * second, begun));
        under_way.end();
        assert!(!under_way.lasts());
    }
}
