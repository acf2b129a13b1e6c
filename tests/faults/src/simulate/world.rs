//! What the simulation knows: requests with their answers, and what the store has applied. Everything is checked here.

use std::collections::BTreeMap;

use lochan_storage_engine::Error;
use lochan_storage_engine::commit::{Committed, Request};
use lochan_storage_engine::merge::{MergeRequest, Outcome, TransplantRequest};
use lochan_storage_model::{CommitId, ObjectKind, RefName};
use lochan_storage_odb::memory::Memory;
use lochan_storage_odb::{Batch, Change, RefKind, Reference, ReferenceChange, Requirement, StoreError};

use super::client::NAMES;
use super::faults::Scene;
use super::ledger::{Landing, Ledger};
use crate::model::answers::{self, Fault};
use crate::model::commit::Refusal;
use crate::model::merge::Answer;
use crate::model::repo::{At, Repo};

/// Most violations kept; the first ones tell the story.
const VIOLATIONS_MAX: usize = 10;

/// What a client asks for.
#[derive(Clone, Debug)]
pub enum Ask {
    /// A commit.
    Commit(Box<Request>),
    /// A merge.
    Merge(Box<MergeRequest>),
    /// A transplant.
    Transplant(Box<TransplantRequest>),
    /// A new reference.
    Create(RefName, RefKind, CommitId),
    /// A reference moved from one commit to another.
    Assign(RefName, CommitId, CommitId),
    /// A reference deleted at a commit.
    Delete(RefName, CommitId),
}

impl Ask {
    /// The reference it changes.
    pub fn reference(&self) -> &RefName {
        match self {
            Self::Commit(request) => &request.branch,
            Self::Merge(request) => &request.branch,
            Self::Transplant(request) => &request.branch,
            Self::Create(name, ..) | Self::Assign(name, ..) | Self::Delete(name, _) => name,
        }
    }
}

/// What a client is told.
#[derive(Clone, Debug)]
pub enum Told {
    /// The commit is made.
    Committed(Committed),
    /// The merge or transplant has an outcome.
    Merged(Outcome),
    /// The reference is created.
    Created(Reference),
    /// The reference is moved or deleted; it was this.
    Moved(Reference),
}

/// A request on its way or answered.
#[derive(Debug)]
pub struct Asked {
    /// What.
    pub ask: Ask,
    /// Batches applied before it was sent.
    pub since: u64,
    /// How often it was asked whether it is still wanted.
    pub asks: u64,
    /// Batches applied when it was asked last: for one that has landed, right before the writer's queue.
    pub asked_at: u64,
    /// Server it was sent to.
    pub server: usize,
    /// When, in microseconds.
    pub sent_us: u64,
    /// Whether it has its admission taken away after a time.
    pub lapses: bool,
    /// Most requests that were on their way to its server at once, itself included.
    pub most_waiting: usize,
    /// Whether the client has got its answer or given up.
    pub over: bool,
    /// Whether the answer says that nothing was applied.
    refused: bool,
    landed: Option<Landed>,
}

#[derive(Clone, Copy, Debug)]
struct Landed {
    at: u64,
    head: Option<CommitId>,
}

/// Most times that a request is asked whether it is still wanted: before each of three plans and before the queue, and once
/// more before the queue when the writer plans at last.
const ASKS_MAX: u64 = 7;

/// As many wait in the writer's channel, and as many in its lanes.
fn half_queue(scene: &Scene) -> usize {
    (scene.options.queue_max / 2).max(1)
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Requests sent.
    pub requests: u64,
    /// Acknowledged.
    pub acknowledged: u64,
    /// Refused as they must.
    pub refused: u64,
    /// Told to come back, or refused while the store takes nothing.
    pub busy: u64,
    /// Without a certain answer.
    pub unknown: u64,
    /// Of those, found to have happened.
    pub unknown_landed: u64,
    /// Batches.
    pub batches: u64,
    /// Engines killed.
    pub kills: u64,
    /// Failures of the store with an unknown outcome.
    pub failures: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.busy += other.busy;
        self.unknown += other.unknown;
        self.unknown_landed += other.unknown_landed;
        self.batches += other.batches;
        self.kills += other.kills;
        self.failures += other.failures;
    }
}

