//! Work done on a store inside a program under test, what it says about itself, and what must hold of a disk afterwards.
//!
//! The engine runs on the real backend and real files, without HTTP in between, so that thousands of disks can be opened.

mod crowd;
mod marks;
mod open;
mod points;
mod reader;
mod script;
mod verify;

pub use crowd::crowd;
pub use marks::{Mark, Outcome, State, marks};
pub use points::{Death, POINTS, When, die_at};
pub use script::{RowSizes, script};
pub use verify::{CrowdCheck, ScriptCheck, Thoroughness, check_writable};
