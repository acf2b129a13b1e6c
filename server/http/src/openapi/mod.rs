//! `/openapi/`: the OpenAPI documents of every surface, and Swagger UI to read and try them.
//!
//! These pages are no operations of any surface: they show nothing that is stored, are open to everybody, and answer
//! `GET` and `HEAD` only. Nothing on them comes from another host, which the page's content security policy also forbids.

mod documents;
#[cfg(test)]
mod tests;
mod ui;

use lochan_api_spec::openapi::Document;
use serde_json::json;

use crate::reply::Reply;

pub(crate) use documents::Format;
pub(crate) use ui::Asset;

/// The methods of every page.
pub(crate) const ALLOW: &str = "GET, HEAD, OPTIONS";

/// A page below `/openapi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// What there is.
    Index,
    /// Swagger UI.
    Ui,
    /// A file of Swagger UI.
    Asset(Asset),
    /// A document.
    Document(Document, Format),
}

/// The page whose path segments after `openapi` are `tail`.
///
/// The files of the UI lie beside it and below it, so that its relative links work with and without a slash at its end,
/// and behind a proxy that serves everything below a prefix.
pub(crate) fn find(tail: &[&str]) -> Option<Page> {
    match tail {
        [] => Some(Page::Index),
        ["ui"] => Some(Page::Ui),
        [file] | ["ui", file] => documents::find(file)
            .map(|(document, format)| Page::Document(document, format))
            .or_else(|| Asset::ALL.iter().find(|asset| asset.file_name() == *file).copied().map(Page::Asset)),
        _ => None,
    }
}

/// The answer with a page.
pub(crate) async fn answer(page: Page) -> Reply {
    match page {
        Page::Index => Reply::json(&index()),
        Page::Ui => Reply::text("text/html; charset=utf-8", ui::PAGE),
        Page::Asset(asset) => asset.reply(),
        Page::Document(document, format) => documents::reply(document, format).await,
    }
}

fn index() -> serde_json::Value {
    let documents = Document::ALL.iter().map(|document| {
        json!({
            "title": document.title(),
            "yaml": format!("/openapi/{}.yaml", document.name()),
            "json": format!("/openapi/{}.json", document.name()),
        })
    });
    json!({ "documents": documents.collect::<Vec<_>>(), "ui": "/openapi/ui" })
}
