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
    /// It conflicts. What follows is judged as if it had been applied, as the reference server does.
    Conflict { conflict: Conflict, wanted: Option<Entry> },
}

/// Decides one key.
pub(super) fn decide(
    key: &ContentKey,
    change: &Change,
    head: Option<&Entry>,
    treatment: &Treatment,
    flavour: Flavour,
) -> Decision {
    let dropped = treatment.mode == Mode::Drop;
    if dropped && (flavour == Flavour::Merge || treatment.expected.is_none()) {
        return Decision::Drop;
    }
    // A key that goes has no content to be resolved.
    let source = change.source.clone();
    let wanted = || source.clone().map(|source| treatment.resolved.clone().unwrap_or(source));
    if let Some(expected) = &treatment.expected {
        // An explicit expectation holds under every mode.
        return match compare(key, &Expectation::Is(expected.clone()), head) {
            Some(conflict) => Decision::Conflict { conflict, wanted: wanted() },
            None if dropped => Decision::Drop,
            None => Decision::Apply(wanted()),
        };
    }
    let Some(conflict) = conflict_of(key, change, head, flavour) else { return Decision::Apply(wanted()) };
    if let (None, Some(source), Some(head)) = (&change.base, &change.source, head) {
        if source == head {
            return Decision::Silent;
        }
        if source.content_type == ContentType::Namespace && head.content_type == ContentType::Namespace {
            return Decision::Namespaces { source: source.clone(), target: head.clone() };
        }
    }
    if treatment.mode == Mode::Force {
        return Decision::Apply(wanted());
    }
    Decision::Conflict { conflict, wanted: wanted() }
}

/// What the target holds against what the source started from. In a transplant, type and id to be found are those of what is
/// put: a content that took another's place in one commit finds neither.
fn conflict_of(
    key: &ContentKey,
    change: &Change,
    head: Option<&Entry>,
    flavour: Flavour,
) -> Option<Conflict> {
    let expectation = change.base.clone().map_or(Expectation::Absent, Expectation::Is);
    if let (Flavour::Transplant, Some(_), Some(source), Some(head)) =
        (flavour, &change.base, &change.source, head)
    {
        let differs = |kind| Some(Conflict::on_key(kind, key));
        if source.content_type != head.content_type {
            return differs(ConflictKind::PayloadDiffers);
        }
        if source.content_id != head.content_id {
            return differs(ConflictKind::ContentIdDiffers);
        }
        return compare(key, &expectation, Some(head)).and_then(|_| differs(ConflictKind::ValueDiffers));
    }
    compare(key, &expectation, head)
}
