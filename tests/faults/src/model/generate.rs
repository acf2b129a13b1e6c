//! Requests by chance: mostly possible ones, now and then what must be refused.

use std::collections::BTreeMap;

use bytes::Bytes;
use lochan_storage_engine::commit::{ExpectedSystem, GivenId, Operation, SystemPut};
use lochan_storage_engine::merge::{KeyBehavior, Mode, Options};
use lochan_storage_model::{Content, ContentId, ContentKey, SystemPath};

use super::merge::NOT_MERGED;
use super::state::{Held, State};
use crate::rng::Rng;

/// Keys: few, so that they meet; nested; and some whose order differs between UTF-8 and UTF-16.
const KEYS: [&str; 14] = [
    "a",
    "b",
    "ns",
    "ns.a",
    "ns.t",
    "ns.sub",
    "ns.sub.t",
    "ot",
    "ot.t",
    "z",
    "\u{ffee}",
    "\u{1f600}",
    "\u{1f600}.t",
    "ns.\u{e9}",
];
/// Keys that mostly hold a namespace.
const NAMESPACES: [&str; 5] = ["ns", "ns.sub", "ot", "\u{1f600}", "wide"];
/// Paths of the system map.
const PATHS: [&str; 3] = ["p/a", "p/b", "local/x"];
/// One value in so many is too large to stand inline.
const LARGE_ONE_IN: u64 = 24;

fn one_in(rng: &mut Rng, count: u64) -> bool {
    rng.below(count) == 0
}

/// The keys in play.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// How many there are beside the few that always are, in one namespace: an index of several levels.
    pub wide: u64,
}

impl Keys {
    /// Any of them.
    pub fn any(self, rng: &mut Rng) -> ContentKey {
        if self.wide > 0 && one_in(rng, 2) {
            return wide_key(rng.below(self.wide));
        }
        good_key(rng.pick(&KEYS).copied().unwrap_or("a"))
    }

    /// Puts of the namespace and about half of the keys in it.
    pub fn first(self, rng: &mut Rng) -> Vec<Operation> {
        let namespace = Content::Namespace { elements: vec!["wide".into()], properties: BTreeMap::new() };
        let mut operations = vec![put(&good_key("wide"), namespace, GivenId::New)];
        for number in 0..self.wide {
            if one_in(rng, 2) {
                let key = wide_key(number);
                operations.push(put(&key, content(rng, &key), GivenId::New));
            }
        }
        operations
    }
}

fn wide_key(number: u64) -> ContentKey {
    good_key(&format!("wide.t{number}"))
}

#[expect(clippy::expect_used, reason = "only called with good keys")]
fn good_key(text: &str) -> ContentKey {
    ContentKey::new(text.split('.')).expect("a good key")
}

fn path(rng: &mut Rng) -> SystemPath {
    let text = rng.pick(&PATHS).copied().unwrap_or("p/a");
    #[expect(clippy::expect_used, reason = "the paths above are good ones")]
    SystemPath::new(text.split('/')).expect("a good path")
}

fn json(rng: &mut Rng) -> Bytes {
    Bytes::from(format!("{{\"v\":{}}}", rng.below(4)))
}

/// A content that suits the key: few different ones, so that equal ones meet.
pub fn content(rng: &mut Rng, key: &ContentKey) -> Content {
    let is_namespace = NAMESPACES.contains(&key.to_string().as_str());
    if is_namespace != one_in(rng, 8) {
        let mut properties = BTreeMap::new();
        for name in ["a", "b"] {
            if one_in(rng, 2) {
                properties.insert(name.to_owned(), rng.below(3).to_string());
            }
        }
        return Content::Namespace {
            elements: key.elements().iter().map(ToString::to_string).collect(),
            properties,
        };
    }
    let number = rng.below(4);
    if one_in(rng, 4) {
        let sql = if one_in(rng, LARGE_ONE_IN) { "x".repeat(2_000) } else { format!("select {number}") };
        return Content::IcebergView {
            metadata_location: format!("s3://lake/{number}.json"),
            version_id: 1,
            schema_id: 0,
            sql_text: Some(sql),
            dialect: None,
        };
    }
    let padding = if one_in(rng, LARGE_ONE_IN) { "/x".repeat(600) } else { String::new() };
    Content::IcebergTable {
        metadata_location: format!("s3://lake{padding}/{number}.json"),
        snapshot_id: i64::try_from(number).unwrap_or(0),
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    }
}

/// Another value of the same type.
fn updated(rng: &mut Rng, key: &ContentKey, held: &Held) -> Content {
    for _ in 0..8 {
        let content = content(rng, key);
        if content.content_type() == held.content_type() {
            return content;
        }
    }
    held.content.clone()
}

/// An absent key and the namespaces above it that are absent too, highest first.
fn add(rng: &mut Rng, seen: &State, key: &ContentKey) -> Vec<Operation> {
    let mut operations = vec![put(key, content(rng, key), GivenId::New)];
    let mut above = key.parent();
    while let Some(parent) = above.filter(|parent| !seen.contents.contains_key(parent)) {
        if one_in(rng, 12) {
            break;
        }
        let elements = parent.elements().iter().map(ToString::to_string).collect();
        let namespace = Content::Namespace { elements, properties: BTreeMap::new() };
        operations.insert(0, put(&parent, namespace, GivenId::New));
        above = parent.parent();
    }
    operations
}

fn put(key: &ContentKey, content: Content, id: GivenId) -> Operation {
    Operation::Put { key: key.clone(), content, id }
}

