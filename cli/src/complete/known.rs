//! What the server knows, for completion: references and keys, asked for when a person wants them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use lochan_api_spec::nessie::model::ContentKey;
use lochan_api_spec::nessie::v2::trees::{GetEntries, get_all_references, get_entries};
use tokio::runtime::Runtime;

use super::Known;
use crate::args::key;
use crate::commands::Session;

/// How long a person at the Tab key is kept waiting, in milliseconds.
const WAIT_MS_MAX: u64 = 1500;

/// How long an answer is taken for true, in seconds.
const FRESH_S: u64 = 5;

/// Keys offered at once.
const KEYS_OFFERED_MAX: i32 = 200;

/// A server as completion asks it.
pub struct Server {
    session: Rc<RefCell<Session>>,
    runtime: Rc<Runtime>,
    references: RefCell<Option<(Instant, Vec<String>)>>,
}

impl Server {
    /// The server of the session.
    pub fn new(session: Rc<RefCell<Session>>, runtime: Rc<Runtime>) -> Self {
        Self { session, runtime, references: RefCell::new(None) }
    }

    /// Forgets what was asked.
    pub fn forget(&self) {
        self.references.replace(None);
    }
}

impl Known for Server {
    fn references(&self) -> Vec<String> {
        let fresh = |at: &Instant| at.elapsed() < Duration::from_secs(FRESH_S);
        if let Some((_, names)) = self.references.borrow().as_ref().filter(|(at, _)| fresh(at)) {
            return names.clone();
        }
        let session = self.session.borrow();
        let found = self.runtime.block_on(async {
            let asked = session.client.references(get_all_references::Query::default());
            tokio::time::timeout(Duration::from_millis(WAIT_MS_MAX), asked).await
        });
        // A server that is slow or away offers nothing; the statement itself will tell.
        let Ok(Ok(found)) = found else { return Vec::new() };
        let names: Vec<String> =
            found.references.into_iter().filter_map(|reference| reference.name).collect();
        self.references.replace(Some((Instant::now(), names.clone())));
        names
    }

    fn keys(&self, prefix: &str) -> Vec<String> {
        let session = self.session.borrow();
        // Keys below what is typed come behind it in key order; an unfinished quote says nothing yet.
        let typed = prefix.trim_end_matches('.').trim_start_matches('"');
        let min_key = key::parse(typed).ok().as_ref().map(ContentKey::to_escaped);
        let query = get_entries::Query { min_key, max_records: Some(KEYS_OFFERED_MAX), ..Default::default() };
        let found = self.runtime.block_on(async {
            let asked = session.client.ask::<GetEntries>(GetEntries::path(&session.here), &query);
            tokio::time::timeout(Duration::from_millis(WAIT_MS_MAX), asked).await
        });
        let Ok(Ok(found)) = found else { return Vec::new() };
        found.entries.iter().map(|entry| key::show(&entry.name)).collect()
    }
}
