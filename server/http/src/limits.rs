//! Every bound of the HTTP layer, in one place.
//!
//! | what | bound | past it |
//! | --- | --- | --- |
//! | open connections | [`CONNECTIONS_MAX`] | the next waits in the kernel's queue |
//! | requests at work at once | [`REQUESTS_MAX`] | 503 with `Retry-After` |
//! | request line and headers | [`HEADER_BYTES_MAX`], [`HEADERS_MAX`] | 431 |
//! | path and query | [`TARGET_BYTES_MAX`] | 414 |
//! | path segments | [`SEGMENTS_MAX`] | 404 |
//! | Nessie body, decoded | [`NESSIE_BODY_BYTES_MAX`] | 413 |
//! | Iceberg body, decoded | [`ICEBERG_BODY_BYTES_MAX`] | 413 |
//! | all bodies being read, decoded | [`BODIES_BYTES_MAX`] | 503 with `Retry-After` |
//! | depth of JSON | [`JSON_DEPTH_MAX`] | 400 |
//! | time for the headers, idle time between requests | [`HEADER_READ_TIMEOUT`] | connection closed |
//! | time for the body | [`BODY_READ_TIMEOUT`] | 408 |
//! | time between two pieces of a stream, both ways | [`STREAM_STALL_TIMEOUT`] | 408; an export is broken off |
//! | line and part of a stream | `LINE_BYTES_MAX`, `PART_BYTES_MAX` of `api-spec` | 413, 400 |
//! | rest of a body that is answered unread | [`UNREAD_BODY_BYTES_MAX`], [`UNREAD_BODY_TIMEOUT`] | connection closed |
//! | time for a read | [`READ_TIMEOUT`] | 503 with `Retry-After` |
//! | time until a write is admitted | [`ADMISSION_TIMEOUT`] | 429 with `Retry-After`; never after admission |
//! | time to finish at shutdown | [`DRAIN_TIMEOUT`] | connections closed |

use std::time::Duration;

/// Open connections of the public listener; fewer where the process may not have so many file descriptors.
pub const CONNECTIONS_MAX: usize = 4_096;
/// Requests at work at once, mutating ones whose client has gone included.
pub const REQUESTS_MAX: u32 = 2_048;
/// Request line and headers of one request, in bytes.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;
/// Header fields of one request.
pub const HEADERS_MAX: usize = 128;
/// Path and query of one request, in bytes.
pub const TARGET_BYTES_MAX: usize = 32 * 1024;
/// Path segments that the router looks at; a reference typed with raw slashes takes several.
pub const SEGMENTS_MAX: usize = 32;
/// Decoded body of a Nessie request, in bytes (Nessie contract, section 1).
pub const NESSIE_BODY_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Decoded body of an Iceberg request, in bytes. Metadata of tables with long histories reaches tens of megabytes.
pub const ICEBERG_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Decoded bytes of all bodies that are in memory at once.
pub const BODIES_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Nesting of a JSON body; the parser's own bound, checked by a test.
pub const JSON_DEPTH_MAX: usize = 127;
/// Decompression of a body longer than this leaves the worker threads alone, in encoded bytes.
pub const INLINE_DECODE_BYTES_MAX: usize = 256 * 1024;
/// Answers shorter than this are never compressed, in bytes: below it the time costs more than the wire.
pub const GZIP_BYTES_MIN: usize = 8 * 1024;
/// Answers longer than this are compressed away from the worker threads, in bytes.
pub const INLINE_GZIP_BYTES_MAX: usize = 256 * 1024;
/// Characters of a request id that a client brings.
pub const REQUEST_ID_BYTES_MAX: usize = 128;
/// Time for the headers of a request, counted from the answer before: also the idle time of a connection.
pub const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(75);
/// Time for the whole body of a request.
pub const BODY_READ_TIMEOUT: Duration = Duration::from_secs(60);
/// What is read of a body after its request was answered, so that its client comes to read the answer, in bytes.
pub const UNREAD_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time for the same.
pub const UNREAD_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two pieces of a stream, read or written.
pub const STREAM_STALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for a read.
pub const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Time a mutating request may wait until it is admitted. Nothing limits it afterwards.
pub const ADMISSION_TIMEOUT: Duration = Duration::from_secs(30);
/// Time that requests at work have to finish at shutdown.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// What `Retry-After` says when this layer is full, in seconds.
pub const RETRY_AFTER_SECONDS: u32 = 1;
