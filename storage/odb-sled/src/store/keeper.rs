//! Keeps the engine open: after a failure it closes it, makes sure of what is on disk, and opens it anew.
//!
//! ```text
//!            a write or sync fails            the disk takes a probe           opened, and it shows
//!  serving ───────────────────────► suspended ───────────────────────► closed ─────────────────────► serving
//!                                    ▲  │ reads: the old engine,        │ ▲   what was acknowledged
//!                                    └──┘ which shows what was          └─┘ reads wait, then fail
//!                              the disk refuses   durable before    it cannot be opened
//! ```
//!
//! Nobody waits for the engine under a lock of ours: whoever uses a session holds it by itself, and the session is closed
//! once the last one has left. A write of the engine that fails in a thread of its own may wake nobody, so whoever waits
//! inside is woken from here again and again. Where a write does not come back all the same, since the disk does not answer
//! or the engine has lost a thread, the session stays open for reads, and writes stay refused.
//!
//! In every state but the first, writes are refused with the first cause. Nothing written since the last good sync is
//! trusted: after a failed sync the system may call pages clean that never reached the disk. So the descriptor of our own
//! sync, which was opened before the first write and reports the failure once, must sync without an error again, then the
//! system is told to drop its pages of the file, and the engine reads the disk itself when it opens. What the engine finds
//! is compared with everything acknowledged that is still known in memory; where it differs, writes stay refused.

use std::{
    fs::File,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, mpsc},
    time::{Duration, Instant},
};

use lochan_storage_odb::{StoreError, Writes};
use tokio::sync::watch;

use super::{
    check::Trust,
    session::{How, Promise, Session},
};
use crate::{
    bell::Bell,
    config::{Durability, SledConfig},
    folder::Folder,
    journal,
    space::Space,
    sync::Syncer,
    tear,
    trouble::{Awake, Cause, Trouble},
};

/// Pauses between attempts to go on, doubling from the first to the last.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Longest wait of a read for an engine that is opened anew.
const READ_WAIT_MAX: Duration = Duration::from_secs(5);
/// How often an engine is looked at that nobody uses.
const WATCH_PAUSE: Duration = Duration::from_millis(250);
/// Longest time that a write may be under way before nobody waits for it any more.
pub(super) const ANSWER_WAIT_MAX: Duration = Duration::from_secs(10);
/// Longest wait for those who use a session to leave it, and then for the threads of its engine to end.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(5);
/// Pause between two looks whether they have left.
const CLOSE_PAUSE: Duration = Duration::from_millis(1);
/// File that is written, synced and removed to see whether the disk takes writes again.
const PROBE: &str = "PROBE";
/// Its size, in bytes.
const PROBE_BYTES: usize = 1024 * 1024;

/// The engine of one folder, whichever session of it is open.
pub(super) struct Keeper {
    current: RwLock<Current>,
    syncer: Arc<dyn Syncer>,
    /// The engine's main file, opened before the first write and kept.
    main: File,
    journal: journal::Files,
    how: How,
    /// Longest time that a write may be under way.
    answer_wait: Duration,
    space: Space,
    pub(super) bell: Arc<Bell>,
    /// Why nobody shall wait any more for the write under way.
    stall: watch::Sender<Option<String>>,
    /// The old session, while it is left and its engine's threads end.
    closing: Mutex<Option<mpsc::Receiver<()>>>,
    /// Holds the lock; last, so that the engine is closed before another process may come.
    pub(super) folder: Arc<Folder>,
}

pub(super) enum Current {
    /// Serving, or suspended if the session has a trouble.
    Open(Arc<Session>),
    Closed {
        /// The failure that began it.
        first: Cause,
        /// Why reads fail.
        why: String,
        promise: Arc<Promise>,
    },
}

impl Keeper {
    /// Opens the first session. `main` is the engine's main file; nobody waits longer than `answer_wait` for a write.
    pub(super) fn open(
        folder: Folder,
        config: &SledConfig,
        main: File,
        trust: Trust,
        answer_wait: Duration,
        syncer: impl FnOnce(File, &Path) -> Box<dyn Syncer>,
    ) -> Result<Self, StoreError> {
        let how = How {
            cache_bytes: config.cache_bytes,
            replay_bytes: config.replay_bytes,
            reserve_bytes: config.reserve_bytes,
            trust,
            is_durable: config.durability == Durability::Fsync,
        };
        let engine = folder.engine();
        let own = main
            .try_clone()
            .map_err(|error| StoreError::Open(format!("cannot keep a descriptor: {error}")))?;
        let syncer: Arc<dyn Syncer> = Arc::from(syncer(own, &engine));
        let bell = Arc::new(Bell::default());
        let journal = folder.journal(trust == Trust::Nothing)?;
        let folder = Arc::new(folder);
        let open = || {
            let trouble = Arc::new(Trouble::none(Arc::clone(&bell)));
            Session::open(&folder, how, Arc::clone(&syncer), &journal, trouble, 0)
        };
        let mut session = tear::open(&engine, trust == Trust::Marked, &open)?;
        if session.upgrade(&folder)? {
            drop(session);
            session = open()?;
        }
        Ok(Self {
            current: RwLock::new(Current::Open(Arc::new(session))),
            syncer,
            main,
            journal,
            how,
            answer_wait,
            space: Space::new(folder.path(), config.reserve_bytes),
            bell,
            stall: watch::Sender::new(None),
            closing: Mutex::new(None),
            folder,
        })
    }

