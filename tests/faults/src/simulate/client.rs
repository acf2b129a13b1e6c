//! A client: reads a head, asks for something, and hands the answer to the world.

use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use lochan_storage_engine::commit::Request;
use lochan_storage_engine::merge::{MergeRequest, MetaOverrides, TransplantRequest};
use lochan_storage_engine::writer::{Admission, Who};
use lochan_storage_engine::{Engine, Error};
use lochan_storage_model::{CommitId, CommitMeta, ContentKey, RefName};
use lochan_storage_odb::{ExpectedRecord, RecordChange, RecordSpace, RefKind, RequestKey, Requirement};

use super::executor::{Executor, locked};
use super::faults::Scene;
use super::server::Servers;
use super::world::{Ask, Told, World, key_of};
use crate::model::answers::{self, check_state};
use crate::model::generate;
use crate::model::repo::At;
use crate::model::state::Changes;
use crate::rng::Rng;

/// Names in play.
pub const NAMES: [&str; 5] = ["main", "dev", "fix", "side", "tag"];
/// Most commits of one transplant.
const TRANSPLANTED_MAX: u64 = 3;
/// Longest pause of a client that was told to come back, in microseconds.
const PAUSE_US_MAX: u64 = 3_000;
/// Longest time until an admission lapses, in microseconds.
const LAPSE_US_MAX: u64 = 3_000;

/// One client.
pub struct Client {
    /// Its own chance.
    pub rng: Rng,
    /// The servers.
    pub servers: Arc<Servers>,
    /// What is known.
    pub world: Arc<Mutex<World>>,
    /// Time.
    pub executor: Executor,
    /// The run.
    pub scene: Scene,
}

/// The name of a reference in play.
pub fn name(text: &str) -> RefName {
    #[expect(clippy::expect_used, reason = "the names above are good ones")]
    RefName::new(text).expect("a good name")
}

impl Client {
    fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    /// Sends all its requests, one after another.
    pub async fn run(mut self) {
        for _ in 0..self.scene.requests {
            let server = usize::try_from(self.rng.below(self.servers.len() as u64)).unwrap_or(0);
            let number = self.world().next_number();
            let (who, lapses) = self.who(number);
            let told = match self.choose(server, &who).await {
                Some(ask) => self.send(server, number, ask, who, lapses).await,
                None => false,
            };
            if !told {
                let pause = self.rng.below(PAUSE_US_MAX);
                self.executor.sleep(1 + pause).await;
            }
        }
    }

    fn who(&mut self, number: u64) -> (Who, bool) {
        let request = Some(RequestKey { key: key_of(number), fingerprint: key_of(number + 1) });
        let lapses = self.rng.below(12) == 0;
        let until = if lapses { self.executor.now_us() + self.rng.below(LAPSE_US_MAX) } else { u64::MAX };
        let (executor, world) = (self.executor.clone(), Arc::clone(&self.world));
        let admission = Admission::new(move || {
            locked(&world).is_asked(number);
            executor.now_us() < until
        });
        (Who { principal: format!("p{}", number % 3), request, run: None, admission }, lapses)
    }

    /// Reads the head of a reference at a server, and compares what it shows with the model.
    async fn read(&mut self, server: usize, name: &RefName) -> Option<At> {
        let since = self.world().ledger.applied;
        let whole = self.rng.below(4) == 0;
        let asked = name.clone();
        let found =
            self.servers.call(server, async move |engine: Engine| match engine.at_head(&asked).await {
                Ok((reference, state)) => {
                    let listing =
                        if whole { Some(answers::listing(&engine, state.commit()).await?) } else { None };
                    Ok(Some((reference, listing)))
                }
                Err(Error::ReferenceNotFound(_)) => Ok(None),
                Err(error) => Err(error),
            });
        let found = match found.await? {
            Ok(found) => found,
            Err(Error::Store(lochan_storage_odb::StoreError::Read(_))) => return None,
            Err(error) => {
                self.world().violation(format!("reading {name}: {error:?}"));
                return None;
            }
        };
        let mut world = self.world();
        let at = found.as_ref().map(|(reference, _)| (reference.kind, reference.target));
        let positions = world.ledger.positions_since(name, since);
        if !positions.contains(&at) {
            world.violation(format!("{name} was read as {at:?}, but was {positions:?}"));
        }
        if let Some((reference, Some(listing))) = &found {
            let state = world.repo.graph.state(reference.target);
            if let Err(fault) = check_state(listing, &state) {
                world.violation(format!("{name} at {}: {fault}", reference.target));
            }
        }
        Some(at)
    }

    fn any_name(&mut self) -> RefName {
        name(self.rng.pick(&NAMES).copied().unwrap_or("main"))
    }

    fn any_commit(&mut self) -> CommitId {
        let ids: Vec<CommitId> = {
            let world = self.world();
            world.repo.graph.ids().chain([CommitId::NO_ANCESTOR]).collect()
        };
        self.rng.pick(&ids).copied().unwrap_or(CommitId::NO_ANCESTOR)
    }

