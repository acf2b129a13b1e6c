//! Flipped bits and cut files: a store that a real server has filled, one file of it damaged, opened by the real backend.
//!
//! Allowed is: the store is refused, naming the file; or a read fails, naming the place; or `fsck` finds rows missing; or
//! everything is as it was. Wrong bytes, a loss without a trace, a panic and a wait without end are violations.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lochan_storage::{StoreConfig, StoreError, Sweep};
use tokio::time::sleep;

use crate::load::{self, Load};
use crate::process::{Ended, Place, Server};
use crate::rng::Rng;

/// Writers that fill the store.
const WRITERS: usize = 4;
/// Commits made each time the server is started.
const FILL_COMMITS: usize = 150;
/// Pause between two looks at how many there are, in milliseconds.
const FILL_POLL_MS: u64 = 20;
/// Longest time of one trial.
const TRIAL_WAIT_MAX: Duration = Duration::from_secs(60);
/// Longest run of `lochan-server fsck`; less than a trial may take, so that it is ended before the program is.
const FSCK_WAIT_MAX: Duration = Duration::from_secs(30);
/// Objects read in one piece.
const PAGE: usize = 500;
/// Their bytes, about.
const PAGE_BYTES: usize = 4 << 20;
/// Of so many damages one is a cut.
const CUT_EVERY: u64 = 4;
/// Of so many flips one may also hit what a file holds behind its last byte in use.
const ZEROS_EVERY: u64 = 4;
/// After so many trials one is also shown to `lochan-server fsck`.
const FSCK_EVERY: u64 = 100;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server binary.
    pub program: PathBuf,
    /// Folder of the sound stores.
    pub folder: PathBuf,
    /// Numbers of the trials.
    pub trials: std::ops::Range<u64>,
    /// Seed of all choices.
    pub seed: u64,
}

/// How a damage came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The store was not opened.
    Refused,
    /// A read failed.
    Unreadable,
    /// The rows were fewer or older, and counting them says so.
    Counted,
    /// Everything is as it was.
    Harmless,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Trials by file and verdict.
    pub counts: BTreeMap<(String, Verdict), u64>,
    /// What must not be.
    pub violations: Vec<String>,
}

/// Everything that a store promises, in a form that can be compared.
#[derive(PartialEq)]
struct Whole {
    mutable: String,
    objects: Vec<String>,
}

/// Held while `lochan-server fsck` runs.
static FSCK: Mutex<()> = Mutex::new(());

/// What the threads tell.
enum Told {
    Begun(u64),
    Ended(u64, Result<(String, Verdict)>),
}

/// Fills two stores, one ended in order and one killed, and damages copies of them.
pub async fn run(plan: &Plan) -> Result<Report> {
    let mut sound = Vec::new();
    for is_killed in [false, true] {
        sound.push(fill(plan, is_killed).await.context("filling a store")?);
    }
    let scratch = scratch()?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let (tell, told) = mpsc::channel();
    let mut report = Report::default();
    let outcome = std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let (tell, sound, scratch) = (tell.clone(), &sound, scratch.path());
            scope.spawn(move || {
                for trial in plan.trials.clone().filter(|trial| trial % threads as u64 == thread) {
                    let Some((folder, expected)) = sound.get((trial % 2) as usize) else { return };
                    // Whoever is told waits until all have ended.
                    let _ = tell.send(Told::Begun(trial));
                    let outcome = one(plan, trial, folder, expected, &scratch.join(trial.to_string()));
                    let _ = tell.send(Told::Ended(trial, outcome));
                }
            });
        }
        drop(tell);
        // When each trial under way must have ended.
        let mut under_way: BTreeMap<u64, Instant> = BTreeMap::new();
        loop {
            let next = under_way.iter().min_by_key(|(_, until)| **until);
            let wait =
                next.map_or(TRIAL_WAIT_MAX, |(_, until)| until.saturating_duration_since(Instant::now()));
            match told.recv_timeout(wait) {
                Ok(Told::Begun(trial)) => {
                    under_way.insert(trial, Instant::now() + TRIAL_WAIT_MAX);
                }
                Ok(Told::Ended(trial, outcome)) => {
                    under_way.remove(&trial);
                    match outcome {
                        Ok((file, verdict)) => *report.counts.entry((file, verdict)).or_default() += 1,
                        Err(error) => report.violations.push(format!("trial {trial}: {error:#}")),
                    }
                }
                // All threads have ended.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    // The thread that waits cannot be ended; the process can.
                    let what = next.map_or("no trial begins".to_owned(), |(trial, _)| {
                        format!("trial {trial} does not end")
                    });
                    report.violations.push(what);
                    give_up(plan, &report);
                }
            }
        }
        Ok(())
    });
    outcome.map(|()| report)
}

