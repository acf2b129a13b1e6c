//! What every slice starts from: `main` with a number of tables, loaded once per server.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::ceiling;
use crate::conn::Conn;
use crate::keys::Layout;
use crate::nessie::{self, COMMIT_END, COMMIT_START, push_put};

/// Puts per commit while loading.
const PUTS_PER_COMMIT: usize = 1000;

/// A loaded `main`.
pub struct Base {
    /// Where its tables lie.
    pub layout: Layout,
    /// Its head.
    pub head: String,
    /// Commits behind the head.
    pub commits: u64,
    /// Content id of each table by number.
    pub ids: Vec<String>,
    /// Tables loaded per second.
    pub load_rate: f64,
}

impl Base {
    /// The base that a ceiling pretends to have.
    pub fn pretended(tables: usize) -> Self {
        Self {
            layout: Layout::new(tables),
            head: ceiling::HASH.to_owned(),
            commits: 0,
            ids: vec![ceiling::CONTENT_ID.to_owned(); tables],
            load_rate: 0.0,
        }
    }

    /// Loads an empty server: first the namespaces, then the tables, 1,000 puts a commit.
    pub async fn load(conn: &mut Conn, tables: usize) -> Result<Self> {
        let layout = Layout::new(tables);
        let mut head = nessie::head(conn, "main").await?.hash;
        let began = Instant::now();
        let namespaces: Vec<usize> = (0..layout.namespaces).collect();
        for part in namespaces.chunks(PUTS_PER_COMMIT) {
            let body = body(part, |out, &n| {
                let name = layout.namespace(n);
                out.push_str(&format!(
                    r#"{{"type":"PUT","key":{{"elements":["{name}"]}},"content":{{"type":"NAMESPACE","id":null,"elements":["{name}"]}}}}"#
                ));
            });
            head = nessie::commit(conn, "main", &head, &body).await?.target_branch.hash.to_owned();
        }
        let mut ids = vec![String::new(); layout.tables];
        let numbers: Vec<usize> = (0..layout.tables).collect();
        for part in numbers.chunks(PUTS_PER_COMMIT) {
            let body = body(part, |out, &table| push_put(out, layout, table, None, 0));
            let committed = nessie::commit(conn, "main", &head, &body).await?;
            head = committed.target_branch.hash.to_owned();
            for added in committed.added_contents.context("no addedContents for new keys")? {
                let number = added.key.elements.last().and_then(|e| Layout::number(e));
                if let Some(id) = number.and_then(|n| ids.get_mut(n)) {
                    *id = added.content_id;
                }
            }
        }
        let load_rate = layout.tables as f64 / began.elapsed().as_secs_f64();
        anyhow::ensure!(ids.iter().all(|id| !id.is_empty()), "a new table got no content id");
        let found = nessie::head(conn, "main").await?;
        anyhow::ensure!(found.hash == head, "main is at {} instead of {head}", found.hash);
        let made = namespaces.len().div_ceil(PUTS_PER_COMMIT) + numbers.len().div_ceil(PUTS_PER_COMMIT);
        anyhow::ensure!(found.commits == made as u64, "main has {} commits instead of {made}", found.commits);
        Ok(Self { layout, head, commits: found.commits, ids, load_rate })
    }

    /// Content id of a table.
    pub fn id(&self, table: usize) -> &str {
        self.ids.get(table).map_or("", String::as_str)
    }
}

fn body<T>(items: &[T], push: impl Fn(&mut String, &T)) -> String {
    let mut out = String::from(COMMIT_START);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        push(&mut out, item);
    }
    out.push_str(COMMIT_END);
    out
}
