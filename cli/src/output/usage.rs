//! Help, versions, and command lines that are none.

use crate::args::Colour;
use crate::exit::Kind;
use crate::host::Host;

/// Writes what the parser has to say and returns the exit code.
pub fn tell(host: &mut Host, error: clap::Error, json: bool) -> u8 {
    // Whatever follows, there is nowhere left to report a failure to write.
    if !error.use_stderr() {
        host.choose_colour(Colour::Auto);
        let _ = host.show(error.render().ansi().to_string(), false);
        return 0;
    }
    let text = error.render();
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
    Kind::Usage.code()
}
