//! `merge`: `POST /api/v2/trees/{branch}@{hash}/history/merge` into a fresh branch of the base.

use serde::Deserialize;

use super::{Size, Slice, Target, Timer, Worker, changed_branch};
use crate::ceiling::CHANGES;
use crate::conn::Conn;
use crate::nessie::{self, OpError};

/// Makes a branch, merges into it, deletes it.
pub struct Merger {
    base: String,
    source: String,
    source_head: String,
    slice: usize,
    number: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Merged {
    resultant_target_hash: Option<String>,
    was_applied: bool,
    details: Vec<serde::de::IgnoredAny>,
}

pub(super) async fn prepare(target: &Target, size: Size, admin: &mut Conn) -> Result<Slice, OpError> {
    let (source, source_head) = changed_branch(target, "merge", size, admin).await?;
    let merger = Merger {
        base: target.base.head.clone(),
        source: source.clone(),
        source_head,
        slice: size.number,
        number: 0,
    };
    Ok(Slice { workers: vec![Worker::Merge(merger)], grows: None, branches: vec![source] })
}

impl Merger {
    pub(super) async fn step(&mut self, conn: &mut Conn, timer: &mut Timer) -> Result<(), OpError> {
        self.number += 1;
        let target = format!("bench-into-{}-{}", self.slice, self.number);
        nessie::create_branch(conn, &target, &self.base).await?;
        let path = format!("/api/v2/trees/{target}@{}/history/merge", self.base);
        let body = format!(r#"{{"fromRefName":"{}","fromHash":"{}"}}"#, self.source, self.source_head);
        timer.begin();
        let answer = nessie::ok(conn, "merge", "POST", &path, Some(body.as_bytes())).await?;
        timer.end();
        let merged: Merged = nessie::parse("merge", answer)?;
        if !merged.was_applied || merged.details.len() != CHANGES {
            let text = format!("{} keys merged instead of {}", merged.details.len(), CHANGES);
            return Err(OpError::answer("merge", text));
        }
        let hash =
            merged.resultant_target_hash.ok_or_else(|| OpError::answer("merge", "no resulting hash"))?;
        nessie::delete_branch(conn, &target, &hash).await
    }
}
