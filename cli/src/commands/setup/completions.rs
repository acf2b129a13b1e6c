//! `completions bash`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::Error;
use crate::host::Host;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script.
pub fn run(args: &Args, host: &mut Host) -> Result<u8, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lochan", &mut script);
    host.write(&script)?;
    Ok(0)
}
