//! Disks that lose what was not synced: a library to preload, the record it writes, and power cuts rebuilt from the record.
//!
//! # What is assumed of a disk
//!
//! - Bytes of a file, and its length, are durable once a `fsync` or `fdatasync` of that file has returned without an error,
//!   if they were written before it began. `sync_file_range` makes nothing durable.
//! - A name (made, renamed, removed) is durable once a `fsync` of its folder has returned, if the change came before it
//!   began. A sync of the file itself does not keep its name.
//! - What is not durable is there after a power cut or not, in pieces of 512 or 4096 aligned bytes, each for itself and in
//!   any order; a length that was not synced may be lost, and a hole reads as zeros.
//! - A rename happens whole or not at all. A change of a name that needs an earlier one of the same name happens only if
//!   that one did.
//! - One piece of 512 bytes is never torn.

mod image;
mod model;
mod preload;
mod record;
mod reuse;
#[cfg(test)]
mod tests;

pub use image::{Fate, Tear};
pub use model::Disk;
pub use preload::{Action, Calls, Control, Preload, Strike, build};
pub use record::{Event, EventKind, read_record};
pub use reuse::{REUSE_BYTES, unsynced_at_reuse};
