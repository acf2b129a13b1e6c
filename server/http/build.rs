//! Takes the files of Swagger UI out of the archive that a crate carries, compressed as they are served.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

/// The files that the page loads.
const FILES: [&str; 3] = ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for file in FILES {
        let suffix = format!("/dist/{file}");
        let mut names = archive.file_names().filter_map(Result::ok);
        let name = names.find(|name| name.ends_with(&suffix)).map(|name| name.into_owned());
        drop(names);
        let name = name.ok_or_else(|| format!("the archive of Swagger UI has no {suffix}"))?;
        let mut bytes = Vec::new();
        archive.by_name(&name)?.read_to_end(&mut bytes)?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes)?;
        fs::write(out.join(format!("{file}.gz")), packed.finish()?)?;
    }
    Ok(())
}
