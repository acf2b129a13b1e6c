//! Counters of the requests a warehouse really made.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many requests a warehouse has made since it was opened.
///
/// On S3 these are HTTP requests, retries included, counted where they leave; a listing counts as a
/// `get`. On `file:` they are operations. A test that expects one PUT and no GET reads exactly that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Objects written (each attempt).
    pub puts: u64,
    /// Objects read or listed.
    pub gets: u64,
    /// Sizes asked for.
    pub heads: u64,
    /// Objects deleted.
    pub deletes: u64,
}

impl IoCounts {
    /// What was added since `earlier`, a reading of the same warehouse.
    pub fn since(self, earlier: IoCounts) -> IoCounts {
        IoCounts {
            puts: self.puts.saturating_sub(earlier.puts),
            gets: self.gets.saturating_sub(earlier.gets),
            heads: self.heads.saturating_sub(earlier.heads),
            deletes: self.deletes.saturating_sub(earlier.deletes),
        }
    }
}

/// The kind of request counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Request {
    Put,
    Get,
    Head,
    Delete,
}

impl Request {
    /// The counter for an HTTP method; none for those we never send.
    pub(crate) fn of_method(method: &str) -> Option<Request> {
        match method {
            "PUT" => Some(Request::Put),
            "GET" => Some(Request::Get),
            "HEAD" => Some(Request::Head),
            // `object_store` deletes with `POST ?delete`, be it one object or many.
            "DELETE" | "POST" => Some(Request::Delete),
            _ => None,
        }
    }
}

/// Shared between a warehouse and its client.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    puts: AtomicU64,
    gets: AtomicU64,
    heads: AtomicU64,
    deletes: AtomicU64,
}

impl Counters {
    pub(crate) fn add(&self, request: Request) {
        let counter = match request {
            Request::Put => &self.puts,
            Request::Get => &self.gets,
            Request::Head => &self.heads,
            Request::Delete => &self.deletes,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> IoCounts {
        IoCounts {
            puts: self.puts.load(Ordering::Relaxed),
            gets: self.gets.load(Ordering::Relaxed),
            heads: self.heads.load(Ordering::Relaxed),
            deletes: self.deletes.load(Ordering::Relaxed),
        }
    }
}
