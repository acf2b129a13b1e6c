//! Text forms found in paths, query strings and names, one place for each.
//!
//! Everything here is pure: text in, value or error out. The messages of the errors are part of the contract
//! where clients and kits compare them, so they are `Display`ed word for word.

pub mod cutoff;
pub mod duration;
pub mod instant;
pub mod key;
pub(crate) mod lenient;
pub mod namespace_path;
pub mod percent;
pub mod prefix;
pub mod query;
pub mod reference;
pub mod table_name;
pub mod token;

pub use instant::Instant;
pub use lenient::EitherSpelling;
pub use reference::{HashSpec, RefSpec, ReferenceError, RelPart};
