//! Both sides of a conflict: what each holds, and the commit that changed it last.

use futures::future::join_all;
use lochan_api_spec::nessie::model::{CommitMetaV2, Conflict, ConflictType, Content, ContentKey, Fetch};
use lochan_api_spec::nessie::v2::trees::get_commit_log;
use lochan_api_spec::syntax::RefSpec;
use serde::Serialize;

use crate::client::Client;
use crate::commands::cel;
use crate::output::page::{Page, columns, pad, style};
use crate::output::summary;

/// How many conflicts are looked into: their contents are read.
const KEYS_READ_MAX: usize = 50;

/// How many conflicts are traced to the commits behind them: a search of the log each, on either side.
const KEYS_TRACED_MAX: usize = 8;

/// One side of a conflict. What could not be found out is null: it is an aid, not the answer.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// What the key holds there; null when it holds nothing.
    pub content: Option<Content>,
    /// The newest commit since the merge base that touched the key.
    pub changed_by: Option<CommitMetaV2>,
}

/// A conflict with both its sides.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TwoSided {
    /// The key.
    pub key: ContentKey,
    /// Why.
    pub conflict_type: ConflictType,
    /// The server's words.
    pub message: String,
    /// The side to be merged; null beyond the first [`KEYS_READ_MAX`].
    pub source: Option<Side>,
    /// The branch to be changed.
    pub target: Option<Side>,
}

/// Looks at both sides of each conflict.
pub async fn look_into(
    client: &Client,
    conflicts: Vec<(ContentKey, Conflict)>,
    source: &RefSpec,
    target: &RefSpec,
    ancestor: Option<&str>,
) -> Vec<TwoSided> {
    let keys: Vec<ContentKey> = conflicts.iter().take(KEYS_READ_MAX).map(|(key, _)| key.clone()).collect();
    let (sources, targets) =
        tokio::join!(sides(client, &keys, source, ancestor), sides(client, &keys, target, ancestor));
    let (mut sources, mut targets) = (sources.into_iter(), targets.into_iter());
    conflicts
        .into_iter()
        .map(|(key, conflict)| TwoSided {
            key,
            conflict_type: conflict.conflict_type,
            message: conflict.message,
            source: sources.next(),
            target: targets.next(),
        })
        .collect()
}

/// A side per key, in order; none at all when the contents cannot be read.
async fn sides(client: &Client, keys: &[ContentKey], at: &RefSpec, ancestor: Option<&str>) -> Vec<Side> {
    let Ok(held) = client.contents(at, keys).await else { return Vec::new() };
    let traces = keys.iter().take(KEYS_TRACED_MAX).map(|key| changed_by(client, at, key, ancestor));
    let mut traces = join_all(traces).await.into_iter();
    let mut contents = held.contents;
    keys.iter()
        .map(|key| {
            let place = contents.iter().position(|held| held.key == *key);
            Side {
                content: place.map(|place| contents.swap_remove(place).content),
                changed_by: traces.next().flatten(),
            }
        })
        .collect()
}

/// The newest commit that touched the key since the merge base. Without a base the search would have no end.
async fn changed_by(
    client: &Client,
    at: &RefSpec,
    key: &ContentKey,
    ancestor: Option<&str>,
) -> Option<CommitMetaV2> {
    let ancestor = ancestor?;
    let query = get_commit_log::Query {
        fetch: Fetch::All,
        limit_hash: Some(ancestor.to_owned()),
        filter: Some(cel::touches(key)),
        ..Default::default()
    };
    let log = client.log(at, query, 1).await.ok()?;
    let meta = log.log_entries.into_iter().next()?.commit_meta;
    // The base itself is the state both sides began with.
    (meta.hash.as_deref() != Some(ancestor)).then_some(meta)
}

impl TwoSided {
    /// Writes the conflict and its sides under their names.
    pub fn human(&self, page: &mut Page, source_name: &str, target_name: &str) {
        let key = page.key(&self.key);
        page.line(&format!("  {key}  {}", page.paint(style::ERROR, self.words())));
        let width = columns(source_name).max(columns(target_name));
        for (name, side) in [(source_name, &self.source), (target_name, &self.target)] {
            let Some(side) = side else { continue };
            let holds = side.content.as_ref().map_or_else(|| "holds nothing".to_owned(), summary);
            page.line(&format!("    {}  {holds}", page.name(&pad(name, width))));
            if let Some(meta) = &side.changed_by {
                let commit = page.commit_text(width + 17, meta, false);
                page.line(&format!("    {}  changed by {commit}", pad("", width)));
            }
        }
    }

    fn words(&self) -> &str {
        match self.conflict_type {
            ConflictType::KeyExists => "both sides made it",
            ConflictType::KeyDoesNotExist => "not on the target",
            ConflictType::PayloadDiffers => "another type on the target",
            ConflictType::ContentIdDiffers => "made anew on the target",
            ConflictType::ValueDiffers => "both sides changed it",
            _ => &self.message,
        }
    }
}
