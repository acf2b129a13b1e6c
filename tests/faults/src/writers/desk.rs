//! Where a writer sends its requests from and notes what came back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::Log;
use crate::client::{Client, Committed, Reply, Write};
use crate::record::{Action, CommitHash, Event, Outcome, Position, Put, Setting};
use crate::rng::Rng;

/// The server is gone, or answered in a way after which a writer cannot go on.
#[derive(Debug)]
pub struct Gone;

/// Whether a writer may be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A conflict with others is possible.
    Possible,
    /// Nothing stands against the request.
    Wrong,
}

/// One writer's desk.
pub struct Desk {
    client: Client,
    round: u64,
    number: usize,
    count: u64,
    killed: Arc<AtomicBool>,
    log: Log,
    /// Chance for its moves.
    pub rng: Rng,
}

impl Desk {
    /// Desk of writer `number` in one round. `killed` is set just before the server is.
    pub fn new(client: Client, seed: u64, round: u64, number: usize, killed: Arc<AtomicBool>) -> Self {
        let rng = Rng::part(seed, round, number as u64);
        Self { client, round, number, count: 0, killed, log: Log::default(), rng }
    }

    /// What was noted.
    pub fn into_log(self) -> Log {
        self.log
    }

    /// Number of the writer.
    pub fn number(&self) -> usize {
        self.number
    }

    /// A version that no other request of the run uses.
    pub fn next_version(&mut self) -> i64 {
        self.count += 1;
        let version = (self.round + 1) * (1 << 30) + (self.count << 5) + self.number as u64;
        i64::try_from(version).unwrap_or(i64::MAX)
    }

    /// A table name that no other request of the run uses.
    pub fn new_table(&mut self) -> String {
        self.count += 1;
        format!("r{}-w{}-t{}", self.round, self.number, self.count)
    }

    /// Reads something; a failure ends the writer and is a surprise unless the server was killed.
    pub async fn read<T>(&mut self, what: impl AsyncFnOnce(&Client) -> anyhow::Result<T>) -> Result<T, Gone> {
        match what(&self.client).await {
            Ok(found) => Ok(found),
            Err(e) => {
                if !self.killed.load(Ordering::SeqCst) {
                    self.surprise(&format!("a read failed: {e:#}"));
                }
                Err(Gone)
            }
        }
    }

    /// Commits; `None` when the request was refused and that is possible.
    pub async fn commit(
        &mut self,
        branch: &str,
        expected: &CommitHash,
        writes: &[Write],
        refusal: Refusal,
    ) -> Result<Option<Committed>, Gone> {
        let puts: Vec<Put> = writes.iter().map(|w| w.put.clone()).collect();
        let action = Action::Commit { branch: branch.to_owned(), expected: expected.clone(), puts };
        let id = self.next_id();
        let reply = self.client.commit(branch, expected, &id, &[], writes).await;
        let hash = if let Reply::Done(committed) = &reply { Some(committed.hash.clone()) } else { None };
        self.note(id, action, reply, hash, refusal)
    }

    /// Merges `from`, a commit of `source`, into `target`; returns the new head.
    pub async fn merge(
        &mut self,
        target: &str,
        expected: &CommitHash,
        source: &str,
        from: &CommitHash,
        puts: Vec<Put>,
    ) -> Result<CommitHash, Gone> {
        let action = Action::Merge { target: target.to_owned(), source: from.clone(), puts };
        let id = self.next_id();
        let reply = self.client.merge(target, expected, &id, source, from).await;
        let hash = if let Reply::Done(hash) = &reply { hash.clone() } else { None };
        match self.note(id, action, reply, hash, Refusal::Wrong)?.flatten() {
            Some(hash) => Ok(hash),
            None => {
                self.surprise("a merge with changes was not applied");
                Err(Gone)
            }
        }
    }

    /// Creates a reference.
    pub async fn create(&mut self, name: &str, to: &Position) -> Result<(), Gone> {
        let action = Action::Create { name: name.to_owned(), to: to.clone() };
        let reply = self.client.create(name, to).await;
        self.note_move(action, reply, Refusal::Wrong).map(drop)
    }

    /// Moves a reference; `None` when the request was refused and that is possible.
    pub async fn assign(
        &mut self,
        name: &str,
        from: &CommitHash,
        to: &Position,
        refusal: Refusal,
    ) -> Result<Option<Value>, Gone> {
        let action = Action::Assign { name: name.to_owned(), from: from.clone(), to: to.clone() };
        let reply = self.client.assign(name, from, to).await;
        self.note_move(action, reply, refusal)
    }

    /// Deletes a reference.
    pub async fn delete(&mut self, name: &str, from: &CommitHash) -> Result<(), Gone> {
        let action = Action::Delete { name: name.to_owned(), from: from.clone() };
        let reply = self.client.delete(name, from).await;
        self.note_move(action, reply, Refusal::Wrong).map(drop)
    }

    /// Replaces the setting by a value of its own.
    pub async fn set(&mut self) -> Result<(), Gone> {
        let value = self.next_id();
        let reply = self.client.set(&value).await;
        let previous = if let Reply::Done(previous) = &reply { previous.clone() } else { None };
        // Another setter may come first, time and again.
        let (outcome, told) = self.judge(&value, reply, None, Refusal::Possible);
        self.log.settings.push(Setting { value, outcome, previous });
        told.map(drop)
    }

    fn note_move(
        &mut self,
        action: Action,
        reply: Reply<Value>,
        refusal: Refusal,
    ) -> Result<Option<Value>, Gone> {
        let id = self.next_id();
        self.note(id, action, reply, None, refusal)
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        format!("r{}-w{}-n{}", self.round, self.number, self.count)
    }

    fn note<T>(
        &mut self,
        id: String,
        action: Action,
        reply: Reply<T>,
        hash: Option<CommitHash>,
        refusal: Refusal,
    ) -> Result<Option<T>, Gone> {
        let (outcome, told) = self.judge(&id, reply, hash, refusal);
        self.log.events.push(Event { id, action, outcome });
        told
    }

    /// What a reply means, and what the writer is told.
    fn judge<T>(
        &mut self,
        id: &str,
        reply: Reply<T>,
        hash: Option<CommitHash>,
        refusal: Refusal,
    ) -> (Outcome, Result<Option<T>, Gone>) {
        match reply {
            Reply::Done(answer) => (Outcome::Acknowledged(hash), Ok(Some(answer))),
            Reply::Refused(409 | 404, _) if refusal == Refusal::Possible => (Outcome::Refused, Ok(None)),
            Reply::Refused(status, text) => {
                self.surprise(&format!("{id} was refused with {status}: {text}"));
                (Outcome::Refused, Err(Gone))
            }
            Reply::Failed(status, text) => {
                self.surprise(&format!("{id} failed with {status}: {text}"));
                (Outcome::Unknown, Err(Gone))
            }
            Reply::Lost(text) => {
                if !self.killed.load(Ordering::SeqCst) {
                    self.surprise(&format!("{id} got no answer before the kill: {text}"));
                }
                (Outcome::Unknown, Err(Gone))
            }
        }
    }

    fn surprise(&mut self, text: &str) {
        self.log.surprises.push(format!("writer {}: {text}", self.number));
    }
}
