//! Contents that move from key to key: a merge or transplant leaves none under two keys, or under none.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_engine::merge::{KeyBehavior, Mode, Options};
use lochan_storage_model::{ContentId, ContentKey};

use super::state::{Changes, Held, State};

/// Options as they count for one set of changes.
pub struct Counting {
    /// With a mode for each key that is bound to another one.
    pub options: Options,
    /// Keys that cannot be applied without one that is to be left.
    pub torn: BTreeSet<ContentKey>,
}

/// Whether a content goes from the one key to the other.
fn goes(before: &BTreeMap<ContentKey, Held>, changes: &Changes, from: &ContentKey, to: &ContentKey) -> bool {
    let was = |key| before.get(key).map(|held| held.id);
    let is = |key| changes.contents.get(key).and_then(Option::as_ref).map(|held: &Held| held.id);
    was(from).is_some() && was(from) == is(to) && is(from) != was(from) && was(to) != is(to)
}

/// What counts for changes made on `before`.
pub fn counting(before: &BTreeMap<ContentKey, Held>, changes: &Changes, options: &Options) -> Counting {
    let mut counting = Counting { options: options.clone(), torn: BTreeSet::new() };
    let mut open: BTreeSet<&ContentKey> = changes.contents.keys().collect();
    while let Some(first) = open.pop_first() {
        let mut together = BTreeSet::from([first]);
        loop {
            let bound = |key: &&ContentKey| {
                let with = |other| goes(before, changes, key, other) || goes(before, changes, other, key);
                together.iter().any(|other| with(other))
            };
            let Some(more) = open.iter().copied().find(bound) else { break };
            open.remove(more);
            together.insert(more);
        }
        if together.len() == 1 {
            continue;
        }
        let own = |key: &ContentKey| options.keys.get(key).map(|own| own.mode);
        let is_left = together.iter().any(|key| own(key) == Some(Mode::Drop));
        let is_applied = |key: &ContentKey| own(key).is_some_and(|mode| mode != Mode::Drop);
        let applied: Vec<&ContentKey> = together.iter().copied().filter(|key| is_applied(key)).collect();
        let mode = if is_left && !applied.is_empty() {
            counting.torn.extend(applied.into_iter().cloned());
            continue;
        } else if is_left {
            Mode::Drop
        } else if !applied.is_empty() && options.default_mode == Mode::Drop {
            Mode::Normal
        } else {
            continue;
        };
        for key in together {
            if own(key).is_none() {
                let own = KeyBehavior { mode, ..KeyBehavior::default() };
                counting.options.keys.insert(key.clone(), own);
            }
        }
    }
    counting
}

/// Keys that would get a content which the target holds under another key, because a force took it back. `before` is what
/// contents are compared with, `parent` what the changes were made on: a transplant that leaves a commit out still compares
/// with the state before that one.
pub fn doubled(
    before: &State,
    parent: &State,
    taken: &Changes,
    target: &State,
    options: &Options,
) -> BTreeSet<ContentKey> {
    let after = taken.on(target);
    let is_forced = |id: ContentId| {
        before.contents.iter().any(|(key, held)| {
            let is_touched = taken.contents.contains_key(key);
            let moved = target.contents.get(key).is_none_or(|now| now.id != id);
            held.id == id && is_touched && moved && options.mode_of(key) == Mode::Force
        })
    };
    let mut doubled = BTreeSet::new();
    for (key, held) in taken.contents.iter().filter_map(|(key, held)| Some((key, held.as_ref()?))) {
        // One that stood there all the time is no key that the target has moved it to.
        let has_changed = |other: &ContentKey| parent.contents.get(other) != target.contents.get(other);
        let elsewhere = after
            .contents
            .iter()
            .any(|(other, there)| other != key && there.id == held.id && has_changed(other));
        if elsewhere && is_forced(held.id) {
            doubled.insert(key.clone());
        }
    }
    doubled
}
