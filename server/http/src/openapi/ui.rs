//! Swagger UI: a page, its start script, and the files that the build has taken out of the crate that carries them.

use bytes::Bytes;

use crate::reply::Reply;

/// The page. Its policy lets it load and call nothing but this server.
pub(super) const PAGE: &str = include_str!("page.html");
const START: &str = include_str!("start.js");

/// A file that the page loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asset {
    /// The styles.
    Styles,
    /// The program.
    Bundle,
    /// The part with the choice of documents.
    Preset,
    /// What starts the program with our documents.
    Start,
}

impl Asset {
    /// Every file.
    pub(super) const ALL: &'static [Asset] = &[Self::Styles, Self::Bundle, Self::Preset, Self::Start];

    /// Its name in the page.
    pub(super) const fn file_name(self) -> &'static str {
        match self {
            Self::Styles => "swagger-ui.css",
            Self::Bundle => "swagger-ui-bundle.js",
            Self::Preset => "swagger-ui-standalone-preset.js",
            Self::Start => "start.js",
        }
    }

    /// The answer with it.
    pub(super) fn reply(self) -> Reply {
        const SCRIPT: &str = "text/javascript; charset=utf-8";
        let packed = |media, bytes: &'static [u8]| Reply::packed(media, Bytes::from_static(bytes));
        match self {
            Self::Styles => packed(
                "text/css; charset=utf-8",
                include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz")),
            ),
            Self::Bundle => {
                packed(SCRIPT, include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz")))
            }
            Self::Preset => packed(
                SCRIPT,
                include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-standalone-preset.js.gz")),
            ),
            Self::Start => Reply::text(SCRIPT, START),
        }
    }
}
