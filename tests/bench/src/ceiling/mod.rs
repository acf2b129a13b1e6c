//! The two ceilings of every ratio: a server that only answers, and one that also makes each write durable.
//!
//! They run as a process of their own, as the server under test does, on the same HTTP stack, with answers of the
//! size a real one gives. What they reach is what generator, sockets, HTTP and disk of this machine allow right now.

mod answers;
mod log;
mod serve;

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

pub use answers::{CHANGES, CONTENT_ID, HASH, TABLE_UUID};
pub use serve::serve;
#[cfg(test)]
pub use {log::GroupLog, serve::router};

/// Which ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Canned answers.
    Null,
    /// Writes are parsed, hashed, appended to a file and synced, one sync per waiting group.
    DurableNull,
}

impl Kind {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::DurableNull => "durable-null",
        }
    }
}

/// A running ceiling; it ends when this is dropped, since its standard input closes.
pub struct Ceiling {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Process id, for its processor time.
    pub pid: u32,
    _child: Child,
    _stdin: ChildStdin,
}

impl Ceiling {
    /// Starts this program again as a ceiling, with its log in `folder`.
    pub async fn start(kind: Kind, folder: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("own path")?;
        let mut child = Command::new(program)
            .arg("ceiling")
            .arg(kind.name())
            .arg(folder.join("durable-null.log"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("starting a ceiling")?;
        let stdin = child.stdin.take().context("stdin of the ceiling")?;
        let stdout = child.stdout.take().context("stdout of the ceiling")?;
        let line = BufReader::new(stdout).lines().next_line().await?.context("the ceiling said nothing")?;
        let addr = line.trim().parse().with_context(|| format!("address of the ceiling: {line}"))?;
        let pid = child.id().context("the ceiling has ended")?;
        Ok(Self { addr, pid, _child: child, _stdin: stdin })
    }
}
