//! `commit.*`: `POST /api/v2/trees/{branch}@{hash}/history/commit` with one put.

use std::rc::Rc;

use super::{Kind, Size, Slice, Target, Worker, fork};
use crate::base::Base;
use crate::conn::Conn;
use crate::keys::Walk;
use crate::nessie::{self, OpError};

/// Commits to tables that nobody else touches, each time on top of the hash its last commit gave.
pub struct Writer {
    base: Rc<Base>,
    branch: String,
    head: String,
    tables: Tables,
    version: u64,
    body: String,
}

enum Tables {
    /// One table for ever.
    One(usize),
    /// Table `first + step × n` for a walk over `n`.
    Share { walk: Walk, first: usize, step: usize },
}

pub(super) async fn prepare(
    kind: Kind,
    target: &Target,
    size: Size,
    admin: &mut Conn,
) -> Result<Slice, OpError> {
    let branch = fork(target, "commit", size.number, admin).await?;
    let layout = target.base.layout;
    if size.workers > layout.tables {
        return Err(OpError::answer("commit", "more writers than tables"));
    }
    let workers = (0..size.workers)
        .map(|i| {
            let tables = match kind {
                Kind::CommitOwnTable => Tables::One(layout.spread(i, size.workers)),
                _ => Tables::Share {
                    walk: Walk::new(layout.tables / size.workers, i + size.number),
                    first: i,
                    step: size.workers,
                },
            };
            Worker::Write(Writer {
                base: Rc::clone(&target.base),
                branch: branch.clone(),
                head: target.base.head.clone(),
                tables,
                version: (size.number as u64) << 24,
                body: String::new(),
            })
        })
        .collect();
    Ok(Slice { workers, grows: Some((branch.clone(), target.base.commits)), branches: vec![branch] })
}

impl Writer {
    pub(super) async fn step(&mut self, conn: &mut Conn) -> Result<(), OpError> {
        let table = match &mut self.tables {
            Tables::One(table) => *table,
            Tables::Share { walk, first, step } => *first + *step * walk.step(),
        };
        self.version += 1;
        self.body.clear();
        self.body.push_str(nessie::COMMIT_START);
        nessie::push_put(&mut self.body, self.base.layout, table, Some(self.base.id(table)), self.version);
        self.body.push_str(nessie::COMMIT_END);
        let committed = nessie::commit(conn, &self.branch, &self.head, &self.body).await?;
        self.head.clear();
        self.head.push_str(committed.target_branch.hash);
        Ok(())
    }
}
