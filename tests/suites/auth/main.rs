//! Who is let in, what they may do, what they see, and that no secret leaves the server.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests: what is missing fails the test"
)]

mod canary;
mod hiding;
mod matrix;
mod world;
