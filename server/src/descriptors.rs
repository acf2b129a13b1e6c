//! File descriptors: connections must leave enough of them for files, object stores and the other listeners.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Least number of descriptors that connections leave; of a small limit, half.
const RESERVED_MIN: u64 = 128;

/// Raises the soft limit of descriptors to the hard one. Returns how many of them connections may take.
pub fn for_connections() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Where the system refuses, what it granted before holds.
    let granted = match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    granted.map_or(usize::MAX, of)
}

/// Three quarters of a limit. The rest is for the store, its journal, warehouses on disk, connections to object stores, the
/// management listener and the control socket, which need more the more requests are at work.
fn of(limit: u64) -> usize {
    let reserved = (limit / 4).max(RESERVED_MIN).min(limit / 2);
    usize::try_from(limit - reserved).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_a_reserve() {
        for (limit, expected) in [(0, 1), (64, 32), (256, 128), (1_024, 768), (20_000, 15_000)] {
            assert_eq!(of(limit), expected, "{limit}");
        }
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        let free = for_connections();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
        assert_eq!(free, maximum.map_or(usize::MAX, of));
    }
}
