//! What becomes of one key: a pure function of base, source, head and mode (Nessie API, 9.3).

use lochan_storage_model::{Conflict, ConflictKind, ContentKey, ContentType, Entry};

use super::Mode;
use crate::commit::{Expectation, compare};

/// Which of the two operations decides; they name one conflict differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Merge,
    Transplant,
}

/// What the source did to a key: `base` before, `source` after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) base: Option<Entry>,
    pub(super) source: Option<Entry>,
}

impl Change {
    /// Whether the source put another content where one stood.
    fn is_re_add(&self) -> bool {
        matches!((&self.base, &self.source), (Some(base), Some(source)) if base.content_id != source.content_id)
    }
}

/// How the key is to be treated.
#[derive(Debug, Clone, Default)]
pub(super) struct Treatment {
    pub(super) mode: Mode,
    pub(super) expected: Option<Entry>,
    pub(super) resolved: Option<Entry>,
}

/// What becomes of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// The target holds this from now on.
    Apply(Option<Entry>),
    /// The target keeps what it has, because the mode says so.
    Drop,
    /// The target holds it already; not worth a word.
    Silent,
    /// A namespace was put on both sides: one comes of the two, and nothing is said about it.
    Namespaces { source: Entry, target: Entry },
    /// It conflicts.
    Conflict(Conflict),
}

/// Decides one key.
pub(super) fn decide(
    key: &ContentKey,
    change: &Change,
    head: Option<&Entry>,
    treatment: &Treatment,
    flavour: Flavour,
) -> Decision {
    if treatment.mode == Mode::Drop {
        return Decision::Drop;
    }
    let wanted = || Decision::Apply(treatment.resolved.clone().or_else(|| change.source.clone()));
    if let Some(expected) = &treatment.expected {
        // An explicit expectation holds under every mode.
        return match compare(key, &Expectation::Is(expected.clone()), head) {
            Some(conflict) => Decision::Conflict(conflict),
            None => wanted(),
        };
    }
    let expectation = change.base.clone().map_or(Expectation::Absent, Expectation::Is);
    let Some(conflict) = compare(key, &expectation, head) else { return wanted() };
    if let (None, Some(source), Some(head)) = (&change.base, &change.source, head) {
        if source == head {
            return Decision::Silent;
        }
        if source.content_type == ContentType::Namespace && head.content_type == ContentType::Namespace {
            return Decision::Namespaces { source: source.clone(), target: head.clone() };
        }
    }
    if treatment.mode == Mode::Force {
        return wanted();
    }
    if flavour == Flavour::Transplant && change.is_re_add() && conflict.kind == ConflictKind::ValueDiffers {
        return Decision::Conflict(Conflict::on_key(ConflictKind::ContentIdDiffers, key));
    }
    Decision::Conflict(conflict)
}