    async fn choose(&mut self, server: usize, who: &Who) -> Option<Ask> {
        let branch = self.any_name();
        let at = self.read(server, &branch).await?;
        let head = at.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
        let expected = if self.rng.below(6) == 0 {
            let chain = self.world().repo.graph.chain(head);
            self.rng.pick(&chain).copied().unwrap_or(head)
        } else {
            head
        };
        if at.is_none() && self.rng.below(4) > 0 {
            let kind = if branch.as_str() == "tag" { RefKind::Tag } else { RefKind::Branch };
            let main = self.read(server, &name("main")).await?;
            let target = main.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
            return Some(Ask::Create(branch, kind, target));
        }
        Some(match self.rng.below(20) {
            0..11 => self.commit(branch, expected, who.clone()),
            11..14 => self.merge(branch, expected, head, who.clone()),
            14..16 => self.transplant(branch, expected, head, who.clone()),
            16..18 => Ask::Assign(branch, expected, self.any_commit()),
            18 if branch.as_str() != "main" => Ask::Delete(branch, expected),
            _ => Ask::Create(branch, RefKind::Branch, self.any_commit()),
        })
    }

    fn commit(&mut self, branch: RefName, expected: CommitId, who: Who) -> Ask {
        let seen = self.world().repo.graph.state(expected);
        let mut request = Request::new(branch, expected, CommitMeta::default(), who);
        request.operations = generate::operations(&mut self.rng, self.scene.keys, &seen);
        (request.system, request.expected_system) = generate::system(&mut self.rng, &seen);
        if self.rng.below(4) == 0 {
            let key = Bytes::from(format!("r{}", self.rng.below(2)));
            let space = RecordSpace::Setting;
            let record = self.world().ledger.record(space, &key);
            let expected = match record.value {
                Some(_) => ExpectedRecord::Version(record.version),
                None => ExpectedRecord::Absent,
            };
            if self.rng.below(2) == 0 {
                let value = (self.rng.below(4) > 0).then(|| Bytes::from(self.rng.draw().to_string()));
                request.records.push(RecordChange { space, key, expected, value });
            } else {
                request.requires.push(Requirement::Record(space, key, expected));
            }
        }
        Ask::Commit(Box::new(request))
    }

    fn merge(&mut self, branch: RefName, expected: CommitId, head: CommitId, who: Who) -> Ask {
        let source = self.any_name();
        let from = self.world().ledger.references().get(&source).map(|(_, head)| *head);
        let from = match from {
            Some(from) => from,
            None => self.any_commit(),
        };
        let (changed, target) = {
            let world = self.world();
            let base = world.repo.graph.state(world.repo.graph.merge_base(head, from));
            let changed = Changes::between(&base, &world.repo.graph.state(from)).contents;
            (changed.into_keys().collect::<Vec<ContentKey>>(), world.repo.graph.state(head))
        };
        let options = generate::options(&mut self.rng, self.scene.keys, &changed, &target);
        let meta = CommitMeta::default();
        Ask::Merge(Box::new(MergeRequest {
            branch,
            expected,
            from,
            source: None,
            unrelated: true,
            options,
            meta,
            who,
        }))
    }

    fn transplant(&mut self, branch: RefName, expected: CommitId, head: CommitId, who: Who) -> Ask {
        let tip = self.any_commit();
        let count = usize::try_from(1 + self.rng.below(TRANSPLANTED_MAX)).unwrap_or(1);
        let (commits, changed, target) = {
            let world = self.world();
            let mut commits = world.repo.graph.chain(tip);
            commits.pop();
            commits.truncate(count);
            commits.reverse();
            let made = commits.iter().filter_map(|id| world.repo.graph.get(*id));
            let changed: Vec<ContentKey> =
                made.flat_map(|made| made.changes.contents.keys().cloned()).collect();
            (commits, changed, world.repo.graph.state(head))
        };
        let options = generate::options(&mut self.rng, self.scene.keys, &changed, &target);
        let overrides = MetaOverrides::default();
        Ask::Transplant(Box::new(TransplantRequest { branch, expected, commits, options, overrides, who }))
    }

    /// Sends a request and hands in the answer; false when it was told to come back, or nothing.
    async fn send(&mut self, server: usize, number: u64, ask: Ask, who: Who, lapses: bool) -> bool {
        let sent_us = self.executor.now_us();
        self.world().send(number, ask.clone(), server, sent_us, lapses);
        let told = self.servers.call(server, async move |engine: Engine| match ask {
            Ask::Commit(request) => engine.commit(*request).await.map(Told::Committed),
            Ask::Merge(request) => engine.merge(*request).await.map(Told::Merged),
            Ask::Transplant(request) => engine.transplant(*request).await.map(Told::Merged),
            Ask::Create(name, kind, target) => {
                engine.create_reference(&name, kind, target, who).await.map(Told::Created)
            }
            Ask::Assign(name, expected, target) => {
                engine.assign_reference(&name, expected, target, who).await.map(Told::Moved)
            }
            Ask::Delete(name, expected) => {
                engine.delete_reference(&name, expected, who).await.map(Told::Moved)
            }
        });
        let told = told.await;
        let certain = matches!(told, Some(Ok(_)));
        self.world().answer(number, told, &self.scene);
        certain
    }
}
