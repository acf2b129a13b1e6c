//! One run: its tasks, what is done to them, and its end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures::future::join_all;
use lochan_storage_engine::Engine;
use lochan_storage_engine::writer::Who;
use lochan_storage_model::CommitId;
use lochan_storage_odb::{RefKind, RequestKey};

use super::client::{self, Client};
use super::executor::{Executor, Process, locked};
use super::faults::Scene;
use super::finish;
use super::server::Servers;
use super::store::Disk;
use super::world::{Ask, Counts, Told, World, key_of};
use crate::model::answers::Fault;
use crate::rng::Rng;

/// Clients and whatever else is no server.
pub const OUTSIDE: Process = Process(0);
/// Longest time a store stays closed after a failure, in microseconds.
const CLOSED_US_MAX: u64 = 5_000;
/// Most that a clock is set wrong, in microseconds.
const CLOCK_OFF_US_MAX: u64 = 10_000_000;

/// Runs the scene of a seed.
pub fn seed(seed: u64) -> Result<Counts, Fault> {
    scene(&Scene::of(seed)).map(|(counts, _)| counts)
}

/// Everything of a run.
#[derive(Clone)]
pub struct Run {
    /// The executor, which is time.
    pub executor: Executor,
    /// What is known.
    pub world: Arc<Mutex<World>>,
    /// The disk.
    pub disk: Arc<Disk>,
    /// The servers.
    pub servers: Arc<Servers>,
    /// What the run looks like.
    pub scene: Scene,
}

/// Runs a scene; returns what happened and the trace of all choices.
pub fn scene(scene: &Scene) -> Result<(Counts, u64), Fault> {
    let executor = Executor::new(scene.seed);
    let world = Arc::new(Mutex::new(World::default()));
    let disk = Arc::new(Disk::new(executor.clone(), Arc::clone(&world), scene.clone()));
    let servers = Servers::start(executor.clone(), Arc::clone(&disk), scene.clone());
    let run = Run { executor: executor.clone(), world, disk, servers, scene: scene.clone() };
    let finished = executor.run(OUTSIDE, whole(run.clone())).map_err(|e| e.to_string());
    executor.end();
    let world = run.world();
    if let Some(first) = world.violations.first() {
        let more = world.violations.len() - 1;
        return Err(format!("{first}\n({more} more)\n{scene:?}"));
    }
    finished.and_then(|ended| ended).map_err(|fault| format!("at the end: {fault}\n{scene:?}"))?;
    Ok((world.counts, executor.trace()))
}

async fn whole(run: Run) -> Result<(), Fault> {
    run.begin().await;
    let over = Arc::new(AtomicBool::new(false));
    let chaos = run.executor.start(OUTSIDE, run.clone().chaos(Arc::clone(&over)));
    let clients = (0..run.scene.clients).map(|number| {
        let client = Client {
            rng: Rng::part(run.scene.seed, number, 4),
            servers: Arc::clone(&run.servers),
            world: Arc::clone(&run.world),
            executor: run.executor.clone(),
            scene: run.scene.clone(),
        };
        run.executor.start(OUTSIDE, client.run())
    });
    join_all(clients.collect::<Vec<_>>()).await;
    over.store(true, Ordering::Relaxed);
    chaos.await;
    finish::check(&run).await
}

impl Run {
    /// What is known.
    pub fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    /// Who sends a request.
    pub fn who(number: u64) -> Who {
        let request = Some(RequestKey { key: key_of(number), fingerprint: key_of(0) });
        Who { request, ..Who::default() }
    }

    /// The default branch, made before anything fails.
    async fn begin(&self) {
        let main = client::name("main");
        self.disk.fail(false);
        let number = self.world().next_number();
        let none = CommitId::NO_ANCESTOR;
        self.world().send(number, Ask::Create(main.clone(), RefKind::Branch, none), 0, 0, false);
        let who = Self::who(number);
        let create = async move |engine: Engine| {
            engine.create_reference(&main, RefKind::Branch, none, who).await.map(Told::Created)
        };
        let told = self.servers.call(0, create).await;
        self.world().answer(number, told, &self.scene);
        self.disk.fail(true);
    }

    /// Kills and opens servers, reopens the store after failures, cuts the power, sets clocks wrong.
    async fn chaos(self, over: Arc<AtomicBool>) {
        let Self { executor, disk, servers, scene, .. } = &self;
        let mut rng = Rng::part(scene.seed, 0, 5);
        let quiet = scene.faults.chaos_us_max == 0;
        let between = if quiet { CLOSED_US_MAX } else { scene.faults.chaos_us_max };
        while !over.load(Ordering::Relaxed) {
            executor.sleep(1 + rng.below(between)).await;
            if !disk.takes_writes() && rng.below(2) == 0 {
                // The servers live on: the store is opened anew below them.
                disk.restart(false);
            }
            if quiet {
                continue;
            }
            let number = usize::try_from(rng.below(servers.len() as u64)).unwrap_or(0);
            match rng.below(6) {
                0 | 1 => {
                    servers.kill(number);
                    self.world().counts.kills += 1;
                }
                2 => servers.stop(number),
                3 => {
                    (0..servers.len()).for_each(|number| servers.kill(number));
                    self.world().counts.kills += 1;
                    disk.restart(true);
                }
                4 => {
                    let off = i64::try_from(rng.below(CLOCK_OFF_US_MAX)).unwrap_or(0);
                    servers.set_clock(number, if rng.below(2) == 0 { off } else { -off });
                }
                _ => {}
            }
            executor.sleep(rng.below(CLOSED_US_MAX)).await;
            (0..servers.len()).for_each(|number| servers.open(number));
        }
    }
}
