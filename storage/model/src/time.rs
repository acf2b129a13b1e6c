//! Instants.

/// Microseconds since 1970-01-01T00:00:00Z. The resolution of commit times: printed without loss.
pub type Micros = i64;

/// An instant to the nanosecond, as clients may give for the time of authorship.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub seconds: i64,
    /// Nanoseconds above `seconds`, below 10^9.
    pub nanos: u32,
}

impl Instant {
    /// The instant of a count of microseconds.
    #[must_use]
    pub const fn from_micros(micros: Micros) -> Self {
        Self { seconds: micros.div_euclid(1_000_000), nanos: (micros.rem_euclid(1_000_000) * 1_000) as u32 }
    }

    /// Microseconds, rounded down; saturates outside the range of [`Micros`].
    #[must_use]
    pub const fn to_micros(self) -> Micros {
        self.seconds.saturating_mul(1_000_000).saturating_add((self.nanos / 1_000) as i64)
    }
}
