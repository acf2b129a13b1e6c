//! House rules that no compiler checks: who may import whom, and that the project speaks of itself alone.
//!
//! The import table is not repeated here: it is read from `ARCHITECTURE.md`, so that page and build cannot drift apart.

mod imports;
mod table;
mod words;

use std::path::{Path, PathBuf};

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the suites live one folder below the root")
        .to_path_buf()
}
