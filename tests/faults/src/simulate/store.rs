//! The simulated disk: the memory store with waits, failures and unknown outcomes, all by a seed.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::memory::{Failure, Memory};
use lochan_storage_odb::{
    Batch, DerivedSpace, DerivedWrite, Outcome, Record, RecordSpace, RefLogEntry, Reference, Store,
    StoreError, Writes,
};

use super::executor::{Executor, locked};
use super::faults::{Faults, Plant, STALL_US, Scene};
use super::world::World;
use crate::rng::Rng;

/// The store of all engines of one run.
pub struct Disk {
    memory: Arc<Memory>,
    executor: Executor,
    world: Arc<Mutex<World>>,
    scene: Scene,
    faults: Faults,
    state: Mutex<State>,
}

struct State {
    rng: Rng,
    /// Whether failures are still allowed to happen.
    failing: bool,
    armed: Option<Failure>,
    /// A batch that shows after the next restart.
    behind: Option<Batch>,
}

impl Disk {
    /// An empty disk.
    pub fn new(executor: Executor, world: Arc<Mutex<World>>, scene: Scene) -> Self {
        let rng = Rng::part(scene.seed, 2, 0);
        let faults = scene.faults;
        let state = State { rng, failing: true, armed: None, behind: None };
        Self { memory: Arc::new(Memory::new()), executor, world, scene, faults, state: Mutex::new(state) }
    }

    /// What is stored.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Whether anything may fail from now on.
    pub fn fail(&self, failing: bool) {
        locked(&self.state).failing = failing;
    }

    /// Whether the store takes writes.
    pub fn takes_writes(&self) -> bool {
        self.memory.writes() == Writes::Allowed
    }

    /// Opens the store again after a failure, or after a power cut that takes derived rows along.
    pub fn restart(&self, power_cut: bool) {
        let mut state = locked(&self.state);
        if power_cut {
            let keep = state.rng.below(self.memory.unsynced_len() as u64 + 1);
            self.memory.power_cut(usize::try_from(keep).unwrap_or(0));
        } else {
            self.memory.restart();
        }
        state.armed = None;
        if let Some(batch) = state.behind.take() {
            locked(&self.world).applied(&self.memory, &batch, None);
        }
    }

    fn chance(&self, one_in: u64) -> bool {
        let mut state = locked(&self.state);
        state.failing && one_in > 0 && state.rng.below(one_in) == 0
    }

    fn number(&self, below: u64) -> u64 {
        locked(&self.state).rng.below(below)
    }

    async fn wait(&self, us_max: u64) {
        let us = self.number(us_max + 1);
        self.executor.sleep(us).await;
    }

    async fn read(&self) -> Result<(), StoreError> {
        self.wait(self.faults.read_us_max).await;
        if self.chance(self.faults.read_fails_one_in) {
            return Err(StoreError::Read("injected".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl Store for Disk {
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        self.read().await?;
        self.memory.object(kind, id).await
    }

    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        self.read().await?;
        self.memory.reference(name).await
    }

    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError> {
        self.read().await?;
        self.memory.references(after, limit).await
    }

    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        self.read().await?;
        self.memory.record(space, key).await
    }

    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        self.read().await?;
        self.memory.records(space, after, limit).await
    }

    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        self.read().await?;
        self.memory.ref_log(name, before, limit).await
    }

    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError> {
        self.read().await?;
        self.memory.ref_log_names(after, limit).await
    }

    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        self.read().await?;
        self.memory.request(key).await
    }

    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.read().await?;
        self.memory.derived(space, key).await
    }

    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        self.read().await?;
        self.memory.derived_scan(space, prefix, from, reverse, limit).await
    }

    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError> {
        self.wait(self.faults.write_us_max).await;
        self.memory.put_derived(rows).await
    }

    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError> {
        self.wait(self.faults.write_us_max).await;
        if self.chance(self.faults.full_one_in) {
            if self.faults.plant == Plant::AppliedThoughFull {
                self.memory.commit(batch).await?;
            }
            return Err(StoreError::Full("injected".into()));
        }
        if self.chance(self.faults.fails_one_in) {
            let kind = if self.number(2) == 0 { Failure::UnknownLost } else { Failure::UnknownApplied };
            locked(&self.state).armed = Some(kind);
            self.memory.fail_next_commit(kind);
        }
        if self.faults.plant == Plant::AcknowledgedLost && self.number(40) == 0 {
            return Ok(Outcome::default());
        }
        // Applied and told of in one go: nobody else's turn comes in between.
        let result = self.memory.commit(batch.clone()).await;
        match &result {
            Ok(outcome) => {
                let refused: Vec<usize> = outcome.refused.iter().map(|refusal| refusal.change).collect();
                locked(&self.world).applied(&self.memory, &batch, Some(&refused));
            }
            Err(StoreError::Unknown(_)) => {
                let mut state = locked(&self.state);
                locked(&self.world).counts.failures += 1;
                if state.armed.take() == Some(Failure::UnknownApplied) {
                    state.behind = Some(batch);
                }
            }
            Err(_) => {}
        }
        if self.chance(self.faults.stalls_one_in) {
            let half = self.executor.now_us() + STALL_US / 2;
            self.executor.sleep(STALL_US).await;
            locked(&self.world).stalled(half, &self.scene);
        }
        self.wait(self.faults.write_us_max).await;
        result
    }

    fn writes(&self) -> Writes {
        self.memory.writes()
    }
}
