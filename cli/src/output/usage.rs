//! Help, versions, and command lines that are none.

use crate::args::Colour;
use crate::error::Error;
use crate::exit::Kind;
use crate::host::Host;

/// Writes what the parser has to say and returns the exit code. `Err` is help that cannot be written.
pub fn tell(host: &mut Host, error: &clap::Error, json: bool) -> Result<u8, Error> {
    let text = error.render();
    if !error.use_stderr() {
        host.choose_colour(Colour::Auto);
        host.show(text.ansi().to_string(), false)?;
        return Ok(0);
    }
    // Nothing is left to be done when even the complaint cannot be written; the code still tells.
    let _ = if json {
        // The message, then tips and the usage, with empty lines between them.
        let text = text.to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        let tips: Vec<String> = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("tip: "))
            .map(str::to_owned)
            .collect();
        host.complain(&super::json::usage(message.trim_start_matches("error: ").trim_end(), &tips))
    } else {
        host.complain(&text.ansi().to_string())
    };
    Ok(Kind::Usage.code())
}