/// The whole knowledge.
#[derive(Debug, Default)]
pub struct World {
    /// Commits and their states.
    pub repo: Repo,
    /// References, log, records.
    pub ledger: Ledger,
    /// Requests by number.
    pub asked: BTreeMap<u64, Asked>,
    /// What must never be.
    pub violations: Vec<Fault>,
    /// What happened.
    pub counts: Counts,
    next: u64,
}

/// A request's number as the key of its idempotency, and back.
pub fn key_of(number: u64) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(number.to_le_bytes()) {
        *to = from;
    }
    key
}

fn number_of(key: &[u8; 32]) -> Option<u64> {
    key.first_chunk().map(|first| u64::from_le_bytes(*first))
}

impl World {
    /// Notes something that must never be.
    pub fn violation(&mut self, fault: Fault) {
        if self.violations.len() < VIOLATIONS_MAX {
            self.violations.push(fault);
        }
    }

    /// The number of the next request.
    pub fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Notes a request that is about to be sent.
    pub fn send(&mut self, number: u64, ask: Ask, server: usize, sent_us: u64, lapses: bool) {
        self.counts.requests += 1;
        let since = self.ledger.applied;
        let asked = Asked {
            ask,
            since,
            asks: 0,
            asked_at: since,
            server,
            sent_us,
            lapses,
            most_waiting: 0,
            over: false,
            refused: false,
            landed: None,
        };
        self.asked.insert(number, asked);
        let mut waiting: Vec<&mut Asked> =
            self.asked.values_mut().filter(|asked| asked.server == server && !asked.over).collect();
        let count = waiting.len();
        waiting.iter_mut().for_each(|asked| asked.most_waiting = asked.most_waiting.max(count));
    }

    /// Told when a request is asked whether it is still wanted.
    pub fn is_asked(&mut self, number: u64) {
        let at = self.ledger.applied;
        if let Some(asked) = self.asked.get_mut(&number) {
            asked.asks += 1;
            asked.asked_at = at;
        }
    }

    /// Told after a write has stalled since `since_us`: what was sent before and is not answered stands in the queue, which
    /// is bounded.
    pub fn stalled(&mut self, since_us: u64, scene: &Scene) {
        let waits = |asked: &&Asked| !asked.over && asked.sent_us < since_us;
        let waiting = self.asked.values().filter(waits).count();
        let most = scene.options.group_max + 2 * half_queue(scene);
        if scene.has_one_engine() && waiting > most {
            self.violation(format!("{waiting} requests wait, more than {most}"));
        }
    }

    /// Takes in a batch that the store has just made durable. `refused` are the places of changes that the store says it
    /// has left out, if it could say.
    pub fn applied(&mut self, store: &Memory, batch: &Batch, refused: Option<&[usize]>) {
        self.counts.batches += 1;
        let (landed, left_out) = self.ledger.apply(batch);
        if let Some(refused) = refused.filter(|refused| *refused != left_out) {
            self.violation(format!("the store left out {refused:?}, not {left_out:?} of {batch:?}"));
        }
        for landing in landed {
            if let Err(fault) = self.land(store, &landing) {
                self.violation(fault);
            }
        }
    }

