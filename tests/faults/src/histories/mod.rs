//! Recorded histories: what clients asked for and were told, with times, while the server was killed and paused; and
//! checkers that find whatever no order of the requests explains.
//!
//! [`linear`] takes each reference as a register of commit hashes that must be linearizable. [`graph`] takes commits and
//! merges as transactions over the keys of a branch: every write has a value of its own and says which value it replaced, so
//! all dependencies are known, and a cycle among them is an anomaly. Both are pure; tests plant faults in sound histories.

pub mod client;
pub mod graph;
pub mod judge;
pub mod linear;
pub mod nemesis;
pub mod record;
pub mod run;

#[cfg(test)]
mod tests;
