//! `/ext/v1`: what only this server has.

mod info;

pub use info::get_info;
