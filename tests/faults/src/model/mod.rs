//! The naive model: what commits, merges, transplants and diffs mean, over full copies of every state.
//!
//! Written from the rules (Nessie API, 7 to 9, and the decisions of `ARCHITECTURE.md`), not from the engine: no index, no
//! cache, no shortcut. Of the engine it uses the types of requests, so that both are asked the same thing.

pub mod answers;
pub mod commit;
pub mod generate;
pub mod graph;
pub mod merge;
pub mod moves;
pub mod namespaces;
pub mod repo;
pub mod run;
pub mod state;

#[cfg(test)]
mod tests;
