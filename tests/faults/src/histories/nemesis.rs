//! What happens to the server, and after how many requests: a function of the seed.

use crate::rng::Rng;

/// Longest pause, in milliseconds.
const PAUSE_MS_MAX: u64 = 150;
/// Requests for each intervention.
const REQUESTS_EACH: u64 = 250;
/// Part of the seed's streams.
const PART: u64 = 1 << 21;

/// An intervention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// SIGKILL, and a new server on the same folder.
    Kill,
    /// SIGSTOP and, after so many milliseconds, SIGCONT.
    Pause(u64),
    /// SIGSTOP, and SIGKILL after so many milliseconds.
    PauseAndKill(u64),
}

/// Interventions of a history of `requests`, each with the number of requests left when it comes; in order.
pub fn plan(seed: u64, requests: u64) -> Vec<(u64, Deed)> {
    let mut rng = Rng::part(seed, 0, PART);
    let mut plan: Vec<(u64, Deed)> = (0..requests / REQUESTS_EACH)
        .map(|number| {
            let left = requests - number * REQUESTS_EACH - 1 - rng.below(REQUESTS_EACH - 1);
            let ms = 1 + rng.below(PAUSE_MS_MAX);
            let deed = match rng.below(5) {
                0 | 1 => Deed::Kill,
                2 | 3 => Deed::Pause(ms),
                _ => Deed::PauseAndKill(ms),
            };
            (left, deed)
        })
        .collect();
    plan.sort_by_key(|(left, _)| std::cmp::Reverse(*left));
    plan
}
