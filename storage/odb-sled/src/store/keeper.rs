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

use super::{
    check::Trust,
    session::{How, Promise, Session},
};
use crate::{
    config::{Durability, SledConfig},
    folder::Folder,
    journal,
    space::Space,
    sync::Syncer,
    trouble::{Bell, Cause, Trouble},
};

/// Pauses between attempts to go on, doubling from the first to the last.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Longest wait of a read for an engine that is opened anew.
const READ_WAIT_MAX: Duration = Duration::from_secs(5);
/// How often a flush under way is looked at, and an engine that nobody uses.
const WATCH_PAUSE: Duration = Duration::from_millis(250);
/// Longest wait for the threads of the old engine to end.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(5);
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
    space: Space,
    pub(super) bell: Arc<Bell>,
    /// The old engine, while its threads end.
    closing: Mutex<Option<mpsc::Receiver<()>>>,
    /// Holds the lock; last, so that the engine is closed before another process may come.
    pub(super) folder: Folder,
}

pub(super) enum Current {
    /// Serving, or suspended if the session has a trouble.
    Open(Box<Session>),
    Closed {
        /// The failure that began it.
        first: Cause,
        /// Why reads fail.
        why: String,
        promise: Promise,
    },
}

impl Keeper {
    /// Opens the first session. `main` is the engine's main file.
    pub(super) fn open(
        folder: Folder,
        config: &SledConfig,
        main: File,
        trust: Trust,
        syncer: impl FnOnce(File, &Path) -> Box<dyn Syncer>,
    ) -> Result<Self, StoreError> {
        let how = How {
            cache_bytes: config.cache_bytes,
            trust,
            is_durable: config.durability == Durability::Fsync,
        };
        let engine = folder.engine();
        let own = main
            .try_clone()
            .map_err(|error| StoreError::Open(format!("cannot keep a descriptor: {error}")))?;
        let syncer: Arc<dyn Syncer> = Arc::from(syncer(own, &engine));
        let bell = Arc::new(Bell::default());
        let trouble = Arc::new(Trouble::none(Arc::clone(&bell)));
        let journal = journal::Files::open(folder.path())
            .map_err(|error| StoreError::Open(format!("cannot open the journal: {error}")))?;
        let session = Session::open(&folder, how, Arc::clone(&syncer), &journal, trouble, 0)?;
        session.upgrade(&folder)?;
        Ok(Self {
            current: RwLock::new(Current::Open(Box::new(session))),
            syncer,
            main,
            journal,
            how,
            space: Space::new(folder.path(), config.reserve_bytes),
            bell,
            closing: Mutex::new(None),
            folder,
        })
    }

    /// Reads from the open session. A read that fails because the engine has failed, or is closed, waits until the engine
    /// is open anew, but not for ever.
    pub(super) fn with<T>(&self, work: impl Fn(&Session) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let begun = Instant::now();
        loop {
            let (found, has_failed) = match &*self.current() {
                Current::Open(session) => (work(session), session.has_failed()),
                Current::Closed { why, .. } => (Err(StoreError::Read(why.clone())), true),
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
        match &*self.current() {
            Current::Open(session) => work(session),
            Current::Closed { first, .. } => Err(first.refusal()),
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

    /// Why reads fail, if they do.
    pub(super) fn unreadable(&self) -> Option<String> {
        match &*self.current() {
            Current::Open(_) => None,
            Current::Closed { why, .. } => Some(why.clone()),
        }
    }

    /// Watches over the sessions until the bell tells the stop.
    pub(super) fn keep(&self) {
        loop {
            let rung = self.bell.wait(WATCH_PAUSE);
            if rung.stop {
                return;
            }
            if rung.rang {
                self.recover();
            } else {
                // A panic of the engine here is told by the flush that is being watched.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    self.with(|session| {
                        session.has_failed();
                        session.sink.nudge(WATCH_PAUSE);
                        Ok(())
                    })
                }));
            }
        }
    }

    /// Closes the session for good.
    pub(super) fn end(&self) {
        if let Err(Setback::Later(why) | Setback::Never(why)) = self.close(&mut self.current_mut()) {
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
        if let Current::Open(session) = &*self.current()
            && session.trouble.cause().is_none()
        {
            return Ok(());
        }
        self.probe()
            .map_err(|error| Setback::Later(format!("the disk does not take writes yet: {error}")))?;
        // From here on readers wait, unless this takes too long.
        let mut current = self.current_mut();
        self.close(&mut current)?;
        self.settle().map_err(|error| Setback::Later(format!("the files cannot be synced: {error}")))?;
        let Current::Closed { promise, .. } = &*current else { return Ok(()) };
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
            let kept = session.keeps(promise);
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
        *current = Current::Open(Box::new(session));
        verdict
    }

    /// Closes the session, keeping in mind what it had promised.
    fn close(&self, current: &mut Current) -> Result<(), Setback> {
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Current::Open(session) = &*current {
            let first = session.trouble.cause().cloned().unwrap_or_else(|| Cause::other("closed"));
            let why = format!("the engine is being opened anew after a failure: {}", first.text);
            let promise = session.promise();
            if let Current::Open(session) =
                std::mem::replace(current, Current::Closed { first, why, promise })
            {
                let (done, ended) = mpsc::channel();
                *closing = Some(ended);
                // On a thread of its own: at its end the engine waits for threads of its own, and panics if a sync fails.
                let ending = std::thread::Builder::new().name("lochan-closing".into()).spawn(move || {
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(session)));
                    let _ = done.send(());
                });
                ending.map_err(|error| Setback::Later(format!("cannot start a thread: {error}")))?;
            }
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

/// Why an attempt to go on has not succeeded.
enum Setback {
    Later(String),
    Never(String),
}
