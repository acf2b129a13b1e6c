//! The command line of `lochan-server`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::config::{Layer, Origin};

/// A Git-like catalog server for data lakes. Without a subcommand it serves.
#[derive(Debug, Parser)]
#[command(name = "lochan-server", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Settings of `serve`, which is what happens without a subcommand.
    #[command(flatten)]
    pub settings: Settings,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves the catalog until it is told to stop.
    Serve(Settings),
    /// Serves the catalog and an S3 endpoint beside it, and prints settings for clients.
    Dev(Settings),
    /// Prints the effective configuration and where each setting comes from, with secrets masked.
    Config(Settings),
    /// Verifies the store, which must not be served at the time.
    Fsck(Fsck),
    /// Takes a backup, also while the store is served; where one is already, only what is new is copied.
    Backup(Backup),
    /// Verifies a backup: every file, every object, and that nothing is missing.
    Verify(From),
    /// Puts a backup back into a data folder that holds no store.
    Restore(From),
    /// Makes a sound store of a damaged one and of a backup or another data folder; the old files are kept aside.
    Repair(Repair),
}

/// Settings that every subcommand takes. They win over the environment, which wins over the file.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Settings {
    /// Configuration file (TOML).
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of the embedded store [default: ./lochan-data].
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<String>,
    /// Address of the public surfaces; port 0 picks a free one [default: 127.0.0.1:19120].
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Address of health and metrics; port 0 picks a free one [default: 127.0.0.1:9000].
    #[arg(long, value_name = "ADDRESS")]
    pub management_listen: Option<String>,
    /// A warehouse; may be repeated, the first is the default one [default: a folder in the data folder].
    #[arg(long = "warehouse", value_name = "NAME=URI", value_parser = parse_warehouse)]
    pub warehouses: Vec<(String, String)>,
    /// File to write, as JSON, once requests are answered.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// Serves other machines although nobody is asked who they are.
    #[arg(long)]
    pub allow_unauthenticated: bool,
    /// What is logged, such as `info` or `warn,lochan_server=debug` [default: info].
    #[arg(long, value_name = "FILTER")]
    pub log_level: Option<String>,
    /// How it is logged [default: human].
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people, coloured on a terminal.
    Human,
    /// One JSON object per line.
    Json,
}

/// Arguments of `fsck`.
#[derive(Debug, ClapArgs)]
pub struct Fsck {
    /// Rebuilds the index of every commit, not only those of heads and checkpoints.
    #[arg(long)]
    pub full: bool,
    /// Where the store is.
    #[command(flatten)]
    pub settings: Settings,
}

/// Arguments of `backup`.
#[derive(Debug, ClapArgs)]
pub struct Backup {
    /// Where to: a folder, or `s3://bucket/prefix`.
    #[arg(value_name = "BACKUP")]
    pub to: String,
    /// How fast the store is read; 0 for no bound [default: 8].
    #[arg(long, value_name = "N")]
    pub mib_per_second: Option<u32>,
    /// Where the store is.
    #[command(flatten)]
    pub settings: Settings,
}

/// Arguments of `verify` and `restore`.
#[derive(Debug, ClapArgs)]
pub struct From {
    /// Where the backup is: a folder, or `s3://bucket/prefix`.
    #[arg(value_name = "BACKUP")]
    pub from: String,
    /// Where the store is, and how a bucket is reached.
    #[command(flatten)]
    pub settings: Settings,
}

/// Arguments of `repair`.
#[derive(Debug, ClapArgs)]
pub struct Repair {
    /// Where sound copies come from: a backup, or another data folder of the same repository that is not served.
    #[arg(long, value_name = "BACKUP|FOLDER")]
    pub from: String,
    /// Where the damaged store is.
    #[command(flatten)]
    pub settings: Settings,
}

impl Settings {
    /// The settings given as flags.
    pub fn layer(&self) -> Layer {
        let mut layer = Layer::new();
        let mut set = |path: &[&str], flag: &str, value: Option<&str>| {
            if let Some(value) = value {
                layer.set_text(path, value, Origin::Flag(format!("--{flag}")));
            }
        };
        set(&["store", "data_dir"], "data-dir", self.data_dir.as_deref());
        set(&["server", "listen"], "listen", self.listen.as_deref());
        set(&["server", "management_listen"], "management-listen", self.management_listen.as_deref());
        set(&["log", "level"], "log-level", self.log_level.as_deref());
        let format = self.log_format.map(|format| match format {
            LogFormat::Human => "human",
            LogFormat::Json => "json",
        });
        set(&["log", "format"], "log-format", format);
        let allowed = self.allow_unauthenticated.then_some("true");
        set(&["server", "allow_unauthenticated"], "allow-unauthenticated", allowed);
        for (name, uri) in &self.warehouses {
            set(&["warehouses", name, "location"], "warehouse", Some(uri));
        }
        layer
    }
}

fn parse_warehouse(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, uri)) if !name.is_empty() && !uri.is_empty() => Ok((name.to_owned(), uri.to_owned())),
        _ => Err("a warehouse is given as NAME=URI, such as lake=s3://bucket/prefix".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn flags_work_with_and_without_the_subcommand() {
        let bare = Args::parse_from(["lochan-server", "--listen", "127.0.0.1:0"]);
        assert!(bare.command.is_none());
        assert_eq!(bare.settings.listen.as_deref(), Some("127.0.0.1:0"));
        let full =
            Args::parse_from(["lochan-server", "serve", "--warehouse", "a=s3://b/c=d", "--warehouse", "e=f"]);
        let Some(Command::Serve(settings)) = full.command else { panic!("not serve") };
        assert_eq!(settings.warehouses, [("a".into(), "s3://b/c=d".into()), ("e".into(), "f".into())]);
        assert!(Args::try_parse_from(["lochan-server", "--warehouse", "nothing"]).is_err());
        assert!(Args::try_parse_from(["lochan-server", "fsck", "--full", "--data-dir", "x"]).is_ok());
    }
}
