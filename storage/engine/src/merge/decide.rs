//! What becomes of one key: a pure function of base, source, head and mode (Nessie API, 9.3).

use lochan_storage_model::{Conflict, ContentKey, ContentType, Entry};

use super::Mode;
use crate::commit::{Expectation, compare, compare_as};

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
    /// Whose type and id the target must have. A merge compares what was there before; a transplant repeats a stored
    /// operation, which knows only its own content. They differ where the source put another content at the key.
    fn shape(&self, flavour: Flavour) -> Option<&Entry> {
        match flavour {
            Flavour::Merge => self.base.as_ref().or(self.source.as_ref()),
            Flavour::Transplant => self.source.as_ref().or(self.base.as_ref()),
        }
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
    /// It conflicts. Were it applied all the same, the target would hold `wanted`.
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
    let Treatment { mode, expected, resolved } = treatment;
    // A transplant still looks at what the client says the target must hold.
    let looks = flavour == Flavour::Transplant && expected.is_some();
    if *mode == Mode::Drop && !looks {
        return Decision::Drop;
    }
    let wanted = change.source.as_ref().map(|source| resolved.clone().unwrap_or_else(|| source.clone()));
    // An explicit expectation takes the place of the value at the base, not of its type and id.
    let conflict = match (expected.as_ref().or(change.base.as_ref()), change.shape(flavour)) {
        (Some(value), Some(shape)) => compare_as(key, shape, value, head),
        _ => compare(key, &Expectation::Absent, head),
    };
    let Some(conflict) = conflict else {
        return if *mode == Mode::Drop { Decision::Drop } else { Decision::Apply(wanted) };
    };
    if expected.is_some() {
        // It holds under every mode.
        return Decision::Conflict { conflict, wanted };
    }
    if let (None, Some(source), Some(head)) = (&change.base, &change.source, head) {
        if source == head {
            return Decision::Silent;
        }
        if source.content_type == ContentType::Namespace && head.content_type == ContentType::Namespace {
            return Decision::Namespaces { source: source.clone(), target: head.clone() };
        }
    }
    if *mode == Mode::Force { Decision::Apply(wanted) } else { Decision::Conflict { conflict, wanted } }
}
