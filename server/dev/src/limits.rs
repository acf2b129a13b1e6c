//! Bounds on what clients send, as one value, so that the same code can be tried with small ones.

use std::time::Duration;

/// Largest object or part sent at once, in bytes: the limit of a single PUT on S3.
pub const OBJECT_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024;
/// Most objects in one bucket; their keys are kept in memory.
pub const OBJECTS_MAX: usize = 2_000_000;
/// Longest an upload may send nothing, in milliseconds. It holds no lock meanwhile.
pub const UPLOAD_STALL_MS_MAX: u64 = 120_000;

/// The bounds in force; those above by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) object_bytes_max: u64,
    pub(crate) objects_max: usize,
    pub(crate) upload_stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            object_bytes_max: OBJECT_BYTES_MAX,
            objects_max: OBJECTS_MAX,
            upload_stall: Duration::from_millis(UPLOAD_STALL_MS_MAX),
        }
    }
}
