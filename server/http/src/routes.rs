//! The handlers of every surface.

use crate::app::App;
use crate::ext;
use crate::handlers::Handlers;
use crate::iceberg;
use crate::nessie;
use crate::router::Op;

/// The table of handlers.
pub fn routes() -> Handlers<App> {
    let handlers = iceberg::register(nessie::register(Handlers::new()));
    handlers.on(Op::ExtGetInfo, ext::get_info)
}
