//! `lochan-server`.

use std::process::ExitCode;

use clap::Parser;
use lochan_server::args::Args;
use lochan_server::command;

fn main() -> ExitCode {
    let ended = match Args::try_parse() {
        Ok(args) => command::run(args),
        Err(told) => command::tell(&told),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            // Logging may not have started, and whoever reads a terminal wants the whole chain in one line.
            eprintln!("lochan-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}
