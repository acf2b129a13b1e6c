//! A client of a recorded history: what it does next, and what it notes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};

use super::record::{Answer, Ask, Event, Values};
use crate::client::{Client, Read, Reply, Write};
use crate::record::{CommitHash, Key, Kind, Position, Put};
use crate::rng::Rng;

/// The namespace of all keys.
pub const NAMESPACE: &str = "histories";
/// Keys in play.
pub const KEYS: usize = 12;
/// Branch whose keys are followed.
pub const MAIN: &str = "main";
/// Branch that is set back now and then.
pub const ARENA: &str = "arena";
/// Branches that come and go.
const COMING: [&str; 4] = ["come-1", "come-2", "come-3", "come-4"];

/// All keys.
pub fn keys() -> Vec<Key> {
    (0..KEYS).map(|number| Key::new(NAMESPACE, format!("t{number}"))).collect()
}

/// What all clients of a history share.
pub struct Shared {
    /// Time: every moment that is noted gets a number of its own.
    pub clock: AtomicU64,
    /// Requests left.
    pub left: AtomicU64,
    /// Values and names that nobody has used.
    pub fresh: AtomicU64,
    /// Content ids, the same everywhere.
    pub ids: BTreeMap<Key, String>,
    /// What was noted.
    pub events: Mutex<Vec<Event>>,
    /// Told the number of requests left at certain points.
    pub points: mpsc::UnboundedSender<u64>,
    /// At which.
    pub tell_at: Vec<u64>,
}

impl Shared {
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn unique(&self) -> u64 {
        self.fresh.fetch_add(1, Ordering::SeqCst)
    }
}

/// The history is over.
pub struct Over;

/// One client.
pub struct Desk {
    /// Its number.
    pub number: usize,
    /// Its chance.
    pub rng: Rng,
    /// What all share.
    pub shared: Arc<Shared>,
    /// The server of the moment.
    pub server: watch::Receiver<Client>,
}

impl Desk {
    /// Sends requests until none are left.
    pub async fn run(mut self) {
        while let Ok(()) = self.turn().await {}
    }

    async fn turn(&mut self) -> Result<(), Over> {
        match self.rng.below(12) {
            0..3 => self.read().await,
            3..7 => self.commit(MAIN).await,
            7 => self.commit(ARENA).await,
            8..10 => self.merge().await,
            10 => self.set_back().await,
            _ => self.come_and_go().await,
        }
    }

    /// Sends one request and notes it.
    async fn send<T>(
        &mut self,
        ask: Ask,
        request: impl AsyncFnOnce(Client) -> Reply<T>,
        answer: impl FnOnce(&T) -> Answer,
    ) -> Result<Option<T>, Over> {
        let taken =
            self.shared.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let left = taken.map_err(|_| Over)?;
        if self.shared.tell_at.contains(&left) {
            // Nobody listens any more once the run is over.
            let _ = self.shared.points.send(left);
        }
        let client = self.server.borrow_and_update().clone();
        let invoked = self.shared.now();
        let reply = request(client).await;
        let returned = self.shared.now();
        let (answer, value, lost) = match reply {
            Reply::Done(value) => (answer(&value), Some(value), false),
            Reply::Refused(404, _) => (Answer::Absent, None, false),
            Reply::Refused(..) => (Answer::Conflict, None, false),
            Reply::Failed(..) => (Answer::Unknown, None, false),
            Reply::Lost(_) => (Answer::Unknown, None, true),
        };
        let event = Event { client: self.number, invoked, returned, ask, answer };
        self.shared.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        if lost {
            // The next server is on its way, unless this one has only lost a connection.
            let next = tokio::time::timeout(NEXT_SERVER_WAIT, self.server.changed()).await;
            if matches!(next, Ok(Err(_))) {
                return Err(Over);
            }
        }
        Ok(value)
    }

    async fn head(&mut self, name: &str) -> Result<Option<CommitHash>, Over> {
        let read = async |client: Client| as_reply(client.reference(name).await);
        let found = |found: &Option<Position>| Answer::Head(found.as_ref().map(|at| at.hash.clone()));
        let position = self.send(Ask::Head(name.into()), read, found).await?.flatten();
        Ok(position.map(|at| at.hash))
    }

    /// Some keys at the head of a branch.
    async fn keys(&mut self, branch: &str, keys: Vec<Key>) -> Result<Option<(CommitHash, Values)>, Over> {
        let read = async |client: Client| as_reply(client.tables(branch, &keys).await);
        let answer = |read: &Read| Answer::Keys(read.hash.clone(), versions(read));
        let read = self.send(Ask::Keys(branch.into()), read, answer).await?;
        Ok(read.map(|read| (read.hash.clone(), versions(&read))))
    }

    fn some_keys(&mut self, most: u64) -> Vec<Key> {
        let mut keys = keys();
        for place in (1..keys.len()).rev() {
            let other = usize::try_from(self.rng.below(place as u64 + 1)).unwrap_or(0);
            keys.swap(place, other);
        }
        keys.truncate(usize::try_from(1 + self.rng.below(most)).unwrap_or(1));
        keys
    }

    async fn read(&mut self) -> Result<(), Over> {
        let branch = if self.rng.below(4) == 0 { ARENA } else { MAIN };
        if self.rng.below(4) == 0 {
            self.head(branch).await.map(drop)
        } else {
            let keys = self.some_keys(KEYS as u64);
            self.keys(branch, keys).await.map(drop)
        }
    }

