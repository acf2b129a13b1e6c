//! Everything that can stop a command. The kind decides the exit code; hints are found elsewhere.

use std::io;
use std::path::PathBuf;

use lochan_api_spec::nessie::model::{Conflict, ContentKey, ErrorDetails};

use crate::client;
use crate::commands::merge::Modes;
use crate::exit::Kind;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The words do not make a command.
    #[error("{0}")]
    Usage(String),
    /// Words in the shell that make no statement.
    #[error("{message}")]
    Statement {
        /// What is wrong.
        message: String,
        /// How the statements are written that begin with its first word.
        usage: Vec<&'static str>,
    },
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// A file given on the command line cannot be used.
    #[error("cannot use {path}: {reason}")]
    File {
        /// The path, or `standard input`.
        path: String,
        /// Why.
        reason: String,
    },
    /// A call failed.
    #[error(transparent)]
    Client(#[from] Box<client::Error>),
    /// A merge or cherry-pick found conflicts.
    #[error(transparent)]
    Merge(Box<MergeConflict>),
    /// A tag where a branch was named, or the other way round.
    #[error("'{name}' is a {is}, not a {wanted}")]
    WrongKind {
        /// The name.
        name: String,
        /// `branch` or `tag`.
        is: &'static str,
        /// The other.
        wanted: &'static str,
        /// What to say instead.
        instead: String,
    },
    /// A content of another type than was named.
    #[error("'{key}' is a {is}, not a {wanted}")]
    WrongType {
        /// The key, as it is typed.
        key: String,
        /// The type it has.
        is: &'static str,
        /// The type that was named.
        wanted: &'static str,
    },
    /// Steps that lead to no commit.
    #[error("there is no commit at '{0}': its history does not go there")]
    NothingThere(String),
    /// No commit begins with the digits given.
    #[error("no commit begins with '{0}'")]
    NoCommit(String),
    /// Several commits begin with the digits given.
    #[error("several commits begin with '{0}'")]
    AmbiguousCommit(String),
    /// A key holds nothing in a state.
    #[error("'{key}' does not exist on {state}")]
    NoContent {
        /// The key, as it is typed.
        key: String,
        /// The state, as the user calls it.
        state: String,
    },
    /// A key that was to be new.
    #[error("'{0}' exists already")]
    KeyTaken(String),
    /// Contents that a person edited were not committed.
    #[error("{error}")]
    Edited {
        /// Why.
        error: Box<Error>,
        /// The key of each, as it is typed, and the file that the text was left in.
        texts: Vec<(String, PathBuf)>,
    },
    /// A revert would delete a key, and nobody said that it may.
    #[error("'{key}' does not exist on {state}: to be as it was there, it would have to be deleted")]
    WouldDelete {
        /// The key, as it is typed.
        key: String,
        /// The state, as the user calls it.
        state: String,
    },
    /// A word that is neither reference nor key.
    #[error("'{word}' is neither a branch, a tag nor a key on {state}")]
    NothingCalled {
        /// The word.
        word: String,
        /// Where keys were looked up.
        state: String,
    },
    /// A stream of a repository cannot be used.
    #[error("{name} is no whole repository: {reason}")]
    Stream {
        /// Where it was read from.
        name: String,
        /// Why.
        reason: String,
    },
    /// A reference has no entry to undo.
    #[error("'{0}' has no entry {1} in its log")]
    NoLogEntry(String, u64),
    /// A key that the settings file does not set.
    #[error("'{0}' is not set in the settings file")]
    NotSet(String),
    /// A person did not want to wait any longer. No change was on its way.
    #[error("given up")]
    GivenUp,
    /// Output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// A value of this program could not be written as JSON.
    #[error("cannot write the answer as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A merge or cherry-pick that conflicts kept from being made.
#[derive(Debug, thiserror::Error)]
#[error("nothing {done}: {} in conflict", count(keys.len(), "key is", "keys are"))]
pub struct MergeConflict {
    /// `merged`, `cherry-picked` or `rebased`.
    pub done: &'static str,
    /// The command as typed, without modes: `lochan merge dev into main`.
    pub command: String,
    /// The modes that it was given.
    pub modes: Modes,
    /// The source, as the user calls it.
    pub source_name: String,
    /// The target branch.
    pub target: String,
    /// Whether the source is a branch, whose change can be made anew.
    pub source_is_branch: bool,
    /// The keys in conflict.
    pub keys: Vec<ContentKey>,
    /// Why, key by key.
    pub conflicts: Vec<Conflict>,
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Self {
        Self::Client(Box::new(error))
    }
}

impl Error {
    /// The kind, which decides the exit code.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Usage(_)
            | Self::Statement { .. }
            | Self::Settings(_)
            | Self::File { .. }
            | Self::Stream { .. }
            | Self::AmbiguousCommit(_) => Kind::Usage,
            Self::Client(error) => error.kind(),
            Self::Edited { error, .. } => error.kind(),
            Self::Merge(_) | Self::KeyTaken(_) => Kind::Conflict,
            Self::WrongKind { .. } | Self::WrongType { .. } => Kind::Refused,
            Self::NoCommit(_)
            | Self::NothingThere(_)
            | Self::NoContent { .. }
            | Self::WouldDelete { .. }
            | Self::NothingCalled { .. }
            | Self::NoLogEntry(..)
            | Self::NotSet(_) => Kind::NotFound,
            Self::GivenUp => Kind::Unavailable,
            Self::Output(_) | Self::Json(_) => Kind::Bug,
        }
    }

    /// The call that failed, when this error stands for one.
    pub(crate) fn call(&self) -> Option<&client::Error> {
        match self {
            Self::Client(error) => Some(error),
            Self::Edited { error, .. } => error.call(),
            _ => None,
        }
    }

    /// The server's answer, when it is one that this error stands for.
    pub(crate) fn refusal(&self) -> Option<&client::Refusal> {
        self.call().and_then(client::Error::refusal)
    }

    /// The wire's error code.
    pub fn error_code(&self) -> Option<client::Code> {
        self.refusal().and_then(|refusal| refusal.code)
    }

    /// The conflicts that the server named.
    pub fn conflicts(&self) -> &[Conflict] {
        if let Self::Merge(conflict) = self {
            return &conflict.conflicts;
        }
        match self.refusal().and_then(|refusal| refusal.details.as_ref()) {
            Some(ErrorDetails::ReferenceConflicts { conflicts }) => conflicts,
            _ => &[],
        }
    }
}

/// `1 key is`, `2 keys are`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