    fn land(&mut self, store: &Memory, landing: &Landing<'_>) -> Result<(), Fault> {
        let Change { references, records, .. } = landing.change;
        let ([reference], [before]) = (references.as_slice(), landing.before.as_slice()) else {
            return Err(format!("a change of {} references", references.len()));
        };
        let request = reference.log.request.ok_or("a change that nobody asked for")?;
        let number = number_of(&request.key).ok_or("a key of no request")?;
        let asked = self.asked.get_mut(&number).ok_or_else(|| format!("request {number} was never sent"))?;
        let landed = Landed { at: self.ledger.applied, head: reference.new.map(|(_, head)| head) };
        if let Some(first) = asked.landed.replace(landed) {
            return Err(format!("request {number} has landed twice, first with batch {}", first.at));
        }
        if asked.refused {
            return Err(format!("request {number} has landed after it was refused"));
        }
        if asked.over {
            self.counts.unknown_landed += 1;
        }
        let ask = asked.ask.clone();
        if reference.name != *ask.reference() {
            return Err(format!("request {number} of {} has moved {}", ask.reference(), reference.name));
        }
        let wanted_records = if let Ask::Commit(request) = &ask { request.records.len() } else { 0 };
        if records.len() != wanted_records {
            return Err(format!("request {number} changed {} records, not {wanted_records}", records.len()));
        }
        let done = self.take_in(store, &ask, reference, *before, landing.change);
        done.map_err(|e| format!("request {number} on {before:?}: {e}\n{ask:?}"))
    }

    /// Compares what lands with what the model does on the same head.
    fn take_in(
        &mut self,
        store: &Memory,
        ask: &Ask,
        reference: &ReferenceChange,
        before: At,
        change: &Change,
    ) -> Result<(), Fault> {
        let head = before.map_or(CommitId::NO_ANCESTOR, |(_, head)| head);
        let made: Vec<CommitId> = change
            .objects
            .iter()
            .filter(|object| object.kind == ObjectKind::Commit)
            .map(|object| CommitId::new(object.id))
            .collect();
        let expected_head = |new: Option<CommitId>| {
            let found = reference.new.map(|(_, head)| head);
            if found == new { Ok(()) } else { Err(format!("it moves to {found:?}, not to {new:?}")) }
        };
        match ask {
            Ask::Commit(request) => {
                let planned = self.repo.commit_on(before, request);
                let planned = planned.or_else(|_| self.repo.commit_rebased_on(before, request));
                let planned = planned.map_err(|refusal| format!("the model refuses: {refusal:?}"))?;
                let [id] = made.as_slice() else { return Err(format!("it makes {made:?}")) };
                self.repo.land(store, *id, &[head], &planned)?;
                expected_head(Some(*id))
            }
            Ask::Merge(request) => {
                let [id] = made.as_slice() else { return Err(format!("it makes {made:?}")) };
                let mut faults = Vec::new();
                for answer in self.repo.merge_rebased_on(before, request) {
                    match answer.as_ref().map(|answer| answer.commits.as_slice()) {
                        Ok([planned]) => match self.repo.land(store, *id, &[head, request.from], planned) {
                            Ok(()) => return expected_head(Some(*id)),
                            Err(fault) => faults.push(fault),
                        },
                        _ => faults.push(format!("the model gives {answer:?}")),
                    }
                }
                Err(faults.join("; "))
            }
            Ask::Transplant(request) => {
                let answer = self.repo.transplant_on(before, request);
                let answer = answer.map_err(|refusal| format!("the model refuses: {refusal:?}"))?;
                if answer.commits.len() != made.len() || made.is_empty() {
                    return Err(format!("it makes {made:?}, the model {answer:?}"));
                }
                let mut on = head;
                for (id, planned) in made.iter().zip(&answer.commits) {
                    self.repo.land(store, *id, &[on], planned)?;
                    on = *id;
                }
                expected_head(Some(on))
            }
            Ask::Create(_, _, target) => {
                if before.is_some() {
                    return Err("it was there".into());
                }
                expected_head(Some(*target))
            }
            Ask::Assign(_, expected, target) => {
                if before.is_none() || head != *expected {
                    return Err("it was elsewhere".into());
                }
                expected_head(Some(*target))
            }
            Ask::Delete(_, expected) => {
                if before.is_none() || head != *expected {
                    return Err("it was elsewhere".into());
                }
                expected_head(None)
            }
        }
    }

