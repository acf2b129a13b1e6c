//! Contents that the source moved from one key to another. Both halves of such a move are decided alike: apart they would
//! leave one content under two keys of the target, or under none.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use lochan_storage_model::{Conflict, ContentId, ContentKey, Entry, IndexKey};

use super::{
    KeyBehavior, Mode, Options, Sides,
    decide::{Change, Decision},
};
use crate::{error::Error, index::Range};

/// What was asked for, as it is in force for the changes of one draft.
pub(super) struct InForce<'a> {
    /// Modes and contents by key.
    pub(super) options: Cow<'a, Options>,
    /// Keys to be applied that are bound to one to be left as it is, both by their own modes.
    torn: BTreeMap<ContentKey, ContentKey>,
}

impl<'a> InForce<'a> {
    /// Finds the keys between which contents were moved, and gives a mode to those that have none of their own: that of
    /// the key that has, where it is left as it is; else, where it is applied and all others are left, the normal one.
    pub(super) fn of(options: &'a Options, changes: &[(IndexKey, Change)]) -> Self {
        let mut in_force = InForce { options: Cow::Borrowed(options), torn: BTreeMap::new() };
        let mut is_some_left = options.default_mode == Mode::Drop;
        let mut is_some_applied = !is_some_left;
        for behavior in options.keys.values() {
            is_some_left |= behavior.mode == Mode::Drop;
            is_some_applied |= behavior.mode != Mode::Drop;
        }
        if is_some_left && is_some_applied {
            moved_together(changes).iter().for_each(|keys| in_force.decide(keys));
        }
        in_force
    }

    fn decide(&mut self, keys: &[ContentKey]) {
        let given = |key: &&ContentKey| self.options.keys.get(*key).map(|behavior| behavior.mode);
        let left = keys.iter().find(|key| given(key) == Some(Mode::Drop)).cloned();
        let applied: Vec<_> =
            keys.iter().filter(|key| given(key).is_some_and(|mode| mode != Mode::Drop)).collect();
        let mode = match (left, applied.is_empty()) {
            (Some(left), false) => {
                self.torn.extend(applied.into_iter().map(|key| (key.clone(), left.clone())));
                return;
            }
            (Some(_), true) => Mode::Drop,
            (None, false) if self.options.default_mode == Mode::Drop => Mode::Normal,
            (None, _) => return,
        };
        let options = self.options.to_mut();
        for key in keys {
            let behavior = || KeyBehavior { mode, ..KeyBehavior::default() };
            options.keys.entry(key.clone()).or_insert_with(behavior);
        }
    }

    /// A decision on a key, with what binds the key to others.
    pub(super) fn bound(&self, key: &ContentKey, decision: Decision) -> Decision {
        match (decision, self.torn.get(key)) {
            (Decision::Apply(wanted), Some(left)) => {
                Decision::Conflict { conflict: Conflict::on_moved(key, left), wanted }
            }
            (decision, _) => decision,
        }
    }
}

impl Options {
    /// The options as they are in force for what a source did to keys, each with what it held before and after: keys between
    /// which contents were moved are treated alike.
    #[must_use]
    pub fn in_force(
        &self,
        changes: impl IntoIterator<Item = (IndexKey, Option<Entry>, Option<Entry>)>,
    ) -> Cow<'_, Self> {
        let changes: Vec<_> =
            changes.into_iter().map(|(key, base, source)| (key, Change { base, source })).collect();
        InForce::of(self, &changes).options
    }
}

/// Groups of keys between which contents were moved.
fn moved_together(changes: &[(IndexKey, Change)]) -> Vec<Vec<ContentKey>> {
    // By content: the keys that held it and do not any more, and those that hold it and did not before.
    let mut moves: HashMap<ContentId, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (place, (_, change)) in changes.iter().enumerate() {
        let (from, to) = (id_of(change.base.as_ref()), id_of(change.source.as_ref()));
        if from != to {
            from.into_iter().for_each(|id| moves.entry(id).or_default().0.push(place));
            to.into_iter().for_each(|id| moves.entry(id).or_default().1.push(place));
        }
    }
    let mut group_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    for (left, gained) in moves.into_values().filter(|(left, gained)| !left.is_empty() && !gained.is_empty())
    {
        let mut joined: BTreeSet<usize> = left.into_iter().chain(gained).collect();
        for group in joined.iter().filter_map(|place| group_of.get(place).copied()).collect::<BTreeSet<_>>() {
            joined.extend(groups.get_mut(group).map(std::mem::take).unwrap_or_default());
        }
        group_of.extend(joined.iter().map(|place| (*place, groups.len())));
        groups.push(joined);
    }
    let keys = |group: BTreeSet<usize>| -> Vec<ContentKey> {
        group.into_iter().filter_map(|place| changes.get(place)?.0.content()).collect()
    };
    groups.into_iter().map(keys).filter(|keys| keys.len() > 1).collect()
}

fn id_of(entry: Option<&Entry>) -> Option<ContentId> {
    entry.map(|entry| entry.content_id).filter(|id| *id != ContentId::NONE)
}

/// Keys that would hold a content which the target has moved to another one; with that one. `overruled` are contents that the
/// target does not hold any more where they were at the base, and `edits` what is to be applied all the same.
///
/// Nothing tells which key of the target holds a content, so this looks through all that the target has changed; only force
/// comes here.
pub(super) async fn moved_away(
    overruled: &BTreeSet<ContentId>,
    edits: &BTreeMap<IndexKey, Option<Entry>>,
    sides: &Sides,
) -> Result<Vec<(ContentKey, ContentKey)>, Error> {
    // By content: the keys that get it, for the source may hold it under several, and the first that hold it then. Two of
    // these are enough to have one beside each key.
    let mut put: BTreeMap<ContentId, (Vec<&IndexKey>, Vec<IndexKey>)> = BTreeMap::new();
    for (key, entry) in edits {
        if let Some(id) = id_of(entry.as_ref()).filter(|id| overruled.contains(id)) {
            put.entry(id).or_default().0.push(key);
        }
    }
    if put.is_empty() {
        return Ok(Vec::new());
    }
    let mut diff = sides.base.diff(&sides.target, &Range::all()).await?;
    while let Some(changed) = diff.next().await? {
        let held = edits.get(&changed.key).unwrap_or(&changed.to);
        if let Some((_, holders)) = id_of(held.as_ref()).and_then(|id| put.get_mut(&id))
            && holders.len() < 2
        {
            holders.push(changed.key);
        }
    }
    let mut twice = Vec::new();
    for (keys, holders) in put.into_values() {
        for key in keys {
            let holder = holders.iter().find(|holder| *holder != key);
            twice.extend(key.content().zip(holder.and_then(IndexKey::content)));
        }
    }
    Ok(twice)
}
