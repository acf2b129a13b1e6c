//! References and hashes of requests.

use lochan_api_spec::nessie::model::ReferenceInput;
use lochan_api_spec::syntax::reference::{self as syntax, DEFAULT_BRANCH_ALIAS, DETACHED, NAME_MESSAGE};
use lochan_api_spec::syntax::{HashSpec, RefSpec, ReferenceError, RelPart};
use lochan_server_catalog::nessie::{
    Hash, Point,
    point::{Part, Relative},
};
use lochan_storage_model::CommitId;

use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::nessie::refuse::{self, Checks};
use crate::router::Span;

/// A commit as written: 64 digits are an id, fewer are none that exists.
pub fn hash(text: &str) -> Hash {
    text.parse::<CommitId>().map_or_else(|_| Hash::Short(text.to_owned()), Hash::Id)
}

/// A reference name of a body: `DETACHED` stands for none. Names are looked up literally.
pub fn named(name: &str, at: At) -> Point {
    let name = (name != DETACHED).then(|| name.to_owned());
    Point { name, hash: at.hash, parts: at.parts }
}

/// A commit with relative parts, without its reference.
#[derive(Default)]
pub struct At {
    hash: Option<Hash>,
    parts: Vec<Part>,
}

impl At {
    /// The hash-or-relative form; empty text is nothing. Only the shape is judged here: what cannot be is told when the point
    /// is looked up.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let (spec, impossible) = shape(text, HashSpec::parse)?;
        Ok(Self::of(spec.hash, &spec.parts, impossible))
    }

    /// As [`At::parse`], but text of the wrong shape is told too when the point is looked up.
    pub fn judged_late(text: &str) -> Self {
        Self::parse(text)
            .unwrap_or_else(|error| Self::of(None, &[], Some(Part::Impossible(error.to_string()))))
    }

    /// A plain hash.
    pub fn plain(text: &str) -> Result<Self, ReferenceError> {
        Ok(Self { hash: Some(hash(&syntax::parse_hash(text)?)), parts: Vec::new() })
    }

    fn of(start: Option<String>, parts: &[RelPart], impossible: Option<Part>) -> Self {
        let parts = parts.iter().map(|part| Part::Step(relative(part))).chain(impossible).collect();
        Self { hash: start.as_deref().map(hash), parts }
    }
}

/// The reference of a body, with its hash.
pub fn of_body(body: &ReferenceInput, argument: &str) -> Result<Point, Failure> {
    let at = At::parse(body.hash.as_deref().unwrap_or_default());
    let at = at.map_err(|error| refuse::reference(argument, &error))?;
    Ok(named(body.name.as_deref().unwrap_or(DETACHED), at))
}

/// Parses by shape: where a relative part has an impossible value, what stands before the parts, and that value's message.
fn shape<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, ReferenceError>,
) -> Result<(T, Option<Part>), ReferenceError> {
    match parse(text) {
        Ok(spec) => Ok((spec, None)),
        Err(error) if error.is_violation() => Err(error),
        Err(error) => {
            let start = text.split(['~', '^', '*']).next().unwrap_or_default();
            Ok((parse(start)?, Some(Part::Impossible(error.to_string()))))
        }
    }
}

/// The reference of a v2 path, with its hash.
pub fn of_path(app: &App, req: &Req, span: Span, argument: &str) -> Result<Point, Failure> {
    let mut checks = Checks::default();
    let at = of_path_in(app, req, span, argument, &mut checks)?;
    checks.done(at)
}

/// The reference of a v2 path, with its hash, as one of several arguments.
pub fn of_path_in(
    app: &App,
    req: &Req,
    span: Span,
    argument: &str,
    checks: &mut Checks,
) -> Result<Option<Point>, Failure> {
    let text = req.param(span)?;
    Ok(checks
        .reference(argument, shape(&text, RefSpec::parse))
        .map(|(spec, impossible)| of_spec(app, spec, impossible)))
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
    let (spec, impossible) = shape(&text, RefSpec::parse).map_err(|error| match error {
        ReferenceError::Path => refuse::violation(argument, NAME_MESSAGE),
        error => refuse::reference(argument, &error),
    })?;
    if spec.has_hash() || impossible.is_some() {
        return Err(refuse::bad(refusal));
    }
    match spec.name.as_deref() {
        Some(DEFAULT_BRANCH_ALIAS) => Ok(app.catalog.settings().default_branch.to_string()),
        Some(name) => Ok(name.to_owned()),
        None => Err(refuse::violation(argument, NAME_MESSAGE)),
    }
}

fn of_spec(app: &App, spec: RefSpec, impossible: Option<Part>) -> Point {
    let name = match spec.name {
        Some(name) if name == DEFAULT_BRANCH_ALIAS => Some(app.catalog.settings().default_branch.to_string()),
        Some(name) if name == DETACHED => None,
        name => name,
    };
    let At { hash, parts } = At::of(spec.hash, &spec.parts, impossible);
    Point { name, hash, parts }
}

/// The name in a v1 path or parameter.
pub fn name_v1(text: &str, argument: &str) -> Result<(), Failure> {
    syntax::check_name(text).map_err(|error| refuse::reference(argument, &error))
}

/// A reference of v1: a name, and a hash with optional relative parts from a parameter.
pub fn v1(
    (name_argument, name): (&str, &str),
    (at_argument, at): (&str, Option<&str>),
) -> Result<Point, Failure> {
    let mut checks = Checks::default();
    checks.reference(name_argument, syntax::check_name(name));
    let at = checks.reference(at_argument, At::parse(at.unwrap_or_default()));
    Ok(named(name, checks.done(at)?))
}

/// A reference of v1 with the plain hash of a required parameter, as arguments among others.
pub fn v1_expected(
    (name_argument, name): (&str, &str),
    (at_argument, expected): (&str, Option<&str>),
    checks: &mut Checks,
) -> Option<Point> {
    checks.reference(name_argument, syntax::check_name(name));
    let expected = checks.present(at_argument, expected)?;
    checks.reference(at_argument, At::plain(expected)).map(|at| named(name, at))
}

fn relative(part: &RelPart) -> Relative {
    match part {
        RelPart::Predecessor(n) => Relative::Predecessor(*n),
        RelPart::Parent(n) => Relative::Parent(*n),
        RelPart::AtOrBefore(at) => Relative::At(at.micros()),
    }
}
