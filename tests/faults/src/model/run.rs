//! Cases: a fresh store, some thirty requests one after another, everything compared after each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lochan_storage_engine::commit::{Operation, Request};
use lochan_storage_engine::index::Range;
use lochan_storage_engine::merge::{MergeRequest, MetaOverrides, Outcome, TransplantRequest};
use lochan_storage_engine::refs::Distance;
use lochan_storage_engine::writer::Who;
use lochan_storage_engine::{Engine, Error, Options};
use lochan_storage_model::{Clock, CommitId, CommitMeta, ContentKey, Micros, RefName};
use lochan_storage_odb::memory::Memory;
use lochan_storage_odb::{RefKind, Store};

use super::answers::{self, Fault, check_state};
use super::commit::Refusal;
use super::generate::{self, Keys};
use super::merge::Answer;
use super::repo::{At, Repo};
use super::state::Changes;
use crate::rng::Rng;
use crate::simulate::chance::Chance;
use crate::simulate::executor::{Executor, Process};

/// Fewest and most requests of a case.
const REQUESTS: (u64, u64) = (8, 32);
/// Names in play.
const NAMES: [&str; 4] = ["main", "dev", "fix", "tag"];
/// One case in so many begins with a wide index.
const WIDE_ONE_IN: u64 = 32;
/// Commits of a case that are read once more at its end.
const READ_AGAIN_MAX: usize = 8;
/// Most commits of one transplant.
const TRANSPLANTED_MAX: u64 = 4;

/// What one case did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Requests in all.
    pub requests: u64,
    /// Commits made, those of merges and transplants included.
    pub commits: u64,
    /// Merges and transplants that were applied.
    pub merges: u64,
    /// Requests refused or in conflict, as they must.
    pub refused: u64,
    /// Diffs compared.
    pub diffs: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.commits += other.commits;
        self.merges += other.merges;
        self.refused += other.refused;
        self.diffs += other.diffs;
    }
}

/// A clock that goes on by itself, and back now and then.
struct Ticking(Mutex<Rng>);

impl Clock for Ticking {
    fn now(&self) -> Micros {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Micros::try_from(1_000_000 + rng.below(1_000)).unwrap_or(0)
    }
}

struct Case {
    rng: Rng,
    store: Arc<Memory>,
    executor: Executor,
    engine: Engine,
    options: Options,
    seed: u64,
    opened: u64,
    keys: Keys,
    repo: Repo,
    refs: BTreeMap<RefName, (RefKind, CommitId)>,
    counts: Counts,
}

/// Runs one case; the error says what differs.
pub fn case(seed: u64) -> Result<Counts, Fault> {
    let executor = Executor::new(seed);
    let own = executor.clone();
    let finished = executor.run(Process(0), async move { Case::new(seed, own).run().await });
    executor.end();
    finished.map_err(|e| e.to_string())?
}

fn name(text: &str) -> RefName {
    #[expect(clippy::expect_used, reason = "the names above are good ones")]
    RefName::new(text).expect("a good name")
}

/// `number` tells the engines of a case apart, so that each draws ids of its own.
fn open(executor: &Executor, store: &Arc<Memory>, options: &Options, seed: u64, number: u64) -> Engine {
    let store: Arc<dyn Store> = store.clone();
    let clock = Arc::new(Ticking(Mutex::new(Rng::part(seed, number, 1))));
    let chance = Arc::new(Chance::new(Rng::part(seed, number, 2)));
    Engine::start_on(store, clock, chance, generate::rules(), options.clone(), executor.spawner(Process(1)))
}

