//! Embedded backend on sled 0.34.7, hardened so that what is acknowledged survives a power cut.
//!
//! Owns: the rows on disk (drawn in `FORMAT.md` beside this crate), the folder with its manifest and lock, and when what
//! is synced. Refuses to know: what objects mean. No other crate names sled.
//!
//! Why sled needs help: its flush never syncs the file. After each batch this crate syncs a descriptor of its own,
//! opened before the first write, and it never uses sled's asynchronous flush, which can stall for ever. Begin reading
//! at [`SledStore`].

mod batch;
mod bell;
mod bridge;
mod chunks;
mod config;
mod copies;
mod engine;
mod engine_log;
mod error;
mod folder;
mod journal;
mod keys;
mod mark;
mod objects;
mod parts;
mod pending;
mod positions;
mod rows;
mod snapshots;
mod space;
mod store;
mod sums;
mod sync;
mod table;
mod tail;
mod tear;
mod trouble;
mod walk;

pub use config::{CACHE_BYTES_DEFAULT, Durability, REPLAY_BYTES_DEFAULT, RESERVE_BYTES_DEFAULT, SledConfig};
pub use folder::{FORMAT, Manifest, copy_damaged, read_manifest};
pub use store::SledStore;
