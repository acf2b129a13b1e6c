//! A deterministic simulation of the writer: clock, disk, store, servers and clients in one thread, decided by a seed.
//!
//! Clients commit, merge, transplant, create, assign and delete through one or two engines on one store, while engines
//! are killed and reopened, the store is full, fails with an unknown outcome, loses derived rows in power cuts, and
//! clocks jump. Whatever the store applies is compared at that moment with what the naive model does on the same head,
//! every answer with what the model could have given on some head of its time ([`world`]).

pub mod chance;
pub mod client;
pub mod executor;
pub mod faults;
pub mod finish;
pub mod ledger;
pub mod run;
pub mod server;
pub mod store;
pub mod world;

#[cfg(test)]
mod tests;
