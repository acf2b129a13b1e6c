//! The values of variables, built field by field as far as an expression looks.

use std::{collections::HashMap, sync::Arc};

use cel::{
    Value,
    objects::{Key as MapKey, Map},
};
use chrono::DateTime;
use lochan_storage_engine::history::LogEntry;
use lochan_storage_model::{ContentKey, ContentType, Instant};
use lochan_storage_odb::RefKind;

use super::{Subject, check::Uses};
use crate::{
    access,
    nessie::{log, references},
};

/// What stands for a dot inside an element in the legacy form of keys.
const LEGACY_DOT: char = '\u{1d}';

/// A key of a diff.
pub(crate) struct Key<'a>(pub(crate) &'a ContentKey);

/// An entry of a state.
pub(crate) struct Entry<'a> {
    /// Its key.
    pub(crate) key: &'a ContentKey,
    /// Type of its content.
    pub(crate) content_type: ContentType,
}

/// A reference.
pub(crate) struct Described<'a>(pub(crate) &'a references::Described);

/// A commit of a log.
pub(crate) struct Logged<'a>(pub(crate) &'a log::Logged);

/// A question about access.
pub(crate) struct Asked<'a> {
    /// Who asks.
    pub(crate) who: &'a access::Principal,
    /// What for.
    pub(crate) subject: &'a access::Subject,
}

impl Subject for Key<'_> {
    fn variable(&self, name: &str, uses: &Uses) -> Value {
        let mut object = Object::default();
        key_fields(&mut object, self.0, |field| uses.has(name, field));
        object.into()
    }
}

impl Subject for Entry<'_> {
    fn variable(&self, name: &str, uses: &Uses) -> Value {
        let mut object = Object::default();
        key_fields(&mut object, self.key, |field| uses.has(name, field));
        if uses.has(name, "contentType") {
            object.set("contentType", text(type_word(self.content_type)));
        }
        object.into()
    }
}

impl Subject for Described<'_> {
    fn variable(&self, name: &str, uses: &Uses) -> Value {
        let found = self.0;
        let reference = &found.reference;
        let kind = match reference.kind {
            RefKind::Branch => "BRANCH",
            RefKind::Tag => "TAG",
        };
        match name {
            "ref" => {
                let mut object = Object::default();
                object.set("name", text(reference.name.as_str()));
                if uses.has(name, "hash") {
                    object.set("hash", text(&reference.target.to_string()));
                }
                if uses.has(name, "metadata") {
                    let given = found.metadata.as_ref().map(|given| metadata(Some(given)));
                    object.set("metadata", given.unwrap_or(Value::Null));
                }
                object.into()
            }
            "refType" => text(kind),
            "refMeta" => metadata(found.metadata.as_ref()),
            _ => {
                commit(found.metadata.as_ref().map(|metadata| &metadata.head), |field| uses.has(name, field))
            }
        }
    }
}

impl Subject for Logged<'_> {
    fn variable(&self, name: &str, uses: &Uses) -> Value {
        match name {
            "operations" => {
                let operations = self.0.operations.iter().flatten().map(operation);
                Value::List(Arc::new(operations.collect()))
            }
            _ => commit(Some(&self.0.entry), |field| uses.has(name, field)),
        }
    }
}

impl Subject for Asked<'_> {
    fn variable(&self, name: &str, _: &Uses) -> Value {
        let (who, subject) = (self.who, self.subject);
        match name {
            "op" => text(subject.access.word()),
            "role" => text(&who.name),
            "roles" => texts(&who.roles),
            "ref" => text(subject.reference_word()),
            "path" => {
                text(&subject.content.as_ref().map(|(key, _)| legacy(key.elements())).unwrap_or_default())
            }
            "contentType" => {
                let known = subject.content.as_ref().and_then(|(_, content_type)| *content_type);
                text(known.map_or("", type_word))
            }
            "type" => text(subject.config.as_deref().unwrap_or_default()),
            "actions" => texts(&subject.actions),
            _ => {
                let (name, version) = who.api.words();
                let mut object = Object::default();
                object.set("apiName", text(name));
                object.set("apiVersion", Value::Int(version));
                object.into()
            }
        }
    }
}

/// An object being built.
#[derive(Default)]
struct Object(HashMap<MapKey, Value>);

impl Object {
    fn set(&mut self, name: &str, value: Value) {
        self.0.insert(MapKey::from(name.to_owned()), value);
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Map(Map { map: Arc::new(object.0) })
    }
}

fn text(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}

fn texts<S: AsRef<str>>(all: &[S]) -> Value {
    Value::List(Arc::new(all.iter().map(|one| text(one.as_ref())).collect()))
}

/// A text; null where there is none.
fn text_or_null(given: Option<&str>) -> Value {
    given.map_or(Value::Null, text)
}

/// A count; null where there is none.
fn number(number: Option<u64>) -> Value {
    number.map_or(Value::Null, |number| Value::Int(i64::try_from(number).unwrap_or(i64::MAX)))
}

