//! A whole store kept elsewhere: taken while it is written to, verified, put back, and used to mend a damaged one.
//!
//! A backup is a set of files in a [`Vault`], drawn in `format.md` beside this module. Objects lie in packs that are never
//! written twice; what is mutable is written anew with each run; the manifest comes last, names all of them with size and
//! hash, and replaces the one before in one piece. So there is always the last finished backup or none.

mod files;
mod manifest;
mod read;
mod repair;
mod restore;
mod take;
mod verify;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_odb::StoreError;

pub use manifest::Manifest;
pub use repair::{Repaired, Source, repair};
pub use restore::{Restored, restore};
pub use take::{Begun, Taken, begin, take};
pub use verify::{Verified, verify};

use crate::error;

/// Name of the manifest.
pub const MANIFEST: &str = "MANIFEST";
/// Name of the file that is there while a backup is being made.
pub const UNFINISHED: &str = "UNFINISHED";

/// Where a backup is kept: whole files by name. Names have one folder at most.
#[async_trait]
pub trait Vault: Send + Sync {
    /// The bytes of a file, or `None`.
    async fn read(&self, name: &str) -> Result<Option<Bytes>, VaultError>;
    /// Writes a file, in place of what may be there; whole or not at all, durable on return.
    async fn write(&self, name: &str, bytes: Bytes) -> Result<(), VaultError>;
    /// Deletes a file; nothing there is success.
    async fn delete(&self, name: &str) -> Result<(), VaultError>;
}

/// A vault that cannot be used. The text is that of its makers.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct VaultError(pub String);

/// Why a backup was not made, verified or put back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The place of the backup cannot be used.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// There is no finished backup.
    #[error("{0}")]
    NoBackup(String),
    /// A file of the backup is missing, or not what was written.
    #[error("file {name} of the backup {detail}")]
    Damaged {
        /// Which.
        name: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The backup is one of another repository.
    #[error("the backup there is one of repository {found}, not of {expected}")]
    OtherRepository {
        /// The store's.
        expected: String,
        /// The backup's.
        found: String,
    },
    /// A store to be restored into already holds something.
    #[error("a backup is put back into an empty store only")]
    NotEmpty,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store failed in a way that the engine told.
    #[error(transparent)]
    Engine(#[from] error::Error),
}

impl Error {
    fn damaged(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Damaged { name: name.into(), detail: detail.into() }
    }
}

/// The finished backup in a vault; why there is none otherwise.
pub async fn manifest(vault: &dyn Vault) -> Result<Manifest, Error> {
    match vault.read(MANIFEST).await? {
        Some(bytes) => Manifest::read(&bytes),
        None => Err(Error::NoBackup(match vault.read(UNFINISHED).await? {
            Some(text) => {
                format!("the backup there was never finished: {}", String::from_utf8_lossy(&text).trim())
            }
            None => "there is no backup".to_owned(),
        })),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}
