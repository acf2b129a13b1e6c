//! Between the words of `/ext/v1` and those of the catalog.

use lochan_api_spec::ext::model::{LogEntry, LogOperation, NamedReference, RefType};
use lochan_api_spec::syntax::Instant;
use lochan_server_catalog::ext::reflog::{RefLogEntry, RefOperation};
use lochan_server_catalog::nessie::references::{RefKind, Reference};
use lochan_storage_model::{CommitId, Instant as Stored};

use crate::failure::Failure;
use crate::nessie::bad;

/// A log entry for the wire.
pub fn log_entry_out(entry: &RefLogEntry) -> LogEntry {
    LogEntry {
        reference: entry.name.to_string(),
        number: entry.number,
        kind: kind_out(entry.kind),
        old_hash: entry.old.map(|id| id.to_string()),
        new_hash: entry.new.map(|id| id.to_string()),
        operation: operation_out(entry.operation),
        principal: entry.principal.clone(),
        time: Instant::from_micros(entry.time),
        run: entry.run.clone(),
    }
}

/// A reference for the wire.
pub fn reference_out(reference: &Reference) -> NamedReference {
    NamedReference {
        kind: kind_out(reference.kind),
        name: reference.name.to_string(),
        hash: reference.target.to_string(),
    }
}

/// The type of a reference for the wire.
pub const fn kind_out(kind: RefKind) -> RefType {
    match kind {
        RefKind::Branch => RefType::Branch,
        RefKind::Tag => RefType::Tag,
    }
}

/// The type of a reference from the wire.
pub const fn kind_in(kind: RefType) -> RefKind {
    match kind {
        RefType::Branch => RefKind::Branch,
        RefType::Tag => RefKind::Tag,
    }
}

const fn operation_out(operation: RefOperation) -> LogOperation {
    match operation {
        RefOperation::Create => LogOperation::Create,
        RefOperation::Assign => LogOperation::Assign,
        RefOperation::Delete => LogOperation::Delete,
        RefOperation::Commit => LogOperation::Commit,
        RefOperation::Merge => LogOperation::Merge,
        RefOperation::Transplant => LogOperation::Transplant,
        RefOperation::Restore => LogOperation::Restore,
        RefOperation::Rebase => LogOperation::Rebase,
        RefOperation::Import => LogOperation::Import,
    }
}

/// An operation of the log from its word.
pub fn operation_in(text: &str) -> Result<RefOperation, Failure> {
    Ok(match LogOperation::parse(text) {
        Some(LogOperation::Create) => RefOperation::Create,
        Some(LogOperation::Assign) => RefOperation::Assign,
        Some(LogOperation::Delete) => RefOperation::Delete,
        Some(LogOperation::Commit) => RefOperation::Commit,
        Some(LogOperation::Merge) => RefOperation::Merge,
        Some(LogOperation::Transplant) => RefOperation::Transplant,
        Some(LogOperation::Restore) => RefOperation::Restore,
        Some(LogOperation::Rebase) => RefOperation::Rebase,
        Some(LogOperation::Import) => RefOperation::Import,
        Some(LogOperation::Unknown) | None => {
            let known = LogOperation::ALL.map(LogOperation::as_str).join(", ");
            return Err(bad(format!("query parameter 'operation' must be one of {known}, but was: {text}")));
        }
    })
}

/// A whole commit hash from the wire; `name` says where it stood.
pub fn hash_in(name: &str, text: &str) -> Result<CommitId, Failure> {
    text.parse().map_err(|_| bad(format!("'{name}' must be a commit hash of 64 hexadecimal digits")))
}

/// An instant of the wire's kind.
pub const fn instant_out(instant: Stored) -> Instant {
    Instant::new(instant.seconds, instant.nanos)
}

/// An instant of the store's kind.
pub const fn instant_in(instant: Instant) -> Stored {
    Stored { seconds: instant.seconds(), nanos: instant.nanos() }
}

/// The size of a page: at most `most`, which is also what no wish comes to. A size below one is refused.
pub fn page_size(wanted: Option<i32>, most: usize) -> Result<usize, Failure> {
    match wanted {
        None => Ok(most),
        Some(wanted) => match usize::try_from(wanted) {
            Ok(wanted) if wanted > 0 => Ok(wanted.min(most)),
            _ => Err(bad("query parameter 'max-records' must be at least 1")),
        },
    }
}
