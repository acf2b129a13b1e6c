//! A bell for a thread that waits for something to do.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// Wakes one thread.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<Rung>,
    signal: Condvar,
}

/// What a waiter at a [`Bell`] was woken for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rung {
    /// Somebody rang.
    pub rang: bool,
    /// The waiter shall end.
    pub stop: bool,
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.change(|state| state.rang = true);
    }

    pub(crate) fn stop(&self) {
        self.change(|state| state.stop = true);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stop
    }

    fn change(&self, change: impl FnOnce(&mut Rung)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.signal.notify_all();
    }

    /// Waits no longer than `within` for a ring, which is taken, or the stop, which stays.
    pub(crate) fn wait(&self, within: Duration) -> Rung {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.signal.wait_timeout_while(state, within, |state| !state.rang && !state.stop);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let found = *state;
        state.rang = false;
        found
    }

    /// Waits out `time` or for the stop; whether the stop was told.
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.signal.wait_timeout_while(state, time, |state| !state.stop);
        waited.unwrap_or_else(PoisonError::into_inner).0.stop
    }
}
