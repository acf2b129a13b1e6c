//! The keys that a merge or transplant wants to change, for the question about access.

use lochan_storage_engine::{
    graph::merge_base,
    index::Range,
    merge::{Mode, Options},
};
use lochan_storage_model::{CommitId, ContentKey, ContentType, Entry, RefName};

use crate::{
    access::{Access, Check},
    catalog::Catalog,
    error::Error,
};

/// A key, what is to be done to it, and the type of content concerned.
pub(crate) type Touched = (ContentKey, Access, ContentType);

/// What the source of a merge changed since the merge base. Not looked for where everything is allowed.
pub(crate) async fn by_merge(
    catalog: &Catalog,
    target: CommitId,
    from: CommitId,
) -> Result<Vec<Touched>, Error> {
    if catalog.is_open() {
        return Ok(Vec::new());
    }
    let engine = catalog.engine();
    let base = merge_base(engine.commits(), target, from).await?;
    let changes =
        engine.at(base).await?.diff(&engine.at(from).await?, &Range::content()).await?.all().await?;
    let touched = changes.into_iter().filter_map(|change| {
        let key = change.key.content()?;
        touch(key, change.from.as_ref(), change.to.as_ref())
    });
    Ok(touched.collect())
}

/// What commits changed. Not looked for where everything is allowed.
pub(crate) async fn by_commits(catalog: &Catalog, commits: &[CommitId]) -> Result<Vec<Touched>, Error> {
    if catalog.is_open() {
        return Ok(Vec::new());
    }
    let engine = catalog.engine();
    let mut touched = Vec::new();
    for id in commits {
        let commit = engine.commits().load(*id).await?;
        let before = engine.at(commit.header.parent()).await?;
        for operation in &commit.operations {
            if let Some(key) = operation.key().content() {
                let held = before.entry(operation.key()).await?;
                touched.extend(touch(key, held.as_ref(), operation.entry()));
            }
        }
    }
    Ok(touched)
}

/// Adds the keys to a question, but for those that stay as they are because of their mode.
pub(crate) fn add(check: Check, branch: &RefName, options: &Options, touched: Vec<Touched>) -> Check {
    touched.into_iter().fold(check, |check, (key, access, content_type)| {
        let mode = options.mode_of(&key);
        if mode == Mode::Drop {
            return check;
        }
        check.and_key(access, Some(branch), &key, Some(content_type))
    })
}

fn touch(key: ContentKey, before: Option<&Entry>, after: Option<&Entry>) -> Option<Touched> {
    match (before, after) {
        (None, Some(after)) => Some((key, Access::CreateContent, after.content_type)),
        (Some(_), Some(after)) => Some((key, Access::UpdateContent, after.content_type)),
        (Some(before), None) => Some((key, Access::DeleteContent, before.content_type)),
        (None, None) => None,
    }
}
