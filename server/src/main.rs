//! `lochan-server`.

use std::process::ExitCode;

use clap::Parser;
use lochan_server::args::Args;
use lochan_server::command;

/// Many small values made by one thread and freed by another are what a commit is; glibc is slow at it, and an allocator
/// that touches fresh zeroed pages would cost 20 MB in the tables of the embedded engine.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match command::run(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            // Logging may not have started, and whoever reads a terminal wants the whole chain in one line.
            eprintln!("lochan-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}
