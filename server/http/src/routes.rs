//! The handlers of every surface.

use crate::app::App;
use crate::ext;
use crate::handlers::Handlers;
use crate::iceberg;
use crate::nessie;

/// The table of handlers.
pub fn routes() -> Handlers<App> {
    ext::register(iceberg::register(nessie::register(Handlers::new())))
}
