//! Logs and metrics.

mod logs;
mod metrics;

pub use logs::init as init_logs;
pub use metrics::{Metrics, UPKEEP_INTERVAL};
