//! Writes made before under an idempotency key, and what they did.

use std::collections::BTreeSet;

use lochan_storage_engine::graph::merge_base;
use lochan_storage_model::{CommitId, ContentId, ContentKey};
use lochan_storage_odb::Reference;
pub use lochan_storage_odb::RequestKey;

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    nessie::{
        Point,
        merge::{Detail, Merged, Options, Outcome},
        transplant::COMMITS_MAX,
    },
};

/// What a request with an idempotency key did to a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The identity under which it did so.
    pub request: RequestKey,
    /// The reference as it was then; as it was before where it was deleted.
    pub reference: Reference,
    /// Where it pointed before.
    before: CommitId,
}

impl Catalog {
    /// What was written under a key that is scoped by who asks; `None` if nothing was.
    pub async fn request_made(&self, who: &Principal, key: &[u8; 32]) -> Result<Option<Written>, Error> {
        let Some(entry) = self.engine().store().request(key).await? else { return Ok(None) };
        let (Some(request), Some(target)) = (entry.request, entry.new.or(entry.old)) else { return Ok(None) };
        self.authorize(who, &Check::on(Access::ViewReference, Some(&entry.name))).await?;
        let before = entry.old.unwrap_or(CommitId::NO_ANCESTOR);
        let reference = Reference { name: entry.name, kind: entry.kind, target, number: entry.number };
        Ok(Some(Written { request, reference, before }))
    }

    /// Keys that got a new content id in the commit that was written.
    pub async fn added_again(&self, written: &Written) -> Result<Vec<(ContentKey, ContentId)>, Error> {
        let commit = self.engine().commits().load(written.reference.target).await?;
        let before = self.engine().at(commit.header.parent()).await?;
        let mut known = BTreeSet::new();
        let mut put = Vec::new();
        for operation in &commit.operations {
            let Some(key) = operation.key().content() else { continue };
            known.extend(before.entry(operation.key()).await?.map(|held| held.content_id));
            put.extend(operation.entry().map(|entry| (key, entry.content_id)));
        }
        put.retain(|(_, id)| !known.contains(id));
        Ok(put)
    }

    /// What became of the merge or transplant that was written, as far as its commits tell: keys that its mode left out
    /// are not among the details. `target` and `options` are those of the request.
    pub async fn merged_again(
        &self,
        written: &Written,
        target: &Point,
        options: &Options,
    ) -> Result<Merged, Error> {
        let expected = Point { name: None, ..target.clone() };
        let expected = self.resolve_pinned(&expected, "Expected hash").await?.commit;
        let Written { reference, before, .. } = written;
        let commits = self.engine().commits();
        let mut keys = BTreeSet::new();
        let mut base = None;
        let mut at = reference.target;
        for _ in 0..COMMITS_MAX {
            if at == *before || at.is_no_ancestor() {
                break;
            }
            let commit = commits.load(at).await?;
            keys.extend(commit.operations.iter().filter_map(|operation| operation.key().content()));
            if let [_, from] = commit.header.parents.as_slice() {
                base = Some(merge_base(commits, *before, *from).await?);
            }
            at = commit.header.parent();
        }
        let detail = |key: ContentKey| {
            let mode = options.keys.get(&key).map_or(options.default_mode, |behavior| behavior.mode);
            Detail { key, mode, conflict: None }
        };
        Ok(Merged {
            branch: reference.name.clone(),
            expected,
            outcome: Outcome {
                applied: true,
                successful: true,
                result: Some(reference.target),
                base,
                on: *before,
                details: keys.into_iter().map(detail).collect(),
                system_conflicts: Vec::new(),
            },
        })
    }
}
