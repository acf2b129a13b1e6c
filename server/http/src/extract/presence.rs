//! Whether anybody still waits for the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a mutating handler whether its client is still there. One that has lost its client before it was
/// admitted is abandoned; after admission nobody asks any more.
#[derive(Clone, Debug, Default)]
pub struct Presence(Arc<AtomicBool>);

impl Presence {
    /// Whether the connection is gone.
    pub fn is_gone(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Held by the connection while it waits; dropping it without [`PresenceGuard::answered`] means the client is gone.
pub(crate) struct PresenceGuard {
    presence: Presence,
    answered: bool,
}

impl PresenceGuard {
    pub(crate) fn new() -> (Self, Presence) {
        let presence = Presence::default();
        (PresenceGuard { presence: presence.clone(), answered: false }, presence)
    }

    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for PresenceGuard {
    fn drop(&mut self) {
        if !self.answered {
            self.presence.0.store(true, Ordering::Release);
        }
    }
}
