//! Programs under test, waited for no longer than is decent.

use std::{
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// Pause between two looks at a program.
const PAUSE: Duration = Duration::from_millis(2);

/// How a program ended.
#[derive(Debug)]
pub enum Ending {
    /// By itself, with what it said of its errors.
    Ended(ExitStatus, String),
    /// It had to be killed after the longest wait, with what it said.
    Hung(String),
}

/// Runs `command` no longer than `within`. `watch` is called again and again meanwhile.
pub fn run(command: &mut Command, within: Duration, mut watch: impl FnMut() -> Result<()>) -> Result<Ending> {
    let mut child =
        command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context("it cannot be started")?;
    // Read on the side, so that a program that says a lot does not wait for us.
    let told = child.stderr.take().map(|pipe| std::thread::spawn(move || std::io::read_to_string(pipe)));
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begun.elapsed() > within {
            end(&mut child)?;
            break None;
        }
        if let Err(error) = watch() {
            end(&mut child)?;
            return Err(error);
        }
        std::thread::sleep(PAUSE);
    };
    let told = told.and_then(|told| told.join().ok()).and_then(Result::ok).unwrap_or_default();
    Ok(match status {
        Some(status) => Ending::Ended(status, told),
        None => Ending::Hung(told),
    })
}

fn end(child: &mut Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}