#[expect(clippy::print_stderr, reason = "the last word of a program that cannot go on")]
fn give_up(plan: &Plan, report: &Report) -> ! {
    // The process that is under way ends before this one.
    let _fsck = FSCK.lock();
    eprintln!("seed {}: {:#?}", plan.seed, report.violations);
    std::process::exit(1)
}

/// Memory where there is a file system of it: nothing here is about a disk.
fn scratch() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let mut builder = tempfile::Builder::new();
    builder.prefix("lochan-flip-");
    Ok(if memory.is_dir() { builder.tempdir_in(memory)? } else { builder.tempdir()? })
}

async fn fill(plan: &Plan, is_killed: bool) -> Result<(PathBuf, Whole)> {
    let folder = plan.folder.join(if is_killed { "killed" } else { "stopped" });
    fs::create_dir_all(&folder)?;
    let place = Place::new(plan.program.clone(), &folder);
    let told = load::nothing_told(WRITERS);
    // Two starts: what was written before the last one is in the engine's snapshot, the rest only in its log.
    for start in 0..2 {
        let mut server = Server::spawn(&place)?;
        let (client, _) = server.first_read(&place).await?;
        let load = Load::start(&client, &told, plan.seed ^ start);
        let wanted = FILL_COMMITS * (start as usize + 1);
        while load::lengths(&told).await.iter().sum::<usize>() < wanted {
            anyhow::ensure!(!load.is_ended(), "a writer has ended");
            sleep(Duration::from_millis(FILL_POLL_MS)).await;
        }
        // What was written and never acknowledged may be lost by a damage: so nothing is under way.
        load.stop().await?;
        if is_killed && start == 1 {
            server.kill().await?;
        } else {
            server.stop().await?;
        }
    }
    let store = place.data.join("store");
    let opened = folder.join("opened");
    copy(&store, &opened)?;
    let whole =
        whole(&*lochan_storage::open(&StoreConfig::new(&opened))?).await.map_err(anyhow::Error::from)?;
    Ok((store, whole))
}

/// Damages a copy of `sound` and looks what comes of it.
fn one(plan: &Plan, trial: u64, sound: &Path, expected: &Whole, folder: &Path) -> Result<(String, Verdict)> {
    let store = folder.join("store");
    copy(sound, &store)?;
    let mut rng = Rng::part(plan.seed, trial, 7);
    let (file, how) = damage(&store, &mut rng)?;
    let kind = kind(&file);
    let show_fsck = trial.is_multiple_of(FSCK_EVERY);
    let seen = if show_fsck { Some(fsck(&plan.program, folder, FSCK_WAIT_MAX)?) } else { None };
    let looked = catch_unwind(AssertUnwindSafe(|| look(&store, expected)));
    let told = looked.unwrap_or_else(|_| Err(anyhow::anyhow!("a panic got out")));
    let verdict = told.with_context(|| format!("seed {}: {file} {how}", plan.seed))?;
    if let Some((is_clean, text)) = seen {
        let is_fit =
            if verdict == Verdict::Harmless { is_clean } else { !is_clean && text.contains("DAMAGED") };
        anyhow::ensure!(is_fit, "{file} {how} is {verdict:?}, but fsck says:\n{text}");
    }
    fs::remove_dir_all(folder)?;
    Ok((kind, verdict))
}

fn look(folder: &Path, expected: &Whole) -> Result<Verdict> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let store = match lochan_storage::open(&StoreConfig::new(folder)) {
        Ok(store) => store,
        Err(StoreError::Open(_) | StoreError::Corrupt { .. }) => return Ok(Verdict::Refused),
        Err(other) => anyhow::bail!("refused with {other:?}"),
    };
    runtime.block_on(async {
        match whole(&*store).await {
            Ok(found) if found == *expected => Ok(Verdict::Harmless),
            Ok(_) if store.audit().await?.is_empty() => anyhow::bail!("something is lost without a trace"),
            Ok(_) => Ok(Verdict::Counted),
            Err(StoreError::Corrupt { what, detail }) => {
                anyhow::ensure!(!what.is_empty() && !detail.is_empty(), "no place is named");
                Ok(Verdict::Unreadable)
            }
            Err(StoreError::Read(_)) => Ok(Verdict::Unreadable),
            Err(other) => anyhow::bail!("a read failed with {other:?}"),
        }
    })
}

