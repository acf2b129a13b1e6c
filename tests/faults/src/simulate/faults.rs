//! What a run looks like: a function of its seed.

use lochan_storage_engine::Options;

use crate::model::generate::Keys;
use crate::rng::Rng;

/// Longest stall of a write, in microseconds: much longer than everything else takes.
pub const STALL_US: u64 = 2_000_000;

/// A fault of the store that no store may have, for the tests of the checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plant {
    /// None.
    #[default]
    None,
    /// A batch is acknowledged and not applied.
    AcknowledgedLost,
    /// A batch is refused as full and applied.
    AppliedThoughFull,
}

/// How often the store fails and how long it takes. 0 for never.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Longest wait for a read.
    pub read_us_max: u64,
    /// Longest wait before and after a write.
    pub write_us_max: u64,
    /// One read in so many fails.
    pub read_fails_one_in: u64,
    /// One batch in so many finds the disk full.
    pub full_one_in: u64,
    /// One batch in so many has an unknown outcome, after which writes are refused until a restart.
    pub fails_one_in: u64,
    /// One batch in so many takes very long.
    pub stalls_one_in: u64,
    /// Longest time between two interventions: kills, restarts, clocks that jump; 0 for none but restarts.
    pub chaos_us_max: u64,
    /// A fault that must be found.
    pub plant: Plant,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The seed.
    pub seed: u64,
    /// Engines on the one store.
    pub servers: usize,
    /// Clients.
    pub clients: u64,
    /// Requests of each client.
    pub requests: u64,
    /// Bounds of every engine.
    pub options: Options,
    /// Keys in play.
    pub keys: Keys,
    /// What goes wrong.
    pub faults: Faults,
}

impl Scene {
    /// Whether no two engines are ever at work at once; one that ends in order may still be when the next one starts.
    pub fn has_one_engine(&self) -> bool {
        self.servers == 1 && self.faults.chaos_us_max == 0
    }

    /// The scene of a seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::part(seed, 1, 0);
        let mut pick = |choices: &[u64]| rng.pick(choices).copied().unwrap_or(0);
        let bytes = [1, 4_096, 32 << 20];
        let counted = |count: u64| usize::try_from(count).unwrap_or(1);
        let options = Options {
            node_cache_bytes: pick(&bytes),
            commit_cache_bytes: pick(&bytes),
            trees_kept: counted(pick(&[1, 4, 64])),
            queue_max: counted(pick(&[2, 4, 8, 4_096])),
            group_max: counted(pick(&[1, 2, 8, 128])),
            checkpoint_commits_min: pick(&[1, 3, 10, 1_000]),
        };
        let quiet = pick(&[0, 1, 1]) == 0;
        let often = |one_in: u64| if quiet { 0 } else { one_in };
        let faults = Faults {
            read_us_max: pick(&[0, 5, 50]),
            write_us_max: pick(&[0, 20, 2_000]),
            read_fails_one_in: often(pick(&[0, 0, 400])),
            full_one_in: often(pick(&[0, 8, 40])),
            fails_one_in: often(pick(&[0, 10, 40])),
            stalls_one_in: pick(&[0, 0, 10]),
            chaos_us_max: often(pick(&[0, 2_000, 50_000])),
            plant: Plant::None,
        };
        Self {
            seed,
            servers: counted(pick(&[1, 1, 2])),
            clients: pick(&[1, 3, 6, 12]),
            requests: pick(&[4, 8, 16]),
            options,
            keys: Keys { wide: pick(&[0, 12, 60]) },
            faults,
        }
    }
}
