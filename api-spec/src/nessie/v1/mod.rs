//! Declared in the next step.
