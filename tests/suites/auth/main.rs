//! Who is let in, what they may do, what they see, and that no secret leaves the server.

mod canary;
mod hiding;
mod matrix;
mod world;
