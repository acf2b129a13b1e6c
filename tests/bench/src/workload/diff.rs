//! `diff`: `GET /api/v2/trees/{from}/diff/{to}`.

use super::read::contains;
use super::{Size, Slice, Target, Worker, changed_branch};
use crate::ceiling::CHANGES;
use crate::conn::Conn;
use crate::nessie::{self, OpError};

/// Asks for the same difference again and again.
pub struct Differ {
    path: String,
}

pub(super) async fn prepare(target: &Target, size: Size, admin: &mut Conn) -> Result<Slice, OpError> {
    let (branch, head) = changed_branch(target, "diff", size, admin).await?;
    let path = format!("/api/v2/trees/main@{}/diff/{branch}@{head}", target.base.head);
    let workers = vec![Worker::Diff(Differ { path })];
    Ok(Slice { workers, grows: None, branches: vec![branch] })
}

impl Differ {
    pub(super) async fn step(&mut self, conn: &mut Conn) -> Result<(), OpError> {
        let body = nessie::ok(conn, "diff", "GET", &self.path, None).await?;
        let found = count(body, br#""from""#);
        if found != CHANGES || !contains(body, br#""to""#) {
            return Err(OpError::answer("diff", format!("{found} differences instead of {}", CHANGES)));
        }
        Ok(())
    }
}

fn count(text: &[u8], needle: &[u8]) -> usize {
    text.windows(needle.len()).filter(|window| *window == needle).count()
}