    /// Takes in an answer; `None` when the server went away.
    pub fn answer(&mut self, number: u64, told: Option<Result<Told, Error>>, scene: &Scene) {
        let Some(asked) = self.asked.get_mut(&number) else { return };
        asked.over = true;
        let (landed, since, asks, asked_at) = (asked.landed, asked.since, asked.asks, asked.asked_at);
        let may_be_busy = asked.lapses || asked.most_waiting > half_queue(scene);
        let ask = asked.ask.clone();
        let result = match told {
            None => {
                self.counts.unknown += 1;
                self.counts.unknown_landed += u64::from(landed.is_some());
                Ok(())
            }
            Some(Ok(told)) => {
                self.counts.acknowledged += 1;
                let fair = fair(asks, asked_at, landed, scene);
                fair.and_then(|()| self.acknowledged(&ask, since, landed, &told))
                    .map_err(|e| format!("{e}\ntold {told:?}"))
            }
            Some(Err(error)) => self.failed(number, &ask, since, landed, &error, may_be_busy),
        };
        if let Err(fault) = result {
            self.violation(format!("request {number}: {fault}\n{ask:?}"));
        }
    }

    fn acknowledged(&self, ask: &Ask, since: u64, landed: Option<Landed>, told: &Told) -> Result<(), Fault> {
        if let (Ask::Merge(_) | Ask::Transplant(_), Told::Merged(outcome)) = (ask, told)
            && !outcome.applied
        {
            return match landed {
                Some(_) => Err("it has landed, but the answer says that nothing was applied".into()),
                None => self.justified(ask, since, &|answer| {
                    answer.as_ref().is_ok_and(|answer| same_outcome(outcome, answer))
                }),
            };
        }
        let landed = landed.ok_or("acknowledged and not there")?;
        let head = match (ask, told) {
            (Ask::Commit(_), Told::Committed(committed)) => Some(committed.head),
            (Ask::Merge(_) | Ask::Transplant(_), Told::Merged(outcome)) => outcome.result,
            (Ask::Create(..), Told::Created(reference)) => Some(reference.target),
            (Ask::Assign(_, _, target), Told::Moved(_)) => Some(*target),
            (Ask::Delete(..), Told::Moved(_)) => None,
            _ => return Err("an answer to something else".into()),
        };
        if let Ask::Create(name, ..) = ask {
            // It may have been moved already when it was read for the answer.
            let later = self.ledger.positions_since(name, landed.at.saturating_sub(1));
            let seen = later.iter().any(|at| at.is_some_and(|(_, target)| Some(target) == head));
            return if seen { Ok(()) } else { Err("it was never there".into()) };
        }
        if landed.head == head { Ok(()) } else { Err(format!("it landed as {:?}", landed.head)) }
    }

    fn failed(
        &mut self,
        number: u64,
        ask: &Ask,
        since: u64,
        landed: Option<Landed>,
        error: &Error,
        may_be_busy: bool,
    ) -> Result<(), Fault> {
        let certain = !matches!(error, Error::Store(StoreError::Unknown(_) | StoreError::Read(_)));
        if !certain {
            self.counts.unknown += 1;
            self.counts.unknown_landed += u64::from(landed.is_some());
            return Ok(());
        }
        if let Some(landed) = landed {
            return Err(format!("refused with {error:?}, but it landed with batch {}", landed.at));
        }
        if let Some(asked) = self.asked.get_mut(&number) {
            asked.refused = true;
        }
        match error {
            Error::Store(StoreError::WritesRefused(_) | StoreError::Full(_)) => {
                self.counts.busy += 1;
                Ok(())
            }
            Error::Busy { .. } => {
                self.counts.busy += 1;
                if may_be_busy { Ok(()) } else { Err("told to come back although there was room".into()) }
            }
            error => {
                self.counts.refused += 1;
                let refusal = answers::refusal(error).ok_or_else(|| format!("failed with {error:?}"))?;
                self.refused(ask, since, &refusal).map_err(|e| format!("{error:?}: {e}"))
            }
        }
    }

