//! What the fuzzer runs. The everyday suite `fuzz` runs the same functions over the corpus, on a stable compiler.

#[cfg(feature = "filter")]
pub mod filter;
pub mod targets;
