//! Kills a running server at random moments and checks that nothing acknowledged is lost.
//!
//! Sixteen writers commit, merge and move references over HTTP until the process is killed. After the restart, what the
//! server says is compared with what the writers were told. [`check`] is pure, so that faults can be planted in its tests.

pub mod backup;
pub mod check;
pub mod child;
pub mod client;
pub mod cuts;
pub mod disk;
pub mod flip;
pub mod histories;
pub mod load;
pub mod model;
pub mod observe;
pub mod process;
pub mod record;
pub mod rng;
pub mod run;
pub mod schedule;
pub mod seeds;
pub mod shard;
pub mod simulate;
pub mod work;
pub mod writers;
