//! `lochan-server`.

use std::process::ExitCode;

use clap::Parser;
use lochan_server::args::Args;
use lochan_server::command;

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
