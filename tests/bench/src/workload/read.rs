//! `content.get`: `GET /api/v2/trees/main/contents/{key}`.

use std::rc::Rc;

use super::{Size, Slice, Target, Worker};
use crate::base::Base;
use crate::conn::Conn;
use crate::keys::Walk;
use crate::nessie::{self, OpError};

/// Reads one table after the other in a jumping order.
pub struct Reader {
    base: Rc<Base>,
    walk: Walk,
    path: String,
}

pub(super) fn prepare(target: &Target, size: Size) -> Slice {
    let workers = (0..size.workers)
        .map(|i| {
            let walk = Walk::new(target.base.layout.tables, i + size.number);
            Worker::Read(Reader { base: Rc::clone(&target.base), walk, path: String::new() })
        })
        .collect();
    Slice { workers, grows: None, branches: Vec::new() }
}

impl Reader {
    pub(super) async fn step(&mut self, conn: &mut Conn) -> Result<(), OpError> {
        let table = self.walk.step();
        self.path.clear();
        self.path.push_str("/api/v2/trees/main/contents/");
        self.base.layout.push_path(table, &mut self.path);
        let body = nessie::ok(conn, "get content", "GET", &self.path, None).await?;
        if contains(body, self.base.id(table).as_bytes()) {
            Ok(())
        } else {
            Err(OpError::answer("get content", format!("not table {table}")))
        }
    }
}

/// Whether `needle` occurs in `text`.
pub(super) fn contains(text: &[u8], needle: &[u8]) -> bool {
    !needle.is_empty() && text.windows(needle.len()).any(|window| window == needle)
}