async fn whole(store: &dyn Sweep) -> Result<Whole, StoreError> {
    let (point, _) = store.point().await?;
    let mut mutable = format!("{point:?}");
    for name in store.ref_log_names(None, usize::MAX).await? {
        mutable.push_str(&format!("{:?}", store.ref_log(&name, None, usize::MAX).await?));
    }
    let mut objects = Vec::new();
    let mut after = None;
    loop {
        let page = store.read_objects(after.take(), PAGE, PAGE_BYTES).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(last.clone());
        for (_, object) in page {
            let object = object?;
            // By its id, too, as a request would ask for it.
            if store.object(object.kind, object.id).await?.as_ref() != Some(&object.bytes) {
                objects.push(format!("{} is not found by its id", object.id));
            }
            objects.push(object.id.to_string());
        }
    }
    Ok(Whole { mutable, objects })
}

/// What `lochan-server fsck` says: whether it is content, and its report.
fn fsck(program: &Path, folder: &Path, wait: Duration) -> Result<(bool, String)> {
    let copied = folder.join("shown");
    copy(&folder.join("store"), &copied.join("store"))?;
    let place = Place::new(program.to_owned(), folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _alone = FSCK.lock();
    let Ended { is_well, text } =
        runtime.block_on(place.run_within(wait, &["fsck", "--log-level", "error"], &copied))?;
    // A store that cannot even be looked at in a copy is refused in so many words.
    let text = if text.contains("lochan-server:") { format!("{text}DAMAGED") } else { text };
    Ok((is_well, text))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, found)?;
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Damages one file; says which and how.
fn damage(store: &Path, rng: &mut Rng) -> Result<(String, String)> {
    let mut found = Vec::new();
    files(store, &mut found)?;
    // The log is nearly everything, so it is hit half of the time, and every file now and then.
    let file = match rng.below(2) {
        0 => found.iter().find(|path| path.ends_with("sled/db")),
        _ => rng.pick(&found),
    };
    let file = file.context("no files")?;
    let name = file.strip_prefix(store)?.display().to_string();
    let mut bytes = fs::read(file)?;
    let length = bytes.len() as u64;
    let how = if rng.below(CUT_EVERY) == 0 {
        let kept = rng.below(length);
        bytes.truncate(kept as usize);
        format!("cut from {length} to {kept} bytes")
    } else {
        // What is written ahead is zeros and means nothing: mostly the rest is hit.
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(length, |last| last as u64 + 1);
        let within = if rng.below(ZEROS_EVERY) == 0 { length } else { used };
        let (at, bit) = (rng.below(within), rng.below(8));
        if let Some(byte) = bytes.get_mut(at as usize) {
            *byte ^= 1 << bit;
        }
        format!("with bit {bit} of byte {at} flipped")
    };
    fs::write(file, bytes)?;
    Ok((name, how))
}

/// The file without what changes in its name.
fn kind(file: &str) -> String {
    file.split_once("snap.").map_or(file.to_owned(), |(folder, _)| format!("{folder}snap"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn an_fsck_that_takes_too_long_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("store")).unwrap();
        let program = folder.path().join("program");
        // By another process: a child of another test could still hold what this one has opened for writing.
        let write = "printf '#!/bin/sh\\nwhile :; do sleep 1; done\\n' > program && chmod +x program";
        let written = Command::new("sh").args(["-c", write]).current_dir(&folder).status().unwrap();
        assert!(written.success());
        let error = fsck(&program, folder.path(), Duration::from_millis(500)).unwrap_err();
        assert!(error.to_string().contains("did not end in time"), "{error:#}");
        // It is killed, which takes effect a moment later.
        let begun = Instant::now();
        while is_running(&program) {
            assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether a process has this path in its command line.
    fn is_running(program: &Path) -> bool {
        let command =
            |entry: std::io::Result<fs::DirEntry>| fs::read(entry.ok()?.path().join("cmdline")).ok();
        fs::read_dir("/proc").unwrap().filter_map(command).any(|line| {
            line.split(|byte| *byte == 0).any(|word| word == program.as_os_str().as_encoded_bytes())
        })
    }
}
