//! The allocator.
//!
//! jemalloc's functions take the place of the C library's `malloc`. As Rust's global allocator it would touch the large
//! zeroed tables of sled, 20 MB that are never used.
//!
//! While a store is opened, what is freed goes back to the system at once: else such tables are put where something else
//! was, have to be zeroed by hand, and count for ever.

use tikv_jemalloc_ctl::{Access, AsName, Result, arenas};
use tikv_jemalloc_sys as _;

/// How long freed pages are kept for the next use, in milliseconds, unless `MALLOC_CONF` says otherwise.
const DECAY: &str = "arenas.dirty_decay_ms\0";

/// Freed memory goes back at once as long as this lives.
pub struct Thrift {
    /// What was set before, and is set again.
    decay_ms: isize,
}

impl Thrift {
    /// `None` where the allocator refuses, which costs memory and nothing else.
    pub fn begin() -> Option<Self> {
        let decay_ms = DECAY.name().read().ok()?;
        set_decay(0).ok()?;
        Some(Self { decay_ms })
    }
}

impl Drop for Thrift {
    fn drop(&mut self) {
        if let Err(error) = set_decay(self.decay_ms) {
            tracing::warn!(%error, "the allocator gives back every page at once, which costs speed");
        }
    }
}

fn set_decay(decay_ms: isize) -> Result<()> {
    // For those to come.
    DECAY.name().write(decay_ms)?;
    for arena in 0..arenas::narenas::read()? {
        let name = format!("arena.{arena}.dirty_decay_ms\0");
        let known: Result<isize> = name.name().read();
        // One that has never been used has no such name.
        if known.is_ok() {
            name.name().write(decay_ms)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decays() -> [isize; 2] {
        [DECAY, "arena.0.dirty_decay_ms\0"].map(|name| name.name().read().unwrap())
    }

    #[test]
    fn the_usual_pace_comes_back() {
        let before = decays();
        assert!(!before.contains(&0));
        let thrift = Thrift::begin().unwrap();
        assert_eq!(decays(), [0, 0]);
        drop(thrift);
        assert_eq!(decays(), before);
    }
}
