//! Which operation a request means, found on the **raw, still encoded** path.
//!
//! `%2F` stands for a slash inside a reference, key or name, so nothing is decoded before the segments are cut.
//! Operations are those that `api-spec` declares; a test compares the two. One function per surface turns segments into the operations of that path and the places of its parameters;
//! [`route`] then picks by method. Nothing is allocated.

mod ext;
mod iceberg;
mod nessie_v1;
mod nessie_v2;
mod op;
mod path;
#[cfg(test)]
mod tests;

use http::Method;

use crate::openapi::{self, Page};

pub use op::{Effect, Op, Surface};
use path::Segments;
pub(crate) use path::is_illegal;
pub use path::{Params, Span};

/// What the router found.
#[derive(Debug, PartialEq, Eq)]
pub enum Routed {
    /// An operation and its parameters.
    Op(Op, Params),
    /// `OPTIONS` of a path that has these operations.
    Options(Surface, &'static [Op]),
    /// The path has these operations, none with this method.
    WrongMethod(Surface, &'static [Op]),
    /// A page below `/openapi`, which belongs to no surface.
    Page(Page),
    /// `OPTIONS` of such a page.
    PageOptions,
    /// Such a page, with a method that it does not have.
    WrongPageMethod,
    /// No such path. The surface says how to answer.
    Unknown(Surface),
    /// A path of the Iceberg REST API below the base of the Nessie API.
    Misplaced(Surface),
}

impl Routed {
    /// The surface that answers.
    pub fn surface(&self) -> Surface {
        match self {
            Routed::Op(op, _) => op.surface(),
            Routed::Options(surface, _)
            | Routed::WrongMethod(surface, _)
            | Routed::Unknown(surface)
            | Routed::Misplaced(surface) => *surface,
            Routed::Page(_) | Routed::PageOptions | Routed::WrongPageMethod => Surface::Ext,
        }
    }
}

/// The operations of one path and its parameters.
type Found = Option<(&'static [Op], Params)>;

/// Finds the operation of `method` and raw `path` (no query).
pub fn route(method: &Method, path: &str) -> Routed {
    let Some(segments) = Segments::split(path) else { return Routed::Unknown(surface_of(path)) };
    let (surface, found) = match segments.parts() {
        ["openapi", tail @ ..] => return route_page(method, tail),
        ["api", "v2", tail @ ..] => (Surface::NessieV2, nessie_v2::find(&segments, tail)),
        ["api", "v1", tail @ ..] => (Surface::NessieV1, nessie_v1::find(&segments, tail)),
        ["api", ..] => (Surface::NessieV2, None),
        ["iceberg", tail @ ..] => (Surface::Iceberg, iceberg::find(&segments, tail)),
        ["ext", "v1", tail @ ..] => (Surface::Ext, ext::find(&segments, tail)),
        _ => (Surface::Ext, None),
    };
    match found {
        None if surface.is_nessie() && looks_like_iceberg(&segments) => Routed::Misplaced(surface),
        None => Routed::Unknown(surface),
        Some((ops, params)) => match pick(ops, method) {
            Some(op) => Routed::Op(op, params),
            None if *method == Method::OPTIONS => Routed::Options(surface, ops),
            // `tree` stands where these methods have a type, and is none.
            None if ops == [Op::V1GetReferenceByName] && matches!(*method, Method::PUT | Method::DELETE) => {
                Routed::Unknown(surface)
            }
            None => Routed::WrongMethod(surface, ops),
        },
    }
}

/// Whether somebody gave the base of the Nessie API to a client of the Iceberg REST API.
fn looks_like_iceberg(segments: &Segments<'_>) -> bool {
    matches!(segments.parts(), ["api", _, tail @ ..] if iceberg::find(segments, tail).is_some())
}

/// Finds a page below `/openapi`.
fn route_page(method: &Method, tail: &[&str]) -> Routed {
    match openapi::find(tail) {
        None => Routed::Unknown(Surface::Ext),
        Some(page) if matches!(*method, Method::GET | Method::HEAD) => Routed::Page(page),
        Some(_) if *method == Method::OPTIONS => Routed::PageOptions,
        Some(_) => Routed::WrongPageMethod,
    }
}

/// The operation of `ops` for `method`; `HEAD` falls back to `GET`.
fn pick(ops: &'static [Op], method: &Method) -> Option<Op> {
    let exact = ops.iter().find(|op| op.method() == method.as_str());
    let found = match exact {
        None if *method == Method::HEAD => ops.iter().find(|op| op.method() == Method::GET.as_str()),
        found => found,
    };
    found.copied()
}

/// The surface of a path too long to route.
fn surface_of(path: &str) -> Surface {
    let path = path.trim_start_matches('/');
    if path.starts_with("api/v1/") {
        Surface::NessieV1
    } else if path.starts_with("api/") {
        Surface::NessieV2
    } else if path.starts_with("iceberg/") {
        Surface::Iceberg
    } else {
        Surface::Ext
    }
}

/// What the `Allow` header says about a path with these operations.
pub fn allow(ops: &[Op]) -> String {
    let mut methods: Vec<&str> = ops.iter().map(|op| op.method()).collect();
    if methods.contains(&"GET") && !methods.contains(&"HEAD") {
        methods.push("HEAD");
    }
    methods.push("OPTIONS");
    methods.join(", ")
}