    /// Reads from the open session. A read that fails because the engine has failed, or is closed, waits until the engine
    /// is open anew, but not for ever.
    pub(super) fn with<T>(&self, work: impl Fn(&Session) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let begun = Instant::now();
        loop {
            let (found, has_failed) = match self.session() {
                Ok(session) => (work(&session), session.has_failed()),
                Err(closed) => (Err(StoreError::Read(closed.why)), true),
            };
            match found {
                Err(StoreError::Read(_)) if has_failed && begun.elapsed() < READ_WAIT_MAX => {
                    std::thread::sleep(PAUSE_MIN);
                }
                found => return found,
            }
        }
    }

    /// Writes with the open session.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.session() {
            Ok(session) => work(&session),
            Err(closed) => Err(closed.first.refusal()),
        }
    }

    /// The open session, to be used and left; or why there is none.
    fn session(&self) -> Result<Arc<Session>, Closed> {
        match &*self.current() {
            Current::Open(session) => Ok(Arc::clone(session)),
            Current::Closed { first, why, .. } => Err(Closed { first: first.clone(), why: why.clone() }),
        }
    }

    /// Refuses when there is too little space to be sure that a batch fits.
    pub(super) fn check_space(&self) -> Result<(), StoreError> {
        self.space.check()
    }

    /// Whether a batch would be tried.
    pub(super) fn writes(&self) -> Writes {
        let cause = match &*self.current() {
            Current::Open(session) => session.trouble.cause().cloned(),
            Current::Closed { first, .. } => Some(first.clone()),
        };
        match (cause, self.check_space()) {
            (Some(cause), _) if cause.is_full => Writes::Full(cause.text),
            (Some(cause), _) => Writes::Refused(cause.text),
            (None, Err(StoreError::Full(told))) => Writes::Full(told),
            (None, _) => Writes::Allowed,
        }
    }

    /// Returns once nobody shall wait any more for the write under way.
    pub(super) async fn stalled(&self) -> String {
        let mut told = self.stall.subscribe();
        match told.wait_for(Option::is_some).await.map(|why| why.clone()) {
            Ok(Some(why)) => why,
            // The sender lives as long as this does.
            _ => std::future::pending().await,
        }
    }

    /// Why reads fail, if they do.
    pub(super) fn unreadable(&self) -> Option<String> {
        match &*self.current() {
            Current::Open(_) => None,
            Current::Closed { why, .. } => Some(why.clone()),
        }
    }

    /// Watches over the sessions until the bell tells the stop.
    pub(super) fn keep(&self) {
        let mut awake = Awake::from(Instant::now());
        loop {
            let rung = self.bell.wait(WATCH_PAUSE);
            if rung.stop {
                return;
            }
            if rung.rang {
                self.recover();
            } else {
                self.watch(awake.look(Instant::now(), self.answer_wait / 2));
            }
        }
    }

    /// Looks for a failure that no caller has met, and for a write that does not come back; `awake` is since when this process
    /// runs without a standstill.
    fn watch(&self, awake: Instant) {
        let Ok(session) = self.session() else { return };
        if !session.has_failed() && session.is_stuck(self.answer_wait, awake) {
            let cause = Cause::other(format!("a write has not been answered for {:?}", self.answer_wait));
            self.stall.send_replace(Some(session.trouble.tell(cause).text.clone()));
            // Whoever waits for rows to be taken in looks for a cause.
            session.table.pending.wake();
        }
    }

    /// Closes the session for good.
    pub(super) fn end(&self) {
        if let Err(Setback::Later(why) | Setback::Never(why)) = self.close() {
            tracing::warn!(why, "the store was not closed in order; only derived rows can be missing");
        }
    }

    /// Tries until writes are taken again, or cannot be without a person, or the store is closed.
    fn recover(&self) {
        let mut pause = PAUSE_MIN;
        loop {
            match self.attempt() {
                Ok(()) => return tracing::info!("the engine was opened anew; writes are taken again"),
                Err(Setback::Later(why)) => {
                    tracing::warn!(why, again_in_ms = pause.as_millis() as u64, "writes stay refused");
                }
                Err(Setback::Never(why)) => return tracing::error!(why, "writes stay refused"),
            }
            if self.bell.sleep(pause) {
                return;
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn attempt(&self) -> Result<(), Setback> {
        if let Ok(session) = self.session() {
            match session.trouble.cause() {
                None => return Ok(()),
                // It would read the same, and fail with the same batch.
                Some(cause) if cause.is_damage => return Err(Setback::Never(cause.text.clone())),
                Some(_) => {}
            }
        }
        self.probe()
            .map_err(|error| Setback::Later(format!("the disk does not take writes yet: {error}")))?;
        // From here on readers wait, unless this takes too long.
        self.close()?;
        self.settle().map_err(|error| Setback::Later(format!("the files cannot be synced: {error}")))?;
        let promise = match &*self.current() {
            Current::Closed { promise, .. } => Arc::clone(promise),
            Current::Open(_) => return Ok(()),
        };
        let trouble = Arc::new(Trouble::none(Arc::clone(&self.bell)));
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let session = Session::open(
                &self.folder,
                self.how,
                Arc::clone(&self.syncer),
                &self.journal,
                Arc::clone(&trouble),
                promise.batch,
            )?;
            let kept = session.keeps(&promise);
            Ok((session, kept))
        }));
        let opened = opened.unwrap_or_else(|_| Err(StoreError::Open("the engine panicked".into())));
        let (session, kept) = opened.map_err(|error: StoreError| Setback::Later(error.to_string()))?;
        let verdict = kept.map_err(|missing| {
            // Rings the bell once more; the next attempt ends here too, as long as nobody helps.
            let cause = format!("after a failure the disk does not hold what was acknowledged: {missing}");
            trouble.tell(Cause::other(cause.clone()));
            self.bell.wait(Duration::ZERO);
            Setback::Never(cause)
        });
        *self.current_mut() = Current::Open(Arc::new(session));
        verdict
    }

    /// Closes the session, keeping in mind what it had promised.
    fn close(&self) -> Result<(), Setback> {
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(session) = self.session() {
            // What a write under way has changed is a part of the promise. No further one begins.
            if !session.is_left_by_writers(CLOSE_WAIT_MAX, CLOSE_PAUSE) {
                return Err(Setback::Later("a write does not come back".into()));
            }
            let first = session.trouble.cause().cloned().unwrap_or_else(|| Cause::other("closed"));
            let why = format!("the engine is being opened anew after a failure: {}", first.text);
            self.stall.send_replace(None);
            let promise = Arc::new(session.promise());
            drop(session);
            let old = std::mem::replace(&mut *self.current_mut(), Current::Closed { first, why, promise });
            let (done, ended) = mpsc::channel();
            *closing = Some(ended);
            // On a thread of its own: at its end the engine waits for threads of its own, and panics if a sync fails.
            let ending = std::thread::Builder::new().name("lochan-closing".into()).spawn(move || {
                if let Current::Open(session) = old {
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(left_by_all(session))));
                }
                let _ = done.send(());
            });
            ending.map_err(|error| Setback::Later(format!("cannot start a thread: {error}")))?;
        }
        match closing.as_ref().map(|ended| ended.recv_timeout(CLOSE_WAIT_MAX)) {
            Some(Err(mpsc::RecvTimeoutError::Timeout)) => {
                Err(Setback::Later("the engine does not end".into()))
            }
            _ => {
                *closing = None;
                Ok(())
            }
        }
    }

    /// Writes and syncs a file, and syncs through the descriptor that is kept.
    fn probe(&self) -> io::Result<()> {
        let path = self.folder.path().join(PROBE);
        let written = (|| {
            let mut file = File::create(&path)?;
            file.write_all(&vec![0; PROBE_BYTES])?;
            file.sync_all()
        })();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => written.and(Err(error)),
            _ => written,
        }?;
        self.syncer.sync()
    }

    /// Makes the disk the only source of what the engine reads next. The descriptor reports a failure of the pages written
    /// while the engine ended; pages that are clean are then dropped.
    fn settle(&self) -> io::Result<()> {
        self.journal.settle()?;
        self.main.sync_all()?;
        rustix::fs::fadvise(&self.main, 0, None, rustix::fs::Advice::DontNeed).map_err(io::Error::from)
    }

    fn current(&self) -> RwLockReadGuard<'_, Current> {
        // Replaced as a whole, so a panic elsewhere cannot leave it half done.
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn current_mut(&self) -> RwLockWriteGuard<'_, Current> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until nobody else uses a session. Whoever waits inside for a write that has failed is woken.
fn left_by_all(mut session: Arc<Session>) -> Session {
    loop {
        match Arc::try_unwrap(session) {
            Ok(session) => return session,
            Err(used) => session = used,
        }
        session.sink.engine.wake();
        std::thread::sleep(CLOSE_PAUSE);
    }
}

/// That there is no session.
struct Closed {
    /// The failure that began it.
    first: Cause,
    /// Why reads fail.
    why: String,
}

/// Why an attempt to go on has not succeeded.
enum Setback {
    Later(String),
    Never(String),
}
