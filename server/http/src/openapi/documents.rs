//! The documents as files, generated when the first of them is asked for and kept compressed.

use std::io::Write;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use lochan_api_spec::openapi::Document;

use crate::reply::Reply;

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.yaml`
    Yaml,
    /// `.json`
    Json,
}

static FILES: LazyLock<Vec<(Document, Format, Bytes)>> = LazyLock::new(|| {
    let both = |document: &Document| [(*document, Format::Yaml), (*document, Format::Json)];
    Document::ALL
        .iter()
        .flat_map(both)
        .map(|(document, format)| (document, format, packed(document, format)))
        .collect()
});

/// The document of a file name.
pub(super) fn find(file: &str) -> Option<(Document, Format)> {
    let (name, ending) = file.rsplit_once('.')?;
    let format = match ending {
        "yaml" => Format::Yaml,
        "json" => Format::Json,
        _ => return None,
    };
    Document::ALL.iter().find(|document| document.name() == name).map(|document| (*document, format))
}

/// The answer with a document. Making all of them takes some milliseconds, away from the worker threads.
pub(super) async fn reply(document: Document, format: Format) -> Reply {
    let find = move || {
        FILES.iter().find(|(d, f, _)| (*d, *f) == (document, format)).map(|(_, _, bytes)| bytes.clone())
    };
    let bytes = tokio::task::spawn_blocking(find).await.ok().flatten();
    let media = match format {
        Format::Yaml => "application/yaml",
        Format::Json => "application/json",
    };
    Reply::packed(media, bytes.unwrap_or_default())
}

fn packed(document: Document, format: Format) -> Bytes {
    let text = match format {
        Format::Yaml => document.yaml(),
        Format::Json => document.json(),
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let done = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    done.expect("writing to memory does not fail").into()
}
