//! What handlers are given besides their request.

use lochan_server_catalog::Catalog;

use crate::extract::{Proxy, Req};

/// The application behind the surfaces.
pub struct App {
    /// Every use case.
    pub catalog: Catalog,
    /// Where and what this server is.
    pub site: Site,
}

/// Where and what a server is.
#[derive(Clone, Debug)]
pub struct Site {
    /// The root URL that an operator has fixed, if any; it wins over what headers say.
    pub public_url: Option<String>,
    /// Whether headers of a proxy are believed.
    pub proxy: Proxy,
    /// The root URL of the listener as seen from its own machine.
    pub local_url: String,
    /// The version of the program.
    pub version: &'static str,
    /// The engine of the store.
    pub store_engine: &'static str,
    /// When a write is acknowledged: `fsync` or `os`.
    pub durability: &'static str,
}

impl App {
    /// The root URL under which the client of `req` reaches this server, without a slash at the end.
    pub fn base_url(&self, req: &Req) -> String {
        match &self.site.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => req.base_url(self.site.proxy, &self.site.local_url),
        }
    }
}
