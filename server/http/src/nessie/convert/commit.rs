//! Commits: metadata and operations, both ways.

use lochan_api_spec::nessie::model::{
    CommitMetaInput, CommitMetaV2, LogEntryV2, LogResponseV2, Operation as WireOperation, OperationV2,
    Operations,
};
use lochan_api_spec::syntax::Instant as WireInstant;
use lochan_server_catalog::nessie::Page;
use lochan_server_catalog::nessie::commits::{GivenMeta, Operation};
use lochan_server_catalog::nessie::log::{LogEntry, Logged, Operation as Stored};
use lochan_storage_model::{CommitId, Instant};

use super::{content, key_in, key_out};
use crate::extract::CommitHeaders;
use crate::failure::Failure;
use crate::nessie::refuse::{Checks, SIZE};

/// Metadata of a stored commit.
pub fn meta_out(entry: &LogEntry) -> CommitMetaV2 {
    let (meta, header) = (&entry.commit.meta, &entry.commit.header);
    let commit_time = WireInstant::from_micros(header.time);
    let author_time = meta.author_time.map_or(commit_time, |time| WireInstant::new(time.seconds, time.nanos));
    CommitMetaV2 {
        hash: Some(entry.id.to_string()),
        committer: Some(meta.committer.clone()),
        authors: meta.authors.clone(),
        all_signed_off_by: meta.signed_off_by.clone(),
        message: meta.message.clone(),
        commit_time: Some(commit_time),
        author_time: Some(author_time),
        all_properties: meta.properties.clone(),
        parent_commit_hashes: header.parents.iter().map(CommitId::to_string).collect(),
    }
}

/// Metadata that a client gives, then what its headers add (Nessie contract, 14.1).
pub fn meta_in(meta: CommitMetaInput, headers: CommitHeaders) -> GivenMeta {
    let mut given = GivenMeta {
        message: meta.message,
        authors: meta.authors,
        signed_off_by: meta.all_signed_off_by,
        author_time: meta.author_time.map(|at| Instant { seconds: at.seconds(), nanos: at.nanos() }),
        properties: meta.all_properties,
        refused: meta.server_set.map(|field| field.to_string()),
    };
    if let Some(message) = headers.message {
        given.message = message;
    }
    given.authors.extend(headers.authors);
    given.signed_off_by.extend(headers.signed_off_by);
    given.properties.extend(headers.properties);
    given.properties.retain(|_, values| !values.is_empty());
    given
}

/// The body of a commit.
pub fn body_in(body: Option<Operations>, checks: &mut Checks) -> Option<Operations> {
    let body = checks.present("commitMultipleOperations.operations", body)?;
    checks.require("commitMultipleOperations.operations.operations", !body.operations.is_empty(), SIZE);
    Some(body)
}

/// An operation of a commit request.
pub fn operation_in(operation: WireOperation) -> Result<Operation, Failure> {
    Ok(match operation {
        WireOperation::Put { key, content } => {
            let (id, content) = content::given(content);
            Operation::Put { key: key_in(key)?, content, id }
        }
        WireOperation::Delete { key } => Operation::Delete(key_in(key)?),
        WireOperation::Unchanged { key } => Operation::Unchanged(key_in(key)?),
    })
}

/// A page of the log.
pub fn log_out(page: Page<Logged, CommitId>) -> LogResponseV2 {
    LogResponseV2 {
        has_more: page.next.is_some(),
        token: page.next.map(|next| next.to_string()),
        log_entries: page.items.into_iter().map(logged_out).collect(),
    }
}

fn logged_out(logged: Logged) -> LogEntryV2 {
    LogEntryV2 {
        commit_meta: meta_out(&logged.entry),
        parent_commit_hash: Some(logged.entry.commit.header.parent().to_string()),
        operations: logged.operations.map(|all| all.into_iter().map(operation_out).collect()),
    }
}

fn operation_out(operation: Stored) -> OperationV2 {
    OperationV2(match operation {
        Stored::Put { key, id, content } => {
            WireOperation::Put { key: key_out(&key), content: content::out(Some(id), content) }
        }
        Stored::Delete(key) => WireOperation::Delete { key: key_out(&key) },
    })
}
