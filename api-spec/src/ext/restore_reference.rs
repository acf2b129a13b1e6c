//! `POST /ext/v1/refs/{ref}:restore`: puts a reference back to a state that its log remembers.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::{LogEntry, NamedReference};
use crate::syntax::percent::encode_segment;

/// Puts a deleted or moved reference back to the state before or after an entry of its log.
///
/// The call appends an entry and removes none, so that it can be undone like any other change. A state that is "absent"
/// (before a create, after a delete) deletes the reference; the default branch cannot be deleted (400).
///
/// 404 when the reference has no log or no such entry. 409 `REFERENCE_CONFLICT` when the newest entry is not
/// `expectedNumber`, or the reference is of another type by now; `details.current` says what it is. Needs the permission
/// to assign, to create or to delete the reference, whichever it comes to.
#[derive(Debug)]
pub struct RestoreReference;

impl RestoreReference {
    /// The path, encoded.
    pub fn path(reference: &str) -> String {
        format!("/ext/v1/refs/{}:restore", encode_segment(reference))
    }
}

impl Endpoint for RestoreReference {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Ext,
        Method::Post,
        "/ext/v1/refs/{ref}:restore",
        "restoreReference",
        "Puts a reference back to a state that its log remembers.",
    );
    type Query = ();
    type Request = RestoreRequest;
    type Response = RestoreResponse;
}

/// What to go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreRequest {
    /// Number of the log entry that names the state.
    pub entry: u64,
    /// Which of the entry's two states.
    #[serde(default)]
    pub side: Side,
    /// Number of the newest log entry that the caller has seen: the state that is to be left.
    pub expected_number: u64,
    /// Only says what would happen.
    #[serde(default)]
    pub dry_run: bool,
}

/// One of the two states that a log entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Side {
    /// The state before the entry: undoes it, and everything after it.
    #[default]
    Old,
    /// The state after the entry: undoes everything after it.
    New,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RestoreResponse {
    /// Whether the reference was changed; false for a dry run, and where it was in that state already.
    pub changed: bool,
    /// The reference in the restored state; null when it does not exist there.
    pub reference: Option<NamedReference>,
    /// The newest log entry after the call.
    pub entry: LogEntry,
}
