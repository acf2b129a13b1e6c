//! When each round is killed: a function of the seed alone.

use std::time::Duration;

use crate::rng::Rng;

/// Shortest time between the first request of a round and its kill, in milliseconds.
const KILL_AFTER_MS_MIN: u64 = 5;
/// Longest such time unless told otherwise, in milliseconds.
pub const KILL_AFTER_MS_MAX: u64 = 900;
/// One round in so many is killed once more while it starts.
const KILL_DURING_START_ONE_IN: u64 = 6;
/// Latest moment of such a kill after the spawn, in milliseconds.
const KILL_DURING_START_MS_MAX: u64 = 60;

/// Part numbers of random streams; writers use theirs from 0 on.
const PART_SCHEDULE: u64 = 1 << 20;
/// Part of the samples.
pub const PART_SAMPLES: u64 = PART_SCHEDULE + 1;

/// Moments of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    /// Time from the first request to the kill.
    pub kill_after: Duration,
    /// Time from the spawn to one more kill before the server is ready, if there is one.
    pub kill_during_start: Option<Duration>,
}

/// Moments of a round, replayable from the seed; the kill comes before `kill_after_ms_max`.
pub fn moments(seed: u64, round: u64, kill_after_ms_max: u64) -> Moments {
    let mut rng = Rng::part(seed, round, PART_SCHEDULE);
    let range = kill_after_ms_max.saturating_sub(KILL_AFTER_MS_MIN);
    let kill_after = Duration::from_millis(KILL_AFTER_MS_MIN + rng.below(range));
    let kill_during_start = (rng.below(KILL_DURING_START_ONE_IN) == 0)
        .then(|| Duration::from_millis(rng.below(KILL_DURING_START_MS_MAX)));
    Moments { kill_after, kill_during_start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_schedule_again_and_another_seed_another() {
        let of = |seed| (0..50).map(|round| moments(seed, round, KILL_AFTER_MS_MAX)).collect::<Vec<_>>();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        assert!(of(7).iter().any(|m| m.kill_during_start.is_some()));
        assert!(of(7).iter().all(|m| m.kill_after.as_millis() < u128::from(KILL_AFTER_MS_MAX)));
    }
}
