//! The thread that runs the machine.

use std::{panic::AssertUnwindSafe, sync::Arc, thread, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use lochan_storage_model::{CommitId, Micros, RefName};
use lochan_storage_odb::{Store, StoreError, WRITER_POINT};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use super::{Admission, Job, Machine, Reply, Verdict, store_checkpoint};
use crate::{
    error::Error,
    state::{Core, Head, Saved},
};

/// When a caller shall come back to a full queue.
pub(crate) const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

enum Message {
    Job(Job),
    Cut(oneshot::Sender<Micros>),
    Stop(oneshot::Sender<()>),
}

struct Checkpointed {
    name: RefName,
    commit: CommitId,
    saved: Option<Saved>,
}

/// Where the engine's tasks run: the tokio runtime, or a test's own executor that decides whose turn it is.
pub trait Spawn: Send + Sync {
    /// Runs a task to its end beside the caller.
    fn spawn(&self, task: BoxFuture<'static, ()>);
}

impl Spawn for Handle {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        Self::spawn(self, task);
    }
}

/// Hands jobs to the writer's thread or task.
#[derive(Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Message>,
    store: Arc<dyn Store>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(core: Arc<Core>) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(half_queue(&core));
        let store = Arc::clone(&core.store);
        let runtime = Handle::current();
        // A thread of its own: a batch blocks on its sync, and nothing else shall wait for that.
        thread::Builder::new()
            .name("lochan-writer".into())
            .spawn(move || runtime.clone().block_on(run(core, queue, Arc::new(runtime))))
            .map_err(|error| Error::corrupt("writer", format!("its thread cannot be started: {error}")))?;
        Ok(Self { jobs, store })
    }

    /// Starts the writer as a task of `spawn`, beside its checkpoints.
    pub(crate) fn start_on(core: Arc<Core>, spawn: Arc<dyn Spawn>) -> Self {
        let (jobs, queue) = mpsc::channel(half_queue(&core));
        let store = Arc::clone(&core.store);
        spawn.clone().spawn(Box::pin(run(core, queue, spawn)));
        Self { jobs, store }
    }

    /// Queues a job, which admits it, and waits for its verdict. A full queue is [`Error::Busy`], like a job that is not
    /// wanted any more, and nothing is admitted; so is any while the store does not answer. Should it stop answering
    /// later, the outcome is [`StoreError::Unknown`]: the job may still be done when it answers again.
    pub(crate) async fn ask(
        &self,
        admission: &Admission,
        job: impl FnOnce(Reply) -> Job,
    ) -> Result<Verdict, Error> {
        admission.check()?;
        let mut stalled = self.store.stalled();
        if let Some(why) = (&mut stalled).now_or_never() {
            return Err(Error::Store(StoreError::WritesRefused(why)));
        }
        let (reply, verdict) = oneshot::channel();
        tracing::trace!(target: WRITER_POINT, "asked");
        self.jobs.try_send(Message::Job(job(reply))).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Busy { retry_after: BUSY_RETRY_AFTER },
            mpsc::error::TrySendError::Closed(_) => Error::Stopping,
        })?;
        // The writer answers every job it has taken; it can only vanish with the process or a bug.
        tokio::select! {
            biased;
            verdict = verdict => verdict.unwrap_or_else(|_| {
                let gone = "the writer ended before it answered".to_owned();
                Err(Error::Store(StoreError::Unknown(gone)))
            }),
            why = stalled => Err(Error::Store(StoreError::Unknown(why))),
        }
    }

    /// A moment that every change up to now lies at or before, durable, and every later one behind.
    pub(crate) async fn cut(&self) -> Result<Micros, Error> {
        let (told, cut) = oneshot::channel();
        self.jobs.try_send(Message::Cut(told)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Busy { retry_after: BUSY_RETRY_AFTER },
            mpsc::error::TrySendError::Closed(_) => Error::Stopping,
        })?;
        cut.await.map_err(|_| Error::Stopping)
    }

    /// Waits, no longer than `within`, until the writer has done what was admitted and has ended.
    pub(crate) async fn stop(&self, within: Duration) {
        let (done, ended) = oneshot::channel();
        if self.jobs.send(Message::Stop(done)).await.is_ok()
            && tokio::time::timeout(within, ended).await.is_err()
        {
            tracing::warn!(waited_ms = within.as_millis() as u64, "the writer did not end in time");
        }
    }
}

