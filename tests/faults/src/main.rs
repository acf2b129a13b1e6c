//! The kill harness as a program.
fn main() {}