fn any_held(rng: &mut Rng, seen: &State) -> Option<(ContentKey, Held)> {
    let count = seen.contents.len() as u64;
    let at = usize::try_from(rng.below(count)).unwrap_or(0);
    seen.contents.iter().nth(at).map(|(key, held)| (key.clone(), held.clone()))
}

fn random_id(rng: &mut Rng) -> ContentId {
    let mut bytes = [0; 16];
    bytes.iter_mut().for_each(|byte| *byte = rng.draw().to_le_bytes()[0]);
    ContentId::from_bytes(bytes)
}

fn one(rng: &mut Rng, keys: Keys, seen: &State) -> Vec<Operation> {
    let key = keys.any(rng);
    let Some(held) = seen.contents.get(&key).cloned() else {
        return match rng.below(20) {
            0 => vec![put(&key, content(rng, &key), GivenId::Id(random_id(rng)))],
            1 => vec![put(&key, content(rng, &key), GivenId::Text("no uuid".into()))],
            2 => vec![Operation::Delete(key)],
            3 => vec![Operation::Unchanged(key)],
            4..8 => match any_held(rng, seen) {
                Some((old, moved)) => {
                    vec![Operation::Delete(old), put(&key, moved.content.clone(), GivenId::Id(moved.id))]
                }
                None => add(rng, seen, &key),
            },
            _ => add(rng, seen, &key),
        };
    };
    match rng.below(24) {
        0 => vec![put(&key, content(rng, &key), GivenId::New)],
        1 => vec![put(&key, content(rng, &key), GivenId::Id(random_id(rng)))],
        2 => vec![put(&key, content(rng, &key), GivenId::Id(held.id))],
        3..5 => vec![Operation::Unchanged(key)],
        5..8 => vec![Operation::Delete(key.clone()), put(&key, content(rng, &key), GivenId::New)],
        8..13 => vec![Operation::Delete(key)],
        _ => vec![put(&key, updated(rng, &key, &held), GivenId::Id(held.id))],
    }
}

/// Operations of a client that has seen `seen`.
pub fn operations(rng: &mut Rng, keys: Keys, seen: &State) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    for _ in 0..=rng.below(3) {
        for operation in one(rng, keys, seen) {
            let again = operations.iter().any(|other| other.key() == operation.key());
            // A key twice is refused: now and then is enough.
            let re_add = matches!(operation, Operation::Put { id: GivenId::New, .. })
                && matches!(operations.last(), Some(Operation::Delete(key)) if key == operation.key());
            if !again || re_add || one_in(rng, 60) {
                operations.push(operation);
            }
        }
    }
    operations
}

/// Changes of the system map, and what they rely on.
pub fn system(rng: &mut Rng, seen: &State) -> (Vec<SystemPut>, Vec<ExpectedSystem>) {
    let (mut puts, mut expected) = (Vec::new(), Vec::new());
    if one_in(rng, 3) {
        let at = path(rng);
        let value = (!one_in(rng, 4)).then(|| json(rng));
        if one_in(rng, 2) {
            let value = if one_in(rng, 10) {
                Some(json(rng))
            } else {
                seen.system.get(&at).map(|json| Bytes::copy_from_slice(json))
            };
            expected.push(ExpectedSystem { path: at.clone(), value });
        }
        puts.push(SystemPut { path: at, value });
    }
    (puts, expected)
}

fn mode(rng: &mut Rng) -> Mode {
    match rng.below(6) {
        0 => Mode::Force,
        1 => Mode::Drop,
        _ => Mode::Normal,
    }
}

/// Modes of a merge. `changed` are keys that the source changed, `target` is what the client takes for the head.
pub fn options(rng: &mut Rng, keys: Keys, changed: &[ContentKey], target: &State) -> Options {
    let mut options = Options { default_mode: mode(rng), dry_run: one_in(rng, 10), ..Options::default() };
    while one_in(rng, 3) {
        let named = if one_in(rng, 20) { Some(keys.any(rng)) } else { rng.pick(changed).cloned() };
        let Some(named) = named else { break };
        let mode = mode(rng);
        let given = |rng: &mut Rng, held: Option<&Held>| match held {
            Some(held) if !one_in(rng, 6) => (GivenId::Id(held.id), held.content.clone()),
            _ if one_in(rng, 8) => (GivenId::New, content(rng, &named)),
            held => {
                let id = held.map_or_else(|| random_id(rng), |held| held.id);
                (GivenId::Id(id), content(rng, &named))
            }
        };
        let expected = one_in(rng, 3).then(|| given(rng, target.contents.get(&named)));
        let resolve = if expected.is_some() && mode == Mode::Normal { 2 } else { 40 };
        let resolved = one_in(rng, resolve).then(|| match target.contents.get(&named) {
            Some(held) if one_in(rng, 8) => (GivenId::Id(held.id), content(rng, &named)),
            Some(_) if one_in(rng, 8) => {
                let all: Vec<ContentId> = target.contents.values().map(|held| held.id).collect();
                (GivenId::Id(rng.pick(&all).copied().unwrap_or(ContentId::NONE)), content(rng, &named))
            }
            Some(held) => (GivenId::Id(held.id), updated(rng, &named, held)),
            None => (GivenId::Id(random_id(rng)), content(rng, &named)),
        });
        options.keys.insert(named, KeyBehavior { place: 0, mode, expected, resolved });
    }
    options
}

/// The rules of the system map under which engines are tested.
pub fn rules() -> lochan_storage_engine::merge::Rules {
    let pattern = format!("{NOT_MERGED}/*");
    lochan_storage_engine::merge::Rules::default()
        .with(&pattern, lochan_storage_engine::merge::Rule::NotMerged)
}