async fn run(core: Arc<Core>, mut queue: mpsc::Receiver<Message>, spawn: Arc<dyn Spawn>) {
    let mut machine = Machine::new(core.clone());
    let (told, mut checkpoints) = mpsc::unbounded_channel();
    let mut stop = None;
    loop {
        if machine.waiting() == 0 && stop.is_none() {
            tokio::select! {
                biased;
                message = queue.recv() => match message {
                    Some(message) => take(&mut machine, &mut stop, message),
                    None => break,
                },
                Some(done) = checkpoints.recv() => note(&mut machine, done),
            }
        }
        while machine.waiting() < half_queue(&core) {
            match queue.try_recv() {
                Ok(message) => take(&mut machine, &mut stop, message),
                Err(_) => break,
            }
        }
        while machine.must_wait() {
            match checkpoints.recv().await {
                Some(done) => note(&mut machine, done),
                None => break,
            }
        }
        while let Ok(done) = checkpoints.try_recv() {
            note(&mut machine, done);
        }
        let mut prepared = machine.prepare().await;
        if !prepared.is_empty() {
            tracing::trace!(target: WRITER_POINT, "prepared");
            let outcome = core.store.commit(std::mem::take(&mut prepared.batch)).await;
            tracing::trace!(target: WRITER_POINT, "committed");
            if let Err(error) = &outcome {
                tracing::error!(error = %error, "a batch was not written");
            }
            machine.settle(prepared, outcome).await;
            tracing::trace!(target: WRITER_POINT, "answered");
            for (name, head) in machine.due_checkpoints() {
                spawn.spawn(Box::pin(checkpoint(core.clone(), name, head, told.clone())));
            }
        }
        if machine.waiting() == 0 && stop.is_some() {
            queue.close();
            match queue.recv().await {
                Some(message) => take(&mut machine, &mut stop, message),
                None => break,
            }
        }
    }
    for head in machine.all_unsaved() {
        if let Err(error) = store_checkpoint(&core, head.reference.target, &head.tree).await {
            tracing::warn!(reference = %head.reference.name, error = %error, "no checkpoint at the stop");
        }
    }
    // Whoever hears of the end may open the store again at once.
    drop(machine);
    drop(core);
    if let Some(done) = stop {
        let _ = done.send(());
    }
}

/// Half of the jobs that may wait: as many in the channel, as many in the lanes, where branches take turns.
fn half_queue(core: &Core) -> usize {
    (core.options.queue_max / 2).max(1)
}

fn take(machine: &mut Machine, stop: &mut Option<oneshot::Sender<()>>, message: Message) {
    match message {
        Message::Job(job) => machine.admit(job),
        // Whoever asked may have gone.
        Message::Cut(told) => drop(told.send(machine.cut())),
        Message::Stop(done) => *stop = Some(done),
    }
}

fn note(machine: &mut Machine, done: Checkpointed) {
    machine.checkpointed(&done.name, done.commit, done.saved);
}

async fn checkpoint(core: Arc<Core>, name: RefName, head: Head, told: mpsc::UnboundedSender<Checkpointed>) {
    let commit = head.reference.target;
    // The writer may wait for this one, so it is told whatever happens here; a panic was reported where it happened.
    let saved = AssertUnwindSafe(store_checkpoint(&core, commit, &head.tree)).catch_unwind().await;
    let saved = match saved {
        Ok(Ok(saved)) => Some(saved),
        Ok(Err(error)) => {
            tracing::warn!(reference = %name, error = %error, "a checkpoint was not stored");
            None
        }
        Err(_) => None,
    };
    // The writer may have ended meanwhile; then nobody needs to know.
    let _ = told.send(Checkpointed { name, commit, saved });
}
