//! The keys that a merge or transplant wants to change, for the question about access.

use lochan_storage_engine::{
    graph::merge_base,
    index::Range,
    merge::{Mode, Options},
};
use lochan_storage_model::{CommitId, ContentKey, ContentType, Entry, IndexKey, RefName};

use crate::{
    access::{Access, Check},
    catalog::Catalog,
    error::Error,
};

/// A key, what is to be done to it, and the type of content concerned.
pub(crate) type Touched = (ContentKey, Access, ContentType);

/// What the source of a merge changed since the merge base, but for what stays as it is because of its mode. Not looked for
/// where everything is allowed.
pub(crate) async fn by_merge(
    catalog: &Catalog,
    target: CommitId,
    from: CommitId,
    options: &Options,
) -> Result<Vec<Touched>, Error> {
    if catalog.is_open() {
        return Ok(Vec::new());
    }
    let engine = catalog.engine();
    let base = merge_base(engine.commits(), target, from).await?;
    let changes =
        engine.at(base).await?.diff(&engine.at(from).await?, &Range::content()).await?.all().await?;
    let changes = changes.into_iter().map(|change| (change.key, change.from, change.to)).collect();
    Ok(applied(changes, options))
}

/// What commits changed, but for what stays as it is because of its mode. Not looked for where everything is allowed.
pub(crate) async fn by_commits(
    catalog: &Catalog,
    commits: &[CommitId],
    options: &Options,
) -> Result<Vec<Touched>, Error> {
    if catalog.is_open() {
        return Ok(Vec::new());
    }
    let engine = catalog.engine();
    let mut touched = Vec::new();
    for id in commits {
        let commit = engine.commits().load(*id).await?;
        let before = engine.at(commit.header.parent()).await?;
        let mut changes = Vec::with_capacity(commit.operations.len());
        for operation in &commit.operations {
            let held = before.entry(operation.key()).await?;
            changes.push((operation.key().clone(), held, operation.entry().cloned()));
        }
        touched.extend(applied(changes, options));
    }
    Ok(touched)
}

/// Adds the keys to a question.
pub(crate) fn add(check: Check, branch: &RefName, touched: Vec<Touched>) -> Check {
    touched.into_iter().fold(check, |check, (key, access, content_type)| {
        check.and_key(access, Some(branch), &key, Some(content_type))
    })
}

/// The keys that do not stay as they are because of their mode.
fn applied(changes: Vec<(IndexKey, Option<Entry>, Option<Entry>)>, options: &Options) -> Vec<Touched> {
    let options = options.in_force(changes.iter().cloned());
    let keys = changes.into_iter().filter_map(|(key, from, to)| {
        let key = key.content().filter(|key| options.mode_of(key) != Mode::Drop)?;
        touch(key, from.as_ref(), to.as_ref())
    });
    keys.collect()
}

fn touch(key: ContentKey, before: Option<&Entry>, after: Option<&Entry>) -> Option<Touched> {
    match (before, after) {
        (None, Some(after)) => Some((key, Access::CreateContent, after.content_type)),
        (Some(_), Some(after)) => Some((key, Access::UpdateContent, after.content_type)),
        (Some(before), None) => Some((key, Access::DeleteContent, before.content_type)),
        (None, None) => None,
    }
}
