//! Whether a write is still wanted.

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use crate::error::Error;

/// When a caller shall come back whose write was given up because its time was over.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Whether a write that the writer has not taken yet is still wanted: its client waits, and its time is not over.
///
/// It is asked before each round of planning and once more right before the writer's queue. What stands in the queue is
/// admitted: from there on nobody asks, and it lands or fails for reasons of its own. One that comes back to be planned
/// again, because its ground has moved, is not admitted yet.
#[derive(Clone)]
pub struct Admission(Arc<dyn Fn() -> bool + Send + Sync>);

impl Admission {
    /// Asks `is_wanted`, which must be quick.
    pub fn new(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_wanted))
    }

    /// Gives up a write that nobody waits for any more with [`Error::Busy`]; nothing was admitted.
    pub fn check(&self) -> Result<(), Error> {
        if (self.0)() { Ok(()) } else { Err(Error::Busy { retry_after: RETRY_AFTER }) }
    }
}

/// Wanted until its end.
impl Default for Admission {
    fn default() -> Self {
        Self::new(|| true)
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admission")
    }
}
