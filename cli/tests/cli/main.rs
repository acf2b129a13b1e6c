//! The command line against canned answers of API v2: what it asks, what it says, how it ends.

mod exits;
mod history;
mod merges;
mod references;
mod settings;
mod stub;
mod world;
