//! Ctrl-C while a statement runs.

use std::future::Future;

use tokio::runtime::Runtime;

use crate::commands::Session;
use crate::error::Error;

/// Who waits for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A script: Ctrl-C ends the program.
    Script,
    /// A person at the prompt, whose Ctrl-C ends the statement alone.
    Person,
}

impl Waiting {
    /// Runs `work` to its end, or until it is given up, which is an error then. The program goes on to take signals itself.
    pub(super) fn run<T>(
        self,
        runtime: &Runtime,
        session: &Session,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        runtime.block_on(async {
            match self {
                Waiting::Script => work.await,
                Waiting::Person => tokio::select! {
                    done = work => done,
                    Ok(()) = tokio::signal::ctrl_c() => session.typed.settle(Err(given_up(session))),
                },
            }
        })
    }
}

/// A change that was on its way may have been made.
fn given_up(session: &Session) -> Error {
    session.client.given_up().map_or(Error::GivenUp, Error::from)
}
