//! The setting that all writers replace: what was acknowledged is one chain, in which every value replaces the one before.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use crate::record::{Model, Observed, Outcome, Setting};

/// All that is wrong with the setting. Every value is used once, so each is replaced by one other at most.
pub fn setting(model: &Model, settings: &[Setting], observed: &Observed) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |text: String| found.push(Violation::WrongSetting { text });
    let now = observed.setting.as_deref();
    let values = |outcome: fn(&Outcome) -> bool| {
        settings.iter().filter(move |set| outcome(&set.outcome)).map(|set| Some(set.value.as_str()))
    };
    let unknown: BTreeSet<Option<&str>> = values(|outcome| *outcome == Outcome::Unknown).collect();
    let mut sure: BTreeSet<Option<&str>> =
        values(|outcome| matches!(outcome, Outcome::Acknowledged(_))).collect();
    sure.insert(model.setting.as_deref());
    let is_known = |value: &Option<&str>| sure.contains(value) || unknown.contains(value);

    let mut replaced: BTreeMap<Option<&str>, &str> = BTreeMap::new();
    for set in settings.iter().filter(|set| matches!(set.outcome, Outcome::Acknowledged(_))) {
        let previous = set.previous.as_deref();
        if !is_known(&previous) {
            wrong(format!("{} replaced {previous:?}, which was never there", set.value));
        }
        if let Some(other) = replaced.insert(previous, &set.value) {
            wrong(format!("{} and {other} both replaced {previous:?}", set.value));
        }
    }
    if !is_known(&now) {
        wrong(format!("it is {now:?}, which was never set"));
    }
    if let Some(later) = replaced.get(&now) {
        wrong(format!("it is {now:?}, which the acknowledged {later} has replaced"));
    }
    // What no acknowledged value has replaced was replaced by one whose outcome is unknown, and each of these that was
    // seen has replaced one of them.
    let open: Vec<_> = sure.iter().filter(|value| **value != now && !replaced.contains_key(*value)).collect();
    let landed = unknown.iter().filter(|value| **value == now || replaced.contains_key(*value)).count();
    if open.len() > landed {
        wrong(format!(
            "of {open:?}, which nothing acknowledged has replaced, no more than {landed} can have been"
        ));
    }
    let ends =
        std::iter::successors(Some(model.setting.as_deref()), |value| replaced.get(value).copied().map(Some));
    let end = ends.take(settings.len() + 1).last().flatten();
    if open.len() < landed || (landed > 0 && end == now) {
        wrong(format!("{landed} values of unknown outcome landed beside the chain to {now:?}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(value: &str, previous: Option<&str>) -> Setting {
        let outcome = Outcome::Acknowledged(None);
        Setting { value: value.into(), outcome, previous: previous.map(Into::into) }
    }

    fn open(value: &str, outcome: Outcome) -> Setting {
        Setting { value: value.into(), outcome, previous: None }
    }

    fn wrongs(settings: &[Setting], now: Option<&str>) -> usize {
        let model = Model { setting: Some("0".into()), ..Model::default() };
        let observed = Observed { setting: now.map(Into::into), ..Observed::default() };
        setting(&model, settings, &observed).len()
    }

    fn chain() -> Vec<Setting> {
        vec![set("b", Some("a")), set("a", Some("0")), set("c", Some("b"))]
    }

    #[test]
    fn a_chain_is_sound_with_and_without_what_was_under_way() {
        assert_eq!(wrongs(&[], Some("0")), 0);
        assert_eq!(wrongs(&chain(), Some("c")), 0);
        let mut some = chain();
        some.push(open("u", Outcome::Unknown));
        some.push(open("v", Outcome::Unknown));
        some.push(open("r", Outcome::Refused));
        assert_eq!(wrongs(&some, Some("c")), 0, "neither has landed");
        assert_eq!(wrongs(&some, Some("u")), 0, "one has");
        some.push(set("d", Some("v")));
        assert_eq!(wrongs(&some, Some("d")), 0, "one has, or both in between");
        assert_eq!(wrongs(&some, Some("u")), 0, "both have");
    }

    #[test]
    fn what_is_lost_or_comes_back_is_found() {
        assert_eq!(wrongs(&chain(), Some("b")), 2, "the last one is lost");
        assert_eq!(wrongs(&chain(), Some("0")), 2, "all are");
        assert_ne!(wrongs(&chain(), None), 0, "the record is");
        assert_ne!(wrongs(&chain(), Some("x")), 0, "nobody has set it");
        let mut some = chain();
        some.push(set("d", Some("b")));
        assert_ne!(wrongs(&some, Some("d")), 0, "two replaced one");
        let mut some = chain();
        some.push(open("r", Outcome::Refused));
        assert_ne!(wrongs(&some, Some("r")), 0, "a refused one is there");
        let some = [set("a", Some("0")), set("b", Some("0")), open("u", Outcome::Unknown)];
        assert_ne!(wrongs(&some, Some("u")), 0);
        let some =
            [set("a", Some("0")), open("u", Outcome::Unknown), set("b", Some("u")), set("c", Some("a"))];
        assert_eq!(wrongs(&some, Some("b")), 0, "it landed on c");
        assert_ne!(wrongs(&some, Some("c")), 0, "it landed beside the chain");
    }
}
