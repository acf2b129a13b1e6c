//! Engines as processes that can be killed, and calls to them.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use futures::channel::oneshot;
use lochan_storage_engine::Engine;
use lochan_storage_model::{Clock, Micros};
use lochan_storage_odb::Store;

use super::chance::Chance;
use super::executor::{Executor, Process, locked};
use super::faults::Scene;
use super::store::Disk;
use crate::model::generate;
use crate::rng::Rng;

/// Time at which every run begins, in microseconds.
const BEGIN_US: i64 = 1_700_000_000_000_000;

/// Clock of one server, which may go wrong.
struct Wrong {
    executor: Executor,
    off_us: Arc<AtomicI64>,
}

impl Clock for Wrong {
    fn now(&self) -> Micros {
        let since = i64::try_from(self.executor.now_us()).unwrap_or(i64::MAX);
        BEGIN_US + since + self.off_us.load(Ordering::Relaxed)
    }
}

/// All servers of a run.
pub struct Servers {
    executor: Executor,
    disk: Arc<Disk>,
    scene: Scene,
    slots: Mutex<Vec<Slot>>,
    next_process: Mutex<u32>,
}

struct Slot {
    engine: Option<Engine>,
    process: Process,
    off_us: Arc<AtomicI64>,
}

impl Servers {
    /// Starts all of them.
    pub fn start(executor: Executor, disk: Arc<Disk>, scene: Scene) -> Arc<Self> {
        let slot = |_| Slot { engine: None, process: Process(0), off_us: Arc::default() };
        let slots = Mutex::new((0..scene.servers).map(slot).collect());
        let servers = Self { executor, disk, scene, slots, next_process: Mutex::new(10) };
        for number in 0..servers.scene.servers {
            servers.open(number);
        }
        Arc::new(servers)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.scene.servers
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts a server that is down.
    pub fn open(&self, number: usize) {
        let process = {
            let mut next = locked(&self.next_process);
            *next += 1;
            Process(*next)
        };
        let mut slots = locked(&self.slots);
        let Some(slot) = slots.get_mut(number).filter(|slot| slot.engine.is_none()) else { return };
        let store: Arc<dyn Store> = self.disk.clone();
        let clock = Arc::new(Wrong { executor: self.executor.clone(), off_us: Arc::clone(&slot.off_us) });
        let rng = Rng::part(self.scene.seed, u64::from(process.0), 3);
        let options = self.scene.options.clone();
        let spawn = self.executor.spawner(process);
        let chance = Arc::new(Chance::new(rng));
        slot.engine = Some(Engine::start_on(store, clock, chance, generate::rules(), options, spawn));
        slot.process = process;
    }

    /// Kills a server wherever it is.
    pub fn kill(&self, number: usize) {
        let taken = {
            let mut slots = locked(&self.slots);
            slots.get_mut(number).and_then(|slot| Some((slot.engine.take()?, slot.process)))
        };
        let Some((engine, process)) = taken else { return };
        self.executor.kill(process);
        drop(engine);
    }

    /// Lets a server end in order: it does what it has taken.
    pub fn stop(&self, number: usize) {
        let engine = locked(&self.slots).get_mut(number).and_then(|slot| slot.engine.take());
        drop(engine);
    }

    /// Sets a clock wrong by so much.
    pub fn set_clock(&self, number: usize, off_us: i64) {
        if let Some(slot) = locked(&self.slots).get(number) {
            slot.off_us.store(off_us, Ordering::Relaxed);
        }
    }

    /// Runs a call within a server; `None` when it is down or killed meanwhile.
    pub async fn call<T, F>(&self, number: usize, call: impl FnOnce(Engine) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (engine, process) = {
            let slots = locked(&self.slots);
            let slot = slots.get(number)?;
            (slot.engine.clone()?, slot.process)
        };
        let (tell, told) = oneshot::channel();
        let work = call(engine);
        self.executor.spawn(process, async move {
            let _ = tell.send(work.await);
        });
        told.await.ok()
    }
}