/// The legacy text form of elements: joined by dots, dots inside an element replaced.
fn legacy(elements: &[Box<str>]) -> String {
    let mut out = String::new();
    for (place, element) in elements.iter().enumerate() {
        if place > 0 {
            out.push('.');
        }
        out.extend(element.chars().map(|c| if c == '.' { LEGACY_DOT } else { c }));
    }
    out
}

fn key_fields(object: &mut Object, key: &ContentKey, has: impl Fn(&str) -> bool) {
    if has("key") {
        object.set("key", text(&key.to_string()));
    }
    if has("encodedKey") {
        object.set("encodedKey", text(&legacy(key.elements())));
    }
    if has("keyElements") {
        object.set("keyElements", texts(key.elements()));
    }
    if has("namespace") {
        object.set("namespace", text(&legacy(key.namespace())));
    }
    if has("namespaceElements") {
        object.set("namespaceElements", texts(key.namespace()));
    }
    if has("name") {
        object.set("name", text(key.name()));
    }
}

const fn type_word(content_type: ContentType) -> &'static str {
    match content_type {
        ContentType::IcebergTable => "ICEBERG_TABLE",
        ContentType::IcebergView => "ICEBERG_VIEW",
        ContentType::Namespace => "NAMESPACE",
        ContentType::DeltaLakeTable => "DELTA_LAKE_TABLE",
        ContentType::Udf => "UDF",
        ContentType::System => "UNKNOWN",
    }
}

fn operation(operation: &log::Operation) -> Value {
    let mut object = Object::default();
    key_fields(&mut object, operation.key(), |_| true);
    let (word, content) = match operation {
        log::Operation::Put { id, content: put, .. } => {
            let mut content = Object::default();
            content.set("type", text(type_word(put.content_type())));
            content.set("id", text(&id.to_string()));
            ("PUT", content.into())
        }
        log::Operation::Delete(_) => ("DELETE", Value::Null),
    };
    object.set("type", text(word));
    object.set("content", content);
    object.into()
}

/// Commit metadata. Where there is no commit an empty one, which has a message, lists and maps, and nothing else.
fn commit(entry: Option<&LogEntry>, has: impl Fn(&str) -> bool) -> Value {
    let mut object = Object::default();
    let meta = entry.map(|entry| &entry.commit.meta);
    let header = entry.map(|entry| &entry.commit.header);
    let first = |all: Option<&Vec<String>>| text_or_null(all.and_then(|all| all.first()).map(String::as_str));
    let all = |all: Option<&Vec<String>>| texts(all.map_or(&[][..], Vec::as_slice));
    let (authors, signed) = (meta.map(|meta| &meta.authors), meta.map(|meta| &meta.signed_off_by));
    let commit_time = header.map(|header| Instant::from_micros(header.time));
    let fields: [(&str, &dyn Fn() -> Value); 12] = [
        ("hash", &|| text_or_null(entry.map(|entry| entry.id.to_string()).as_deref())),
        ("committer", &|| text_or_null(meta.map(|meta| meta.committer.as_str()))),
        ("author", &|| first(authors)),
        ("authors", &|| all(authors)),
        ("signedOffBy", &|| first(signed)),
        ("allSignedOffBy", &|| all(signed)),
        ("message", &|| text(meta.map_or("", |meta| meta.message.as_str()))),
        ("commitTime", &|| time(commit_time)),
        ("authorTime", &|| time(meta.and_then(|meta| meta.author_time).or(commit_time))),
        ("properties", &|| {
            let mut map = Object::default();
            for (name, values) in meta.map(|meta| &meta.properties).into_iter().flatten() {
                map.set(name, text(values.first().map_or("", String::as_str)));
            }
            map.into()
        }),
        ("allProperties", &|| {
            let mut map = Object::default();
            for (name, values) in meta.map(|meta| &meta.properties).into_iter().flatten() {
                map.set(name, texts(values));
            }
            map.into()
        }),
        ("parentCommitHashes", &|| {
            let parents = header.map_or(&[][..], |header| header.parents.as_slice());
            Value::List(Arc::new(parents.iter().map(|parent| text(&parent.to_string())).collect()))
        }),
    ];
    for (name, value) in fields {
        if has(name) {
            object.set(name, value());
        }
    }
    object.into()
}

/// An instant, null where there is none; times beyond what can be compared are read as the epoch.
fn time(instant: Option<Instant>) -> Value {
    let Some(instant) = instant else { return Value::Null };
    let time = DateTime::from_timestamp(instant.seconds, instant.nanos).unwrap_or_default();
    Value::Timestamp(time.fixed_offset())
}

/// Metadata of a reference; an empty one where it was not asked for or there is none.
fn metadata(metadata: Option<&references::Metadata>) -> Value {
    let mut object = Object::default();
    let distance = metadata.and_then(|metadata| metadata.distance);
    object.set("numCommitsAhead", number(distance.map(|distance| distance.ahead)));
    object.set("numCommitsBehind", number(distance.map(|distance| distance.behind)));
    object.set("numTotalCommits", number(metadata.map(|metadata| metadata.total)));
    let common = distance.map(|distance| distance.common.to_string());
    object.set("commonAncestorHash", text_or_null(common.as_deref()));
    object.set("commitMetaOfHEAD", commit(metadata.map(|metadata| &metadata.head), |_| true));
    object.into()
}