    /// A refusal must be what the model says on some head between request and answer.
    fn refused(&self, ask: &Ask, since: u64, refusal: &Refusal) -> Result<(), Fault> {
        if let (Ask::Commit(request), Refusal::RecordChanged) = (ask, refusal) {
            let failed = |requirement: &Requirement| match requirement {
                Requirement::Record(space, key, expected) => {
                    self.ledger.record_failed_since(*space, key, *expected, since)
                }
                Requirement::Reference(..) => false,
            };
            let changed = request.records.iter().any(|record| {
                self.ledger.record_failed_since(record.space, &record.key, record.expected, since)
            });
            let real = changed || request.requires.iter().any(failed);
            return if real { Ok(()) } else { Err("no record had changed".into()) };
        }
        self.justified(ask, since, &|answer| answer.as_ref().err() == Some(refusal))
    }

    /// Whether the model gives a fitting answer on some head that the reference had from `since` on.
    fn justified(
        &self,
        ask: &Ask,
        since: u64,
        fits: &dyn Fn(&Result<Answer, Refusal>) -> bool,
    ) -> Result<(), Fault> {
        let mut given = Vec::new();
        for at in self.ledger.positions_since(ask.reference(), since) {
            let answers: Vec<Result<Answer, Refusal>> = match ask {
                Ask::Commit(request) => {
                    vec![self.repo.commit_on(at, request).map(|planned| Answer {
                        commits: vec![planned],
                        successful: true,
                        details: Default::default(),
                        system_conflicts: Default::default(),
                    })]
                }
                Ask::Merge(request) => vec![self.repo.merge_on(at, request).1],
                Ask::Transplant(request) => vec![self.repo.transplant_on(at, request)],
                Ask::Create(_, _, target) => refusals_of_move(at, None, *target, &self.repo),
                Ask::Assign(_, expected, target) => {
                    refusals_of_move(at, Some(*expected), *target, &self.repo)
                }
                Ask::Delete(_, expected) => {
                    refusals_of_move(at, Some(*expected), CommitId::NO_ANCESTOR, &self.repo)
                }
            };
            if answers.iter().any(fits) {
                return Ok(());
            }
            given.push((at, answers));
        }
        Err(format!("the model gives {given:?}"))
    }
}

/// Whether a request was planned no more often than it may be, and has landed within the batches that everybody else's turns
/// can take once it stood in the queue. While it is planned others may land, as many as the reads of the plan leave time for.
fn fair(asks: u64, asked_at: u64, landed: Option<Landed>, scene: &Scene) -> Result<(), Fault> {
    let Some(landed) = landed.filter(|_| scene.has_one_engine()) else { return Ok(()) };
    if asks > ASKS_MAX {
        return Err(format!("it was asked {asks} times whether it is still wanted, more than {ASKS_MAX}"));
    }
    // A change of a reference as such ends its turn in a batch, so each of the others may cost one.
    let turns = scene.clients * NAMES.len() as u64;
    let most = scene.clients + turns.div_ceil(scene.options.group_max as u64) + 3;
    let waited = landed.at.saturating_sub(asked_at);
    if waited > most { Err(format!("it waited for {waited} batches, more than {most}")) } else { Ok(()) }
}

/// The refusals of a create (`expected` none) or a move of a reference that is at `at`.
fn refusals_of_move(
    at: At,
    expected: Option<CommitId>,
    target: CommitId,
    repo: &Repo,
) -> Vec<Result<Answer, Refusal>> {
    let mut refusals = Vec::new();
    match (expected, at) {
        (None, Some(_)) => refusals.push(Err(Refusal::Exists)),
        (Some(_), None) => refusals.push(Err(Refusal::NoReference)),
        (Some(expected), Some((_, head))) if head != expected => refusals.push(Err(Refusal::UnexpectedHash)),
        _ => {}
    }
    if !repo.graph.is_known(target) {
        refusals.push(Err(Refusal::NoCommit));
    }
    refusals
}

/// Whether an outcome that applied nothing says what the model says.
fn same_outcome(outcome: &Outcome, answer: &Answer) -> bool {
    answer.commits.is_empty()
        && outcome.successful == answer.successful
        && answers::details(outcome) == answer.details
        && answers::system_conflicts(outcome).is_ok_and(|paths| paths == answer.system_conflicts)
}
