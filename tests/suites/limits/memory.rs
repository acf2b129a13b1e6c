//! Memory of this process, counted as it is asked for. What the system counts would hide what is taken from pages that an
//! earlier request has left behind.

use peak_alloc::PeakAlloc;

#[global_allocator]
static COUNTING: PeakAlloc = PeakAlloc;

/// The most memory held since a moment.
pub struct Peak {
    held_bytes: usize,
}

impl Peak {
    /// Begins now.
    pub fn begin() -> Self {
        COUNTING.reset_peak_usage();
        Self { held_bytes: COUNTING.current_usage() }
    }

    /// Bytes held at most, beyond those at the beginning.
    pub fn grown_by(&self) -> u64 {
        COUNTING.peak_usage().saturating_sub(self.held_bytes) as u64
    }
}
