//! References and hashes of requests.

use lochan_api_spec::syntax::reference::{self as syntax, DEFAULT_BRANCH_ALIAS, DETACHED, NAME_MESSAGE};
use lochan_api_spec::syntax::{HashSpec, RefSpec, ReferenceError, RelPart};
use lochan_server_catalog::nessie::{Hash, Point, point::Relative};
use lochan_storage_model::CommitId;

use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::nessie::refuse;
use crate::router::Span;

/// A commit as written: 64 digits are an id, fewer are none that exists.
pub fn hash(text: &str) -> Hash {
    text.parse::<CommitId>().map_or_else(|_| Hash::Short(text.to_owned()), Hash::Id)
}

/// A reference name of a body, with a hash: `DETACHED` stands for none. Names are looked up literally.
pub fn named(name: &str, at: &HashSpec) -> Point {
    let name = (name != DETACHED).then(|| name.to_owned());
    Point { name, hash: at.hash.as_deref().map(hash), parts: at.parts.iter().map(relative).collect() }
}

/// The reference of a v2 path, with its hash.
pub fn of_path(app: &App, req: &Req, span: Span, argument: &str) -> Result<Point, Failure> {
    let text = req.param(span)?;
    let spec = RefSpec::parse(&text).map_err(|error| refuse::reference(argument, &error))?;
    Ok(of_spec(app, spec))
}

/// The reference of a v2 path that may not carry a hash; `refusal` says so.
pub fn of_path_without_hash(
    app: &App,
    req: &Req,
    span: Span,
    argument: &str,
    refusal: &str,
) -> Result<String, Failure> {
    let text = req.param(span)?;
    let spec = RefSpec::parse(&text).map_err(|error| match error {
        ReferenceError::Path => refuse::violation(argument, NAME_MESSAGE),
        error => refuse::reference(argument, &error),
    })?;
    if spec.has_hash() {
        return Err(refuse::bad(refusal));
    }
    match spec.name.as_deref() {
        Some(DEFAULT_BRANCH_ALIAS) => Ok(app.catalog.settings().default_branch.to_string()),
        Some(name) => Ok(name.to_owned()),
        None => Err(refuse::violation(argument, NAME_MESSAGE)),
    }
}

fn of_spec(app: &App, spec: RefSpec) -> Point {
    let name = match spec.name {
        Some(name) if name == DEFAULT_BRANCH_ALIAS => Some(app.catalog.settings().default_branch.to_string()),
        Some(name) if name == DETACHED => None,
        name => name,
    };
    Point { name, hash: spec.hash.as_deref().map(hash), parts: spec.parts.iter().map(relative).collect() }
}

/// The name in a v1 path or parameter.
pub fn name_v1(text: &str, argument: &str) -> Result<(), Failure> {
    syntax::check_name(text).map_err(|error| refuse::reference(argument, &error))
}

/// A reference of v1: a name, and a hash with optional relative parts from a parameter.
pub fn v1(name: &str, at: Option<&str>, argument: &str) -> Result<Point, Failure> {
    let at = HashSpec::parse(at.unwrap_or_default()).map_err(|error| refuse::reference(argument, &error))?;
    Ok(named(name, &at))
}

/// A reference of v1 with the plain hash of a required parameter.
pub fn v1_expected(name: &str, expected: Option<&str>, argument: &str) -> Result<Point, Failure> {
    let expected = refuse::required(argument, expected)?;
    let plain = syntax::parse_hash(expected).map_err(|error| refuse::reference(argument, &error))?;
    Ok(named(name, &HashSpec::of(plain)))
}

fn relative(part: &RelPart) -> Relative {
    match part {
        RelPart::Predecessor(n) => Relative::Predecessor(*n),
        RelPart::Parent(n) => Relative::Parent(*n),
        RelPart::AtOrBefore(at) => Relative::At(at.micros()),
    }
}
