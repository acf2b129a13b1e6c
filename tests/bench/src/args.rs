//! Arguments of the benchmark.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::ceiling;
use crate::workload;

/// Measures a Lochan server against what this machine can do at the same minute.
///
/// Every figure is a ratio to one of two ceilings, taken from slices that run next to each other. The exit code is 0
/// when the run is valid (no unexpected answer, every history grown by exactly what was acknowledged), whether or
/// not the bars are met.
#[derive(Debug, Parser)]
#[command(name = "lochan-bench", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What else this program is.
    #[command(subcommand)]
    pub role: Option<Role>,
    /// How to measure.
    #[command(flatten)]
    pub run: Run,
}

/// Roles in which the benchmark starts itself.
#[derive(Debug, Subcommand)]
pub enum Role {
    /// Serves as a ceiling until standard input closes.
    #[command(hide = true)]
    Ceiling {
        /// Which one.
        kind: ceiling::Kind,
        /// File that the durable one appends to.
        log: PathBuf,
    },
}

/// How to measure.
#[derive(Clone, Debug, ClapArgs)]
pub struct Run {
    /// Server binary; without it `lochan-server` beside this program.
    #[arg(long)]
    pub server: Option<PathBuf>,
    /// Workloads to run; without it all.
    #[arg(long, value_delimiter = ',')]
    pub workload: Vec<workload::Kind>,
    /// Numbers of tables, each loaded into a server of its own.
    #[arg(long, value_delimiter = ',', default_value = "1000,100000")]
    pub keys: Vec<usize>,
    /// Numbers of concurrent writers.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    pub writers: Vec<usize>,
    /// Number of concurrent readers.
    #[arg(long, default_value_t = 16)]
    pub readers: usize,
    /// Length of a slice in seconds.
    #[arg(long, default_value_t = 3.0)]
    pub seconds: f64,
    /// Slices per server and workload, each beside one of the ceiling.
    #[arg(long, default_value_t = 5)]
    pub pairs: usize,
    /// Warehouse for the Iceberg workloads as a URI, or `temp` for a `file:` one in the scratch folder; without it
    /// they are left out.
    #[arg(long)]
    pub warehouse: Option<String>,
    /// Measures only how much longer commits take while the store is scrubbed or backed up, with the most keys.
    #[arg(long, conflicts_with_all = ["workload", "warehouse"])]
    pub beside: bool,
    /// Leaves out cold start and idle memory.
    #[arg(long)]
    pub no_start: bool,
    /// Folder for the data of servers and ceilings; its disk is part of what is measured.
    #[arg(long)]
    pub scratch: Option<PathBuf>,
    /// File for all figures as JSON.
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Keeps data and logs of the servers.
    #[arg(long)]
    pub keep: bool,
    /// One more argument for `lochan-server serve`; may be given several times.
    #[arg(long = "server-arg", allow_hyphen_values = true)]
    pub server_args: Vec<String>,
}

impl Run {
    /// Workloads in the order in which they run; those that need a warehouse only when there is one.
    pub fn workloads(&self) -> Vec<workload::Kind> {
        workload::Kind::ALL
            .into_iter()
            .filter(|kind| self.workload.is_empty() || self.workload.contains(kind))
            .filter(|kind| !kind.is_iceberg() || self.warehouse.is_some())
            .collect()
    }
}
