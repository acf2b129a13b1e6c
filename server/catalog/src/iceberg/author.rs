//! Who writes, and what the commit says about itself.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lochan_storage_engine::writer::Who;
use lochan_storage_model::CommitMeta;
use lochan_storage_odb::RequestKey;

use super::Iceberg;
use crate::{access::Principal, error::Error};

/// What a client wants a commit to say (`Nessie-Commit-*` headers).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitNote {
    /// Replaces the message.
    pub message: Option<String>,
    /// Authors; the principal if none.
    pub authors: Vec<String>,
    /// Signers.
    pub signed_off_by: Vec<String>,
    /// Properties: name to values.
    pub properties: BTreeMap<String, Vec<String>>,
}

/// When to come back after waiting too long to be admitted.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Whether a write that is not yet admitted is still wanted: its client waits, and its time is not over.
#[derive(Clone)]
pub struct Admission(Arc<dyn Fn() -> bool + Send + Sync>);

impl Admission {
    /// Asks `is_wanted`.
    pub fn new(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_wanted))
    }

    /// Gives up a write that nobody waits for any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if (self.0)() { Ok(()) } else { Err(Error::Busy { retry_after: RETRY_AFTER }) }
    }
}

impl Default for Admission {
    fn default() -> Self {
        Self::new(|| true)
    }
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Admission({})", (self.0)())
    }
}

/// The caller of a use case that commits.
#[derive(Debug, Clone, Default)]
pub struct Author {
    /// Who asks.
    pub principal: Principal,
    /// What the commit shall say.
    pub note: CommitNote,
    /// Under which idempotency key.
    pub request: Option<RequestKey>,
    /// Bytes of the request, about what it wants to write.
    pub bytes: u64,
    /// Whether it still waits.
    pub admission: Admission,
}

impl Iceberg<'_> {
    /// The identity under which a request with this key was committed; `None` if none was.
    pub async fn request_made(&self, key: &[u8; 32]) -> Result<Option<RequestKey>, Error> {
        Ok(self.engine().store().request(key).await?.and_then(|entry| entry.request))
    }
}

impl Author {
    pub(crate) fn who(&self) -> Who {
        self.principal.who(self.request)
    }

    /// The commit metadata, with `message` unless the client brings its own.
    pub(crate) fn meta(&self, message: String) -> CommitMeta {
        let note = &self.note;
        let authors =
            if note.authors.is_empty() { vec![self.principal.name.clone()] } else { note.authors.clone() };
        CommitMeta {
            committer: self.principal.name.clone(),
            authors,
            signed_off_by: note.signed_off_by.clone(),
            message: note.message.clone().unwrap_or(message),
            author_time: None,
            properties: note.properties.clone(),
        }
    }
}
