//! Named points of the writer, at which this process can be made to die.
//!
//! The engine and the backend tell of them as events of their log that nobody else listens to.

use std::{
    fmt::Debug,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::{Context, Error, Result};
use lochan_storage_odb::WRITER_POINT;
use rustix::process::{Signal, getpid, kill_process};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

/// When a point comes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Once for every job.
    Job,
    /// Once for every batch.
    Batch,
    /// Once for every group of batches.
    Group,
    /// A few times in a run.
    Checkpoint,
    /// Once for every segment of the log.
    Summary,
    /// Once in a start.
    Start,
}

/// The points, in their order, and how often each comes up.
pub const POINTS: [(&str, When); 15] = [
    ("asked", When::Job),
    ("prepared", When::Batch),
    ("journaled", When::Batch),
    ("journal synced", When::Batch),
    ("committed", When::Batch),
    ("answered", When::Batch),
    ("taken in", When::Group),
    ("flushed", When::Group),
    ("synced", When::Group),
    ("checkpoint", When::Checkpoint),
    ("summed up", When::Summary),
    ("named", When::Summary),
    ("guarded", When::Start),
    ("opened", When::Start),
    ("released", When::Start),
];

/// The n-th time that a point comes up; written `journaled:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// Name of the point.
    pub point: String,
    /// The first time is 1.
    pub nth: u64,
}

impl FromStr for Death {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (point, nth) = text.split_once(':').context("a point is written name:number")?;
        let known = POINTS.iter().any(|(name, _)| *name == point);
        anyhow::ensure!(known, "there is no point {point:?}");
        Ok(Self { point: point.to_owned(), nth: nth.parse()? })
    }
}

impl std::fmt::Display for Death {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.point, self.nth)
    }
}

/// Has this process killed when the time comes.
pub fn die_at(death: Death) -> Result<()> {
    Ok(tracing::subscriber::set_global_default(Killer { death, seen: AtomicU64::new(0) })?)
}

struct Killer {
    death: Death,
    seen: AtomicU64,
}

impl Subscriber for Killer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == WRITER_POINT
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn event(&self, event: &Event<'_>) {
        let mut named = Named { point: &self.death.point, is_it: false };
        event.record(&mut named);
        if named.is_it && self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.death.nth {
            // It does not return.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Named<'a> {
    point: &'a str,
    is_it: bool,
}

impl Visit for Named<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.is_it |= field.name() == "message" && format!("{value:?}") == self.point;
    }
}