impl Case {
    fn new(seed: u64, executor: Executor) -> Self {
        let mut rng = Rng::part(seed, 0, 0);
        let options = Options {
            node_cache_bytes: *rng.pick(&[1, 4_096, 32 << 20]).unwrap_or(&1),
            commit_cache_bytes: *rng.pick(&[1, 4_096, 32 << 20]).unwrap_or(&1),
            trees_kept: *rng.pick(&[1, 4, 64]).unwrap_or(&1),
            checkpoint_commits_min: *rng.pick(&[1, 3, 1_000]).unwrap_or(&1),
            ..Options::default()
        };
        let store = Arc::new(Memory::new());
        let wide = if rng.below(WIDE_ONE_IN) == 0 { 20 + rng.below(200) } else { 0 };
        let engine = open(&executor, &store, &options, seed, 0);
        Self {
            rng,
            store,
            executor,
            engine,
            options,
            seed,
            opened: 0,
            keys: Keys { wide },
            repo: Repo::default(),
            refs: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    async fn run(mut self) -> Result<Counts, Fault> {
        self.create("main", RefKind::Branch, CommitId::NO_ANCESTOR).await?;
        if self.keys.wide > 0 {
            let operations = self.keys.first(&mut self.rng);
            self.commit_of("main", operations).await?;
        }
        let cut = self.rng.below(3);
        for _ in 0..cut {
            self.commit().await?;
        }
        for other in ["dev", "fix"] {
            if self.rng.below(6) > 0 {
                let target = self.at(&name("main")).map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
                self.create(other, RefKind::Branch, target).await?;
            }
        }
        let requests = REQUESTS.0 + self.rng.below(REQUESTS.1 - REQUESTS.0);
        for _ in 0..requests {
            let what = self.rng.below(20);
            match what {
                0..10 => self.commit().await.map_err(|e| format!("a commit: {e}"))?,
                10..14 => self.merge().await.map_err(|e| format!("a merge: {e}"))?,
                14..17 => self.transplant().await.map_err(|e| format!("a transplant: {e}"))?,
                17..19 => self.reference().await.map_err(|e| format!("a reference: {e}"))?,
                _ => self.reopen().await,
            }
            self.counts.requests += 1;
            self.diff().await.map_err(|e| format!("a diff: {e}"))?;
            self.history().await.map_err(|e| format!("a history: {e}"))?;
        }
        self.check_everything().await?;
        Ok(self.counts)
    }

    /// Mostly a branch that is there.
    fn any_name(&mut self) -> RefName {
        let branches: Vec<&RefName> = self
            .refs
            .iter()
            .filter(|(_, (kind, _))| *kind == RefKind::Branch)
            .map(|(name, _)| name)
            .collect();
        match self.rng.pick(&branches) {
            Some(branch) if self.rng.below(16) > 0 => (*branch).clone(),
            _ => name(self.rng.pick(&NAMES).copied().unwrap_or("main")),
        }
    }

    fn at(&self, name: &RefName) -> At {
        self.refs.get(name).copied()
    }

    /// The head of a reference, or an older or wrong commit now and then.
    fn expected(&mut self, at: At) -> CommitId {
        let head = at.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
        match self.rng.below(24) {
            0..14 => head,
            14..23 => {
                let chain = self.repo.graph.chain(head);
                self.rng.pick(&chain).copied().unwrap_or(head)
            }
            _ => self.any_commit(),
        }
    }

    fn any_commit(&mut self) -> CommitId {
        let mut ids: Vec<CommitId> = self.repo.graph.ids().collect();
        ids.push(CommitId::NO_ANCESTOR);
        self.rng.pick(&ids).copied().unwrap_or(CommitId::NO_ANCESTOR)
    }

    /// Compares an error with the refusal that the model gives.
    fn refused<T: std::fmt::Debug>(
        &mut self,
        found: &Result<T, Error>,
        wanted: &Refusal,
    ) -> Result<(), Fault> {
        self.counts.refused += 1;
        match found {
            Err(error) if answers::refusal(error).as_ref() == Some(wanted) => Ok(()),
            other => Err(format!("{other:?} instead of {wanted:?}")),
        }
    }

    async fn commit(&mut self) -> Result<(), Fault> {
        let branch = self.any_name();
        let at = self.at(&branch);
        let expected = self.expected(at);
        let mut request = Request::new(branch, expected, CommitMeta::default(), Who::default());
        let seen = self.repo.graph.state(expected);
        request.operations = generate::operations(&mut self.rng, self.keys, &seen);
        (request.system, request.expected_system) = generate::system(&mut self.rng, &seen);
        self.ask_commit(request).await
    }

    async fn commit_of(&mut self, branch: &str, operations: Vec<Operation>) -> Result<(), Fault> {
        let at = self.at(&name(branch)).map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
        let mut request = Request::new(name(branch), at, CommitMeta::default(), Who::default());
        request.operations = operations;
        self.ask_commit(request).await
    }

    async fn ask_commit(&mut self, request: Request) -> Result<(), Fault> {
        let branch = request.branch.clone();
        let at = self.at(&branch);
        let wanted = self.repo.commit_on(at, &request);
        let found = self.engine.commit(request.clone()).await;
        let context = |e: Fault| format!("{e}\nrequest {request:?}\nhead {at:?}");
        match wanted {
            Err(refusal) => self.refused(&found, &refusal).map_err(context),
            Ok(planned) => {
                let committed = found.map_err(|e| context(format!("refused with {e:?}")))?;
                let head = at.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
                self.repo.land(&self.store, committed.head, &[head], &planned).map_err(context)?;
                self.counts.commits += 1;
                self.moved(&branch, committed.head).await.map_err(context)
            }
        }
    }

    async fn merge(&mut self) -> Result<(), Fault> {
        let branch = self.any_name();
        let at = self.at(&branch);
        let source = self.any_name();
        let from = match self.at(&source) {
            Some((_, head)) if self.rng.below(8) > 0 => head,
            _ => self.any_commit(),
        };
        let head = at.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
        let base = self.repo.graph.state(self.repo.graph.merge_base(head, from));
        let changed = Changes::between(&base, &self.repo.graph.state(from)).contents;
        let changed: Vec<ContentKey> = changed.into_keys().collect();
        let expected = self.expected(at);
        let target = self.repo.graph.state(head);
        let options = generate::options(&mut self.rng, self.keys, &changed, &target);
        let (meta, who) = (CommitMeta::default(), Who::default());
        let request = MergeRequest {
            branch: branch.clone(),
            expected,
            from,
            source: None,
            unrelated: true,
            options,
            meta,
            who,
        };
        let (base, wanted) = self.repo.merge_on(at, &request);
        let found = self.engine.merge(request.clone()).await;
        let context = |e: Fault| format!("{e}\nrequest {request:?}\nhead {at:?}");
        match wanted {
            Err(refusal) => self.refused(&found, &refusal).map_err(context),
            Ok(answer) => {
                let outcome = found.map_err(|e| context(format!("{e:?} instead of {answer:?}")))?;
                if outcome.base != Some(base) {
                    return Err(context(format!("the merge base is {:?}, not {base}", outcome.base)));
                }
                let dry = request.options.dry_run && base != from;
                self.answered(&branch, head, &outcome, &answer, dry, Some(from)).await.map_err(context)
            }
        }
    }

    async fn transplant(&mut self) -> Result<(), Fault> {
        let branch = self.any_name();
        let at = self.at(&branch);
        let tip = self.any_commit();
        let mut commits = self.repo.graph.chain(tip);
        commits.pop();
        let count = usize::try_from(1 + self.rng.below(TRANSPLANTED_MAX)).unwrap_or(1);
        commits.truncate(count);
        commits.reverse();
        if self.rng.below(25) == 0 {
            let other = self.any_commit();
            commits.push(other);
        }
        let expected = self.expected(at);
        let head = at.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
        let sources = commits.iter().filter_map(|id| self.repo.graph.get(*id));
        let changed: Vec<ContentKey> =
            sources.flat_map(|made| made.changes.contents.keys().cloned()).collect();
        let target = self.repo.graph.state(head);
        let options = generate::options(&mut self.rng, self.keys, &changed, &target);
        let (overrides, who) = (MetaOverrides::default(), Who::default());
        let request =
            TransplantRequest { branch: branch.clone(), expected, commits, options, overrides, who };
        let wanted = self.repo.transplant_on(at, &request);
        let found = self.engine.transplant(request.clone()).await;
        let context = |e: Fault| format!("{e}\nrequest {request:?}\nhead {at:?}");
        match wanted {
            Err(refusal) => self.refused(&found, &refusal).map_err(context),
            Ok(answer) => {
                let outcome = found.map_err(|e| context(format!("{e:?} instead of {answer:?}")))?;
                let dry = request.options.dry_run;
                self.answered(&branch, head, &outcome, &answer, dry, None).await.map_err(context)
            }
        }
    }

    /// Compares the outcome of a merge or transplant and takes in what it made.
    async fn answered(
        &mut self,
        branch: &RefName,
        head: CommitId,
        outcome: &Outcome,
        answer: &Answer,
        dry_run: bool,
        merged: Option<CommitId>,
    ) -> Result<(), Fault> {
        let system = answers::system_conflicts(outcome)?;
        let same = outcome.successful == answer.successful
            && answers::details(outcome) == answer.details
            && system == answer.system_conflicts
            && outcome.applied != answer.commits.is_empty()
            && outcome.on == head;
        if !same {
            return Err(format!("{outcome:?} instead of {answer:?}"));
        }
        if answer.commits.is_empty() {
            self.counts.refused += u64::from(!answer.successful);
            let told = (answer.successful && !dry_run).then_some(head);
            return if outcome.result == told {
                Ok(())
            } else {
                Err(format!("the result is {:?}, not {told:?}", outcome.result))
            };
        }
        let result = outcome.result.ok_or("applied without a result")?;
        let mut made = Vec::with_capacity(answer.commits.len());
        let mut at = result;
        for _ in &answer.commits {
            made.push(at);
            at = answers::load(&self.store, at)?.header.parent();
        }
        if at != head {
            return Err(format!(
                "{} commits below the result is {at}, not the head {head}",
                answer.commits.len()
            ));
        }
        for (id, planned) in made.iter().rev().zip(&answer.commits) {
            let mut parents = vec![at];
            parents.extend(merged);
            self.repo.land(&self.store, *id, &parents, planned)?;
            self.counts.commits += 1;
            at = *id;
        }
        self.counts.merges += 1;
        self.moved(branch, result).await
    }

    /// Notes a new head and reads it back.
    async fn moved(&mut self, branch: &RefName, head: CommitId) -> Result<(), Fault> {
        self.refs.insert(branch.clone(), (RefKind::Branch, head));
        let (reference, state) = self.engine.at_head(branch).await.map_err(|e| e.to_string())?;
        if reference.target != head || state.commit() != head {
            return Err(format!("{branch} is at {}, not at {head}", reference.target));
        }
        let found = answers::listing(&self.engine, head).await.map_err(|e| e.to_string())?;
        check_state(&found, &self.repo.graph.state(head))
    }

    async fn create(&mut self, text: &str, kind: RefKind, target: CommitId) -> Result<(), Fault> {
        let at = name(text);
        let found = self.engine.create_reference(&at, kind, target, Who::default()).await;
        if self.refs.contains_key(&at) {
            return self.refused(&found, &Refusal::Exists);
        }
        found.map_err(|e| format!("creating {at}: {e:?}"))?;
        self.refs.insert(at, (kind, target));
        Ok(())
    }

    async fn reference(&mut self) -> Result<(), Fault> {
        let at = self.any_name();
        let target = self.any_commit();
        let kind = if at.as_str() == "tag" { RefKind::Tag } else { RefKind::Branch };
        let Some((kind, head)) = self.at(&at).filter(|_| self.rng.below(8) > 0) else {
            return self.create(at.as_str(), kind, target).await;
        };
        let expected = if self.rng.below(5) == 0 { self.any_commit() } else { head };
        let found = if self.rng.below(3) == 0 && at.as_str() != "main" {
            let deleted = self.engine.delete_reference(&at, expected, Who::default()).await;
            if expected == head {
                self.refs.remove(&at);
            }
            deleted
        } else {
            let assigned = self.engine.assign_reference(&at, expected, target, Who::default()).await;
            if expected == head {
                self.refs.insert(at.clone(), (kind, target));
            }
            assigned
        };
        if expected != head {
            return self.refused(&found, &Refusal::UnexpectedHash);
        }
        found.map(drop).map_err(|e| format!("{e:?}"))
    }

    /// A new engine on the same store, with cold caches; the old one is killed or ends in order.
    async fn reopen(&mut self) {
        if self.rng.below(2) == 0 {
            self.executor.kill(Process(1));
        }
        self.opened += 1;
        self.engine = open(&self.executor, &self.store, &self.options, self.seed, self.opened);
        self.executor.sleep(1).await;
    }

    async fn diff(&mut self) -> Result<(), Fault> {
        let (from, to) = (self.any_commit(), self.any_commit());
        let below = self.keys.any(&mut self.rng);
        self.counts.diffs += 1;
        let range = match self.rng.below(3) {
            0 => Range::all(),
            1 => Range::content(),
            _ => Range::below(&below.index_key()),
        };
        let of = async |id| self.engine.at(id).await;
        let (left, right) =
            (of(from).await.map_err(|e| e.to_string())?, of(to).await.map_err(|e| e.to_string())?);
        let found = left.diff(&right, &range).await.map_err(|e| e.to_string())?;
        let found = found.all().await.map_err(|e| e.to_string())?;
        let wanted = Changes::between(&self.repo.graph.state(from), &self.repo.graph.state(to));
        let mut keys: Vec<Vec<u8>> = wanted
            .contents
            .keys()
            .map(ContentKey::index_key)
            .chain(wanted.system.keys().map(lochan_storage_model::SystemPath::index_key))
            .filter(|key| range.contains(key))
            .map(|key| key.as_bytes().to_vec())
            .collect();
        keys.sort();
        let told: Vec<Vec<u8>> = found.iter().map(|entry| entry.key.as_bytes().to_vec()).collect();
        if keys != told {
            return Err(format!("{from} to {to} in {range:?} differ at {told:?}, not at {keys:?}"));
        }
        Ok(())
    }

    /// The commits that changed a key, and how far two commits are apart.
    async fn history(&mut self) -> Result<(), Fault> {
        let (from, other) = (self.any_commit(), self.any_commit());
        let key = self.keys.any(&mut self.rng);
        let found = self.engine.key_history(from, &key.index_key(), usize::MAX).await;
        let found: Vec<CommitId> = found.map_err(|e| e.to_string())?.iter().map(|entry| entry.id).collect();
        let (own, others) = (self.repo.graph.chain(from), self.repo.graph.chain(other));
        let touches = |id: &CommitId| {
            self.repo.graph.get(*id).is_some_and(|made| made.changes.contents.contains_key(&key))
        };
        let wanted: Vec<CommitId> = own.iter().copied().filter(touches).collect();
        if found != wanted {
            return Err(format!("{key} was changed in {found:?}, not in {wanted:?}"));
        }
        let found = self.engine.distance(from, other).await.map_err(|e| e.to_string())?;
        let ahead = own.iter().position(|id| others.contains(id)).unwrap_or(own.len());
        let common = own.get(ahead).copied().unwrap_or(CommitId::NO_ANCESTOR);
        let behind = others.iter().position(|id| *id == common).unwrap_or(others.len());
        let wanted = Distance { ahead: ahead as u64, behind: behind as u64, common };
        if found == wanted { Ok(()) } else { Err(format!("{from} to {other}: {found:?}, not {wanted:?}")) }
    }

    /// Every reference and some commits, read with cold caches; then everything stored is verified.
    async fn check_everything(&mut self) -> Result<(), Fault> {
        self.reopen().await;
        let listed = self.engine.references(None, 100).await.map_err(|e| e.to_string())?;
        let listed: BTreeMap<RefName, (RefKind, CommitId)> =
            listed.into_iter().map(|found| (found.name, (found.kind, found.target))).collect();
        if listed != self.refs {
            return Err(format!("references are {listed:?}, not {:?}", self.refs));
        }
        let mut ids: Vec<CommitId> = self.refs.values().map(|(_, target)| *target).collect();
        ids.extend(self.repo.graph.ids().take(READ_AGAIN_MAX));
        for id in ids {
            let found = answers::listing(&self.engine, id).await.map_err(|e| e.to_string())?;
            check_state(&found, &self.repo.graph.state(id)).map_err(|e| format!("commit {id}: {e}"))?;
        }
        let store: Arc<dyn lochan_storage_odb::Sweep> = self.store.clone();
        let depth = lochan_storage_engine::fsck::Depth::Full;
        let report = lochan_storage_engine::fsck::fsck(store, depth, &mut |_, _| {})
            .await
            .map_err(|e| format!("fsck: {e}"))?;
        if report.is_sound() { Ok(()) } else { Err(format!("fsck: {:?}", report.findings)) }
    }
}
