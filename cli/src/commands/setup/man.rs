//! `man FOLDER`

use std::path::PathBuf;

use clap::CommandFactory;
use serde_json::{Value, json};

use crate::args::Cli;
use crate::error::{Error, count};
use crate::host::Host;
use crate::output::page::Page;
use crate::output::{Format, Report};

/// Write the man pages into a folder, or print the main one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder, such as ~/.local/share/man/man1 (without it: the main page is printed)
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Writes the pages: `lochan.1`, `lochan-branch.1`, `lochan-branch-create.1` and so on.
pub fn run(args: &Args, host: &mut Host, format: &dyn Format) -> Result<u8, Error> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        host.write(&page)?;
        return Ok(0);
    };
    let failed =
        |error: std::io::Error| Error::File { path: folder.display().to_string(), reason: error.to_string() };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    let pages = std::fs::read_dir(folder).map_err(failed)?.flatten().filter(|file| {
        file.file_name().to_str().is_some_and(|name| name.starts_with("lochan") && name.ends_with(".1"))
    });
    let written = Written { folder: folder.clone(), pages: pages.count() };
    host.show(format.report(&written)?, false)?;
    Ok(0)
}

struct Written {
    folder: PathBuf,
    pages: usize,
}

impl Report for Written {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({ "folder": self.folder.display().to_string(), "pages": self.pages }))
    }

    fn human(&self, page: &mut Page) {
        page.line(&format!("Wrote {} into {}", count(self.pages, "page", "pages"), self.folder.display()));
    }
}
