//! The program: hands the process to [`lochan_cli::run`] and turns its answer into an exit code.

use std::process::ExitCode;

use lochan_cli::{Host, exit::Kind};

fn main() -> ExitCode {
    let ended =
        std::panic::catch_unwind(|| lochan_cli::run(std::env::args_os().collect(), Host::of_process()));
    // The panic's own message was printed by the hook; what is left is a code that scripts can tell apart.
    ExitCode::from(ended.unwrap_or(Kind::Bug.code()))
}
