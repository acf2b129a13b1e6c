//! The machine, step by step.
