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

/// Prints the script. Those of the usual shells ask this program with every completion, the others know words and options.
pub fn run(args: &Args, host: &mut Host) -> Result<u8, Error> {
    match args.shell {
        Shell::Bash => host.write(include_bytes!("../../complete/scripts/bash.sh"))?,
        Shell::Zsh => host.write(include_bytes!("../../complete/scripts/zsh.sh"))?,
        Shell::Fish => host.write(include_bytes!("../../complete/scripts/fish.fish"))?,
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "lochan", &mut script);
            host.write(&script)?;
        }
    }
    Ok(0)
}
