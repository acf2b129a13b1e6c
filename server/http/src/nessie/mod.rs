//! `/api/v1` and `/api/v2`.

pub mod convert;
