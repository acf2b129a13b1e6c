//! Who writes, and what the commit says about itself.

use std::collections::BTreeMap;

use lochan_storage_engine::writer::Who;
use lochan_storage_model::CommitMeta;

use crate::access::Principal;

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

/// The caller of a use case that commits.
#[derive(Debug, Clone, Default)]
pub struct Author {
    /// Who asks, and whether they still wait.
    pub principal: Principal,
    /// What the commit shall say.
    pub note: CommitNote,
    /// Bytes of the request, about what it wants to write.
    pub bytes: u64,
}

impl Author {
    pub(crate) fn who(&self) -> Who {
        self.principal.who()
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
