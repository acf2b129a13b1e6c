//! `/api/v1` and `/api/v2`.
//!
//! A handler reads the request (`refuse` holds the words for what is wrong with it), translates it ([`convert`]), makes
//! one call of the catalog, and translates the answer back. The two versions share everything but their shapes. What writes goes through
//! [`crate::replay`].

mod again;
pub mod convert;
mod refuse;
mod v1;
mod v2;

pub(crate) use refuse::bad;

use crate::app::App;
use crate::handlers::Handlers;

/// The table with the handlers of both versions.
pub fn register(handlers: Handlers<App>) -> Handlers<App> {
    v2::register(v1::register(handlers))
}
