//! Between the words of the wire and those of the catalog.

use lochan_api_spec::iceberg::identifier::TableIdentifier;
use lochan_api_spec::syntax::namespace_path::NamespacePath;
use lochan_api_spec::syntax::prefix::Prefix;
use lochan_api_spec::syntax::reference::{DEFAULT_BRANCH_ALIAS, DETACHED};
use lochan_api_spec::syntax::table_name::{At, TableName};
use lochan_api_spec::syntax::{HashSpec, RefSpec, RelPart};
use lochan_server_catalog::iceberg::{Author, CommitNote, Name, Namespace, Place, Relative, Target};
use lochan_server_catalog::{Error, Principal, RefPoint};
use lochan_storage_model::CommitId;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::Refusal;
use crate::extract::Req;
use crate::failure::Failure;

/// A 400 in these words.
pub(super) fn bad(message: impl Into<String>) -> Failure {
    Refusal::Malformed(message.into()).into()
}

/// Who asks, and whether they still wait.
pub(super) fn principal(req: &Req) -> Principal {
    req.principal()
}

/// Who writes, and what the commit shall say.
pub(super) fn author(req: &Req) -> Result<Author, Failure> {
    let headers = req.commit_headers();
    let note = CommitNote {
        message: headers.message,
        authors: headers.authors,
        signed_off_by: headers.signed_off_by,
        properties: headers.properties.into_iter().collect(),
    };
    Ok(Author { principal: principal(req), note, bytes: req.body.len() as u64 })
}

/// The place that the prefix of a request names.
pub(super) fn place(req: &Req) -> Result<Place, Failure> {
    place_of(req.raw_param(req.params.prefix)).map(|(place, _)| place)
}

/// The place that a raw prefix names, with the prefix as read.
pub(super) fn place_of(raw: &str) -> Result<(Place, Prefix), Failure> {
    let prefix = Prefix::parse(raw).map_err(|error| bad(error.to_string()))?;
    let point = match &prefix.reference {
        Some(spec) => point(spec)?,
        None => RefPoint::default(),
    };
    Ok((Place { point, warehouse: prefix.warehouse.clone() }, prefix))
}

fn point(spec: &RefSpec) -> Result<RefPoint, Failure> {
    let name = spec.name.clone().filter(|name| name != DEFAULT_BRANCH_ALIAS && name != DETACHED);
    at(RefPoint { name, ..RefPoint::default() }, &spec.hash_spec())
}

/// The point moved to a commit of its reference.
fn at(mut point: RefPoint, spec: &HashSpec) -> Result<RefPoint, Failure> {
    point.hash = spec.hash.as_deref().map(commit_id).transpose()?;
    point.parts = spec.parts.iter().map(relative).collect();
    Ok(point)
}

/// A hash of fewer digits than an id has names no commit.
fn commit_id(text: &str) -> Result<CommitId, Failure> {
    text.parse().map_err(|_| Error::ReferenceNotFound(format!("Commit '{text}' not found")).into())
}

fn relative(part: &RelPart) -> Relative {
    match part {
        RelPart::Predecessor(n) => Relative::Predecessor(*n),
        RelPart::Parent(n) => Relative::Parent(*n),
        RelPart::AtOrBefore(at) => Relative::At(at.micros()),
    }
}

/// The namespace of a path.
pub(super) fn namespace(req: &Req) -> Namespace {
    of_path(NamespacePath::from_segment(req.raw_param(req.params.namespace)))
}

/// A namespace as the path syntax reads it.
pub(super) fn of_path(path: NamespacePath) -> Namespace {
    Namespace { levels: path.levels, dotted: path.dotted }
}

/// The table or view of a path.
pub(super) fn target(req: &Req, place: &Place) -> Result<Target, Failure> {
    target_of(place, namespace(req), &req.param(req.params.name)?)
}

/// The table or view of a body.
pub(super) fn target_of_identifier(place: &Place, identifier: TableIdentifier) -> Result<Target, Failure> {
    target_of(place, Namespace::of(identifier.namespace), &identifier.name)
}

/// A table or view by a name that may bring its own reference.
pub(super) fn target_of(place: &Place, namespace: Namespace, name: &str) -> Result<Target, Failure> {
    let parsed = TableName::parse(name).map_err(|error| bad(error.to_string()))?;
    let own = parsed.reference.filter(|name| name != DEFAULT_BRANCH_ALIAS);
    let start = match own {
        Some(name) => RefPoint::head(&name),
        None if parsed.at.is_some() => RefPoint { name: place.point.name.clone(), ..RefPoint::default() },
        None => place.point.clone(),
    };
    let point = match parsed.at {
        None => start,
        Some(At::Hash(spec)) => at(start, &spec)?,
        Some(At::Time(time)) => RefPoint { parts: vec![Relative::At(time.micros())], ..start },
    };
    Ok(Target { point, name: Name { namespace, name: parsed.name } })
}

/// Source and destination of a rename. A destination without a reference is on that of the source.
pub(super) fn rename(
    place: &Place,
    source: TableIdentifier,
    destination: TableIdentifier,
) -> Result<(Target, Target), Failure> {
    let source = target_of_identifier(place, source)?;
    let from = Place { point: source.point.clone(), warehouse: place.warehouse.clone() };
    let destination = target_of_identifier(&from, destination)?;
    Ok((source, destination))
}

/// Refuses an identifier in a body that is not the one of the path.
pub(super) fn agrees(identifier: Option<&TableIdentifier>, path: &Target) -> Result<(), Failure> {
    let Some(identifier) = identifier else { return Ok(()) };
    let levels = &path.name.namespace;
    let same_namespace =
        identifier.namespace == levels.levels || levels.dotted.as_ref() == Some(&identifier.namespace);
    let same_name = TableName::parse(&identifier.name).is_ok_and(|name| name.name == path.name.name);
    if same_namespace && same_name {
        return Ok(());
    }
    Err(bad("The identifier of the request body is not the one of the path."))
}

/// A document inside a body, read by the crate that owns it.
pub(super) fn part<T: DeserializeOwned>(field: &str, raw: &RawValue) -> Result<T, Failure> {
    serde_json::from_str(raw.get())
        .map_err(|error| bad(format!("The request body is not valid: field '{field}': {error}")))
}

/// A list of documents inside a body.
pub(super) fn parts<T>(
    field: &str,
    raw: &[Box<RawValue>],
    read: impl Fn(serde_json::Value) -> Result<T, lochan_storage_iceberg::Error>,
) -> Result<Vec<T>, Failure> {
    let read_one = |raw: &RawValue| {
        let value = part(field, raw)?;
        read(value).map_err(|error| Failure::App(error.into()))
    };
    raw.iter().map(|raw| read_one(raw)).collect()
}