    /// Reads some keys of a branch and sets them anew; now and then it thinks a while before.
    async fn commit(&mut self, branch: &str) -> Result<(), Over> {
        let keys = self.some_keys(4);
        let Some((hash, before)) = self.keys(branch, keys).await? else { return Ok(()) };
        for _ in 0..self.rng.below(3) {
            tokio::task::yield_now().await;
        }
        self.put(branch, &hash, before).await.map(drop)
    }

    /// Sets keys anew that held `before` at `hash`.
    async fn put(
        &mut self,
        branch: &str,
        hash: &CommitHash,
        before: Values,
    ) -> Result<Option<(CommitHash, Values)>, Over> {
        let id = format!("c{}", self.shared.unique());
        let fresh = |_: &i64| i64::try_from(self.shared.unique()).unwrap_or(i64::MAX);
        let after: Values = before.iter().map(|(key, old)| (key.clone(), fresh(old))).collect();
        let write = |(key, version): (&Key, &i64)| Write {
            put: Put { key: key.clone(), version: *version },
            id: self.shared.ids.get(key).cloned(),
        };
        let writes: Vec<Write> = after.iter().map(write).collect();
        let ask = Ask::Commit { id: id.clone(), branch: branch.into(), before, after: after.clone() };
        let commit = async |client: Client| match client.commit(branch, hash, &id, &[], &writes).await {
            Reply::Done(committed) => Reply::Done(committed.hash),
            Reply::Refused(status, text) => Reply::Refused(status, text),
            Reply::Failed(status, text) => Reply::Failed(status, text),
            Reply::Lost(text) => Reply::Lost(text),
        };
        let made = self.send(ask, commit, |hash| Answer::Made(hash.clone())).await?;
        Ok(made.map(|hash| (hash, after)))
    }

    /// Branches off, sets keys anew there in one or two commits, and merges them back.
    async fn merge(&mut self) -> Result<(), Over> {
        let keys = self.some_keys(5);
        let Some((base, before)) = self.keys(MAIN, keys).await? else { return Ok(()) };
        let name = format!("dev-{}", self.shared.unique());
        if !self.create(&name, &base, before.clone()).await? {
            return Ok(());
        }
        let (mut head, mut after) = (base.clone(), before.clone());
        for _ in 0..=self.rng.below(2) {
            let Some((next, values)) = self.put(&name, &head, after).await? else { return Ok(()) };
            (head, after) = (next, values);
        }
        let id = format!("m{}", self.shared.unique());
        let ask = Ask::Merge { id: id.clone(), branch: MAIN.into(), from: head.clone(), before, after };
        let merge = async |client: Client| match client.merge(MAIN, &base, &id, &name, &head).await {
            Reply::Done(Some(hash)) => Reply::Done(hash),
            Reply::Done(None) => Reply::Failed(200, "a merge with changes was not applied".into()),
            Reply::Refused(status, text) => Reply::Refused(status, text),
            Reply::Failed(status, text) => Reply::Failed(status, text),
            Reply::Lost(text) => Reply::Lost(text),
        };
        self.send(ask, merge, |hash| Answer::Made(hash.clone())).await?;
        self.delete(&name, &head).await
    }

    async fn create(&mut self, name: &str, to: &CommitHash, values: Values) -> Result<bool, Over> {
        let ask = Ask::Create { name: name.into(), to: to.clone(), values };
        let at = Position { kind: Kind::Branch, hash: to.clone() };
        let create = async |client: Client| client.create(name, &at).await;
        Ok(self.send(ask, create, |_| Answer::Done).await?.is_some())
    }

    async fn delete(&mut self, name: &str, from: &CommitHash) -> Result<(), Over> {
        let ask = Ask::Delete { name: name.into(), from: from.clone() };
        let delete = async |client: Client| client.delete(name, from).await;
        self.send(ask, delete, |_| Answer::Done).await.map(drop)
    }

    /// Sets the arena to where it or another branch was.
    async fn set_back(&mut self) -> Result<(), Over> {
        let source = if self.rng.below(2) == 0 { MAIN } else { ARENA };
        let Some(to) = self.head(source).await? else { return Ok(()) };
        self.commit(ARENA).await?;
        let Some(from) = self.head(ARENA).await? else { return Ok(()) };
        self.assign(ARENA, from, to).await
    }

    async fn assign(&mut self, name: &str, from: CommitHash, to: CommitHash) -> Result<(), Over> {
        let ask = Ask::Assign { name: name.into(), from: from.clone(), to: to.clone() };
        let at = Position { kind: Kind::Branch, hash: to };
        let assign = async |client: Client| client.assign(name, &from, &at).await;
        self.send(ask, assign, |_| Answer::Done).await.map(drop)
    }

    /// Creates, moves, reads or deletes one of the branches that come and go.
    async fn come_and_go(&mut self) -> Result<(), Over> {
        let name = self.rng.pick(&COMING).copied().unwrap_or("come-1");
        let found = self.head(name).await?;
        let Some(main) = self.head(MAIN).await? else { return Ok(()) };
        match found {
            None => self.create(name, &main, Values::new()).await.map(drop),
            Some(from) if self.rng.below(2) == 0 => self.delete(name, &from).await,
            Some(from) => self.assign(name, from, main).await,
        }
    }
}

/// Longest wait for the next server after a lost connection.
const NEXT_SERVER_WAIT: std::time::Duration = std::time::Duration::from_secs(20);

fn versions(read: &Read) -> Values {
    read.tables.iter().map(|(key, table)| (key.clone(), table.version)).collect()
}

/// A read has no outcome to be uncertain about: one that fails was as good as never sent.
fn as_reply<T>(read: anyhow::Result<T>) -> Reply<T> {
    match read {
        Ok(found) => Reply::Done(found),
        Err(error) => Reply::Lost(format!("{error:#}")),
    }
}
