//! Merges: one commit that takes over what another state changed.

use lochan_storage_engine::merge::MergeRequest;
pub use lochan_storage_engine::merge::{Detail, KeyBehavior, Mode, Options, Outcome};
use lochan_storage_model::{CommitId, Conflict, ContentKey, RefName};

use super::{Point, commits::GivenMeta, hash_order, point::Target, touched};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// A merge asked for.
#[derive(Debug, Clone)]
pub struct Merge {
    /// The target branch and the state that the client has seen of it.
    pub target: Point,
    /// The source.
    pub from: Point,
    /// Modes and dry run.
    pub options: Options,
    /// Metadata of the merge commit; an empty message stands for the default one.
    pub meta: GivenMeta,
    /// Whether conflicts are part of the answer instead of an error.
    pub return_conflicts: bool,
}

/// What became of a merge or transplant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The target branch.
    pub branch: RefName,
    /// The state that the client has seen of it.
    pub expected: CommitId,
    /// The rest.
    pub outcome: Outcome,
}

impl Catalog {
    /// Merges a state into a branch.
    pub async fn merge(&self, who: &Principal, merge: Merge) -> Result<Merged, Error> {
        let mut meta = merge.meta.by(who)?;
        let found = self.find_merge(&merge.from, &merge.target, &merge.options).await;
        let check = Check::on(Access::Commit, merge.target.ref_name().as_ref())
            .and(Access::ViewReference, self.rights_on(&merge.from, None).await?.as_ref());
        let (from, target) = self.found(who, &check, found).await?;
        let touched = touched::by_merge(self, target.branch.target, from, &merge.options).await?;
        let of_keys = touched::add(check.clone(), &target.branch.name, touched);
        self.authorize_read(who, &of_keys, &check).await?;
        let (branch, expected) = (target.branch.name, target.expected);
        if meta.message.is_empty() {
            let name = merge.from.name.as_deref().unwrap_or("DETACHED");
            meta.message = format!("Merged {name} at {from} into {branch} at {expected}");
        }
        let request = MergeRequest {
            branch: branch.clone(),
            expected,
            from,
            source: merge.from.ref_name(),
            unrelated: self.settings().merge_unrelated,
            options: merge.options,
            meta,
            who: who.who(),
        };
        let outcome = self.engine().merge(request).await?;
        judge(Merged { branch, expected, outcome }, merge.return_conflicts)
    }

    /// The source and the target of a merge, in the order of the checks.
    async fn find_merge(
        &self,
        from: &Point,
        target: &Point,
        options: &Options,
    ) -> Result<(CommitId, Target), Error> {
        let source = self.find_source(from, "Source hash").await?;
        let target = self.find_target(target, "merge into").await?;
        options.check_keys()?;
        self.check_on_branch(&target).await?;
        Ok((self.existing(&source).await?, target))
    }
}

/// Turns conflicts into an error, unless they are wanted as an answer.
pub(crate) fn judge(merged: Merged, return_conflicts: bool) -> Result<Merged, Error> {
    let outcome = &merged.outcome;
    // What the system map says has no place in an answer, so it is always an error.
    if outcome.successful || (return_conflicts && outcome.system_conflicts.is_empty()) {
        return Ok(merged);
    }
    let conflicts = outcome.details.iter().filter_map(|detail| detail.conflict.clone()).collect();
    Err(conflicts_of(conflicts, outcome.system_conflicts.clone()))
}

/// The error that tells conflicts of contents and of the system map.
pub(crate) fn conflicts_of(mut conflicts: Vec<Conflict>, system: Vec<Conflict>) -> Error {
    let keys = conflicts.iter().filter_map(|conflict| conflict.key.as_ref()).map(|key| format!("'{key}'"));
    let paths = system.iter().filter_map(|conflict| conflict.path.as_ref()).map(|path| format!("'{path}'"));
    let names: Vec<String> = keys.chain(paths).collect();
    let message = format!("The following keys have been changed in conflict: {}", names.join(", "));
    conflicts.extend(system);
    Error::Conflict { message, conflicts }
}

/// What is said of keys that a merge names and its source did not change, among so many that it names. `nameless` stands
/// for the key of no elements.
pub(crate) fn keys_not_used(unused: &[ContentKey], nameless: bool, named: usize) -> String {
    let mut keys: Vec<(&[_], String)> = unused.iter().map(|key| (key.elements(), key.to_string())).collect();
    if nameless {
        keys.push((&[], String::new()));
    }
    hash_order::sort_copied(&mut keys, named, |(elements, _)| elements);
    let keys: Vec<String> = keys.into_iter().map(|(_, text)| text).collect();
    format!(
        "Not all merge key behaviors specified in the request have been used. The following keys were not used: [{}]",
        keys.join(", ")
    )
}
