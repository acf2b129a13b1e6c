//! `lochan-server`.

use std::process::ExitCode;

use clap::Parser;
use lochan_server::args::Args;
use lochan_server::command;
// Its functions take the place of the C library's `malloc`. As Rust's global allocator it would touch the large zeroed
// tables of sled, 20 MB that are never used.
use tikv_jemalloc_sys as _;

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
