//! Merges and transplants, both ways.

use lochan_api_spec::nessie::model::{MergeBehavior, MergeDetailV2, MergeKeyBehavior, MergeResponseV2};
use lochan_api_spec::syntax::ReferenceError;
use lochan_api_spec::syntax::reference::check_name;
use lochan_server_catalog::nessie::merge::{Detail, KeyBehavior, Merged, Mode, Options};
use lochan_server_catalog::nessie::{Point, hash_order};

use super::point::{self, At};
use super::{conflict_out, content, key_in, key_out};
use crate::failure::Failure;
use crate::nessie::refuse::{Checks, NOT_BLANK, SIZE};

/// Modes of a merge or transplant.
pub fn options_in(
    default_mode: MergeBehavior,
    behaviors: Vec<MergeKeyBehavior>,
    dry_run: bool,
) -> Result<Options, Failure> {
    let mut options = Options { default_mode: mode_in(default_mode), dry_run, ..Options::default() };
    let count = behaviors.len();
    for (place, behavior) in behaviors.into_iter().enumerate() {
        let text = behavior.key.to_string();
        let key = if behavior.key.elements.is_empty() { None } else { Some(key_in(behavior.key)?) };
        let wanted = KeyBehavior {
            place,
            mode: mode_in(behavior.merge_behavior),
            expected: behavior.expected_target_content.map(content::given),
            resolved: behavior.resolved_content.map(content::given),
        };
        let before = match key {
            Some(key) => options.keys.insert(key, wanted).is_some(),
            None => std::mem::replace(&mut options.nameless, true),
        };
        if before {
            options.twice.get_or_insert(text);
        }
    }
    // Of several keys with something wrong, the first one in the reference server's order is told.
    let mut keys: Vec<_> = options.keys.iter_mut().collect();
    keys.sort_by_key(|(_, behavior)| behavior.place);
    hash_order::sort_copied(&mut keys, count, |(key, _)| key.elements());
    for (place, (_, behavior)) in keys.into_iter().enumerate() {
        behavior.place = place;
    }
    Ok(options)
}

/// Checks the name of the source, which is `DETACHED` or looked up literally.
pub fn check_source(name: &str, argument: &str, checks: &mut Checks) {
    checks.reference(argument, check_name(name));
    checks.require(argument, !name.trim().is_empty(), NOT_BLANK);
}

/// The commits of a transplant, as `parse` reads them.
pub fn commits_in(
    (name, hashes): (&str, &[String]),
    parse: impl Fn(&str) -> Result<At, ReferenceError>,
    checks: &mut Checks,
) -> Vec<Point> {
    const HASHES: &str = "transplantCommitsIntoBranch.transplant.hashesToTransplant";
    check_source(name, "transplantCommitsIntoBranch.transplant.fromRefName", checks);
    checks.require(HASHES, !hashes.is_empty(), SIZE);
    hashes
        .iter()
        .filter_map(|text| checks.reference(HASHES, parse(text)).map(|at| point::named(name, at)))
        .collect()
}

/// What became of a merge or transplant.
pub fn out(merged: Merged) -> MergeResponseV2 {
    let Merged { branch, expected, outcome } = merged;
    MergeResponseV2 {
        was_applied: outcome.applied,
        was_successful: outcome.successful,
        resultant_target_hash: outcome.result.map(|result| result.to_string()),
        common_ancestor: outcome.base.map(|base| base.to_string()),
        target_branch: branch.to_string(),
        effective_target_hash: Some(outcome.on.to_string()),
        expected_hash: Some(expected.to_string()),
        details: outcome.details.iter().map(detail_out).collect(),
    }
}

/// What became of one key.
pub fn detail_out(detail: &Detail) -> MergeDetailV2 {
    MergeDetailV2 {
        key: key_out(&detail.key),
        merge_behavior: mode_out(detail.mode),
        conflict: detail.conflict.as_ref().map(conflict_out),
    }
}

const fn mode_in(behavior: MergeBehavior) -> Mode {
    match behavior {
        MergeBehavior::Normal => Mode::Normal,
        MergeBehavior::Force => Mode::Force,
        MergeBehavior::Drop => Mode::Drop,
    }
}

const fn mode_out(mode: Mode) -> MergeBehavior {
    match mode {
        Mode::Normal => MergeBehavior::Normal,
        Mode::Force => MergeBehavior::Force,
        Mode::Drop => MergeBehavior::Drop,
    }
}
