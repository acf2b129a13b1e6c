//! The stream of a server that knows the Nessie API and no other: its commits are read and written in our format.
//!
//! First the shape of the graph, then the commits, parents first. What is kept in memory is hashes and parents.

use std::collections::{HashMap, HashSet};

use lochan_api_spec::ext::model::RefType;
use lochan_api_spec::ext::stream::{
    CommitLine, FORMAT, Header, Item, LINE_OPERATIONS_MAX, OperationLine, Progress, ReferenceLine,
    SourceKind, TooLarge, VERSION, Writer,
};
use lochan_api_spec::nessie::model::{Fetch, LogEntryV2, Operation, ReferenceKind};
use lochan_api_spec::nessie::v2::config::GetConfig;
use lochan_api_spec::nessie::v2::trees::{GetCommitLog, get_all_references, get_commit_log};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;

use super::sink::Sink;
use crate::commands::Session;
use crate::error::Error;

/// Commits read with one request.
const WINDOW: usize = 250;

/// Most commits of a repository that is exported this way: their hashes are kept in memory.
const COMMITS_MAX: usize = 5_000_000;

/// Writes everything that branches and tags reach.
pub async fn export(sink: &mut Sink, session: &Session) -> Result<Progress, Error> {
    let (config, references) = tokio::try_join!(
        session.client.ask::<GetConfig>(GetConfig::path(), &()),
        session.client.references(get_all_references::Query::default())
    )?;
    let mut buffer = Vec::new();
    let mut writer = Writer::begin(
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            source: SourceKind::Nessie,
            repository: None,
            server: None,
            default_branch: config.default_branch,
            taken_at: crate::host::now(),
        },
        &mut buffer,
    );
    writer.begin_part(None, &mut buffer);
    let mut heads = Vec::new();
    for reference in references.references {
        let kind = match reference.kind {
            ReferenceKind::Branch => RefType::Branch,
            ReferenceKind::Tag => RefType::Tag,
            ReferenceKind::Detached => continue,
        };
        let hash = reference.hash.unwrap_or_else(|| NO_ANCESTOR_HASH.to_owned());
        let name = reference.name.unwrap_or_default();
        heads.push(hash.clone());
        let line = Item::Reference(ReferenceLine { kind, name, hash });
        writer.item(&line, &mut buffer).map_err(|error| too_large(session, &error))?;
    }
    let graph = Graph::read(&heads, session).await?;
    for run in graph.runs(&heads) {
        for window in run.chunks(WINDOW) {
            for entry in commits(window, session).await? {
                let lines = lines(entry, &graph);
                for line in &lines {
                    writer.item(line, &mut buffer).map_err(|error| too_large(session, &error))?;
                }
                if writer.is_part_full() {
                    writer.end_part(|_| None, &mut buffer);
                    sink.write(&buffer)?;
                    buffer.clear();
                    writer.begin_part(None, &mut buffer);
                }
            }
        }
    }
    writer.end_part(|_| None, &mut buffer);
    let progress = writer.progress();
    writer.end(&mut buffer);
    sink.write(&buffer)?;
    Ok(progress)
}

fn wrong(session: &Session, reason: String) -> Error {
    Error::Stream { name: session.settings.endpoint.clone(), reason }
}

fn too_large(session: &Session, error: &TooLarge) -> Error {
    wrong(session, error.to_string())
}

/// Which commit has which parents.
#[derive(Debug, Default)]
struct Graph {
    parents: HashMap<String, Vec<String>>,
}

impl Graph {
    /// Reads logs from each head, and from each merge parent that no log showed, until something known comes.
    async fn read(heads: &[String], session: &Session) -> Result<Self, Error> {
        let mut graph = Self::default();
        let mut open: Vec<String> = heads.to_vec();
        let mut missing: HashSet<String> = HashSet::new();
        while let Some(from) = open.pop() {
            if from == NO_ANCESTOR_HASH || graph.parents.contains_key(&from) || missing.contains(&from) {
                continue;
            }
            match graph.read_from(&from, session).await {
                Ok(merged) => open.extend(merged),
                // A merge parent that the server has removed since. A head is there.
                Err(Error::Client(error)) if error.is_reference_missing() && !heads.contains(&from) => {
                    missing.insert(from);
                }
                Err(error) => return Err(error),
            }
        }
        for parents in graph.parents.values_mut() {
            parents.retain(|parent| !missing.contains(parent));
        }
        Ok(graph)
    }

    /// One log; returns the merge parents that it names.
    async fn read_from(&mut self, from: &str, session: &Session) -> Result<Vec<String>, Error> {
        let mut merged = Vec::new();
        let mut query =
            get_commit_log::Query { max_records: i32::try_from(WINDOW).ok(), ..Default::default() };
        let path = GetCommitLog::path(&RefSpec::detached(from));
        loop {
            let page = session.client.ask::<GetCommitLog>(path.clone(), &query).await?;
            for entry in page.log_entries {
                let meta = entry.commit_meta;
                let hash = meta.hash.ok_or_else(|| wrong(session, "a commit has no hash".to_owned()))?;
                let mut parents = meta.parent_commit_hashes;
                // A root has no parent. What was merged into an empty branch is no first parent, though.
                if parents == [NO_ANCESTOR_HASH] {
                    parents.clear();
                }
                merged.extend(parents.iter().skip(1).cloned());
                if self.parents.insert(hash, parents).is_some() {
                    return Ok(merged);
                }
                if self.parents.len() > COMMITS_MAX {
                    return Err(wrong(session, format!("it has more than {COMMITS_MAX} commits")));
                }
            }
            match page.token.filter(|_| page.has_more) {
                Some(token) => query.page_token = Some(token),
                None => return Ok(merged),
            }
        }
    }

    /// All commits, parents first, cut into lines of first parents: each can be read with a log.
    fn runs(&self, heads: &[String]) -> Vec<Vec<String>> {
        let mut done: HashSet<&str> = HashSet::new();
        let mut runs: Vec<Vec<String>> = Vec::new();
        // Commits on the way down; the flag says that all parents have been seen to.
        let mut open: Vec<(&str, bool)> = heads.iter().rev().map(|head| (head.as_str(), false)).collect();
        while let Some((hash, ready)) = open.pop() {
            let Some(parents) = self.parents.get(hash).filter(|_| !done.contains(hash)) else { continue };
            if !ready {
                open.push((hash, true));
                // The first parent comes last, so that it stands right before its child.
                open.extend(parents.iter().map(|parent| (parent.as_str(), false)));
                continue;
            }
            done.insert(hash);
            let first = parents.first().map(String::as_str);
            match runs.last_mut().filter(|run| run.last().map(String::as_str) == first && first.is_some()) {
                Some(run) => run.push(hash.to_owned()),
                None => runs.push(vec![hash.to_owned()]),
            }
        }
        runs
    }
}

/// Commits with their operations, oldest first.
async fn commits(window: &[String], session: &Session) -> Result<Vec<LogEntryV2>, Error> {
    let Some(newest) = window.last() else { return Ok(Vec::new()) };
    let query = get_commit_log::Query { fetch: Fetch::All, ..Default::default() };
    let log = session.client.log(&RefSpec::detached(newest.as_str()), query, window.len()).await?;
    let mut entries = log.log_entries;
    entries.reverse();
    let hashes = entries.iter().filter_map(|entry| entry.commit_meta.hash.as_ref());
    if !hashes.eq(window.iter()) {
        return Err(wrong(session, "its log has changed meanwhile".to_owned()));
    }
    Ok(entries)
}

/// A commit and the lines of its further operations.
fn lines(entry: LogEntryV2, graph: &Graph) -> Vec<Item> {
    let meta = entry.commit_meta;
    let id = meta.hash.unwrap_or_default();
    // The log has a delete and a put of one key for a content that was made anew; the put is what counts.
    let mut places: HashMap<_, usize> = HashMap::new();
    let mut operations: Vec<OperationLine> = Vec::new();
    for operation in entry.operations.unwrap_or_default() {
        let (key, line) = match operation.0 {
            Operation::Put { key, content } => (key.clone(), OperationLine::Put { key, content }),
            Operation::Delete { key } => (key.clone(), OperationLine::Delete { key }),
            Operation::Unchanged { .. } => continue,
        };
        match places.get(&key).and_then(|place| operations.get_mut(*place)) {
            Some(before) => *before = line,
            None => {
                places.insert(key, operations.len());
                operations.push(line);
            }
        }
    }
    let operation_count = u64::try_from(operations.len()).unwrap_or(u64::MAX);
    let mut rest = operations.split_off(operations.len().min(LINE_OPERATIONS_MAX));
    let mut lines = vec![Item::Commit(Box::new(CommitLine {
        parents: graph.parents.get(&id).cloned().unwrap_or_default(),
        id,
        message: meta.message,
        committer: meta.committer.unwrap_or_default(),
        authors: meta.authors,
        signed_off_by: meta.all_signed_off_by,
        commit_time: meta.commit_time.unwrap_or_else(|| lochan_api_spec::syntax::Instant::from_micros(0)),
        author_time: meta.author_time,
        properties: meta.all_properties,
        attachments: Vec::new(),
        operation_count,
        operations,
    }))];
    while !rest.is_empty() {
        let behind = rest.split_off(rest.len().min(LINE_OPERATIONS_MAX));
        lines.push(Item::Operations(std::mem::replace(&mut rest, behind)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let parents = edges.iter().map(|(hash, parents)| {
            ((*hash).to_owned(), parents.iter().map(|parent| (*parent).to_owned()).collect())
        });
        Graph { parents: parents.collect() }
    }

    #[test]
    fn parents_stand_before_their_children() {
        fn check(edges: &[(&str, &[&str])], heads: &[&str], expected: &[&[&str]]) {
            let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
            let graph = graph(edges);
            let runs = graph.runs(&heads);
            assert_eq!(runs, expected);
            let flat: Vec<&String> = runs.iter().flatten().collect();
            assert_eq!(flat.len(), edges.len());
            for (place, hash) in flat.iter().enumerate() {
                for parent in graph.parents[*hash].iter().filter(|parent| *parent != NO_ANCESTOR_HASH) {
                    assert!(flat[..place].contains(&parent), "{parent} before {hash}");
                }
            }
        }
        check(&[], &[NO_ANCESTOR_HASH], &[]);
        check(&[("a", &[]), ("b", &["a"]), ("c", &["b"])], &["c", "b"], &[&["a", "b", "c"]]);
        check(
            &[("a", &[]), ("b", &["a"]), ("x", &["a"]), ("y", &["x"]), ("m", &["b", "y"])],
            &["m", "y"],
            &[&["a", "x", "y"], &["b", "m"]],
        );
        check(&[("a", &[]), ("z", &[]), ("m", &["a", "z"])], &["m"], &[&["z"], &["a", "m"]]);
        check(&[("a", &[]), ("m", &[NO_ANCESTOR_HASH, "a"]), ("n", &["m"])], &["n"], &[&["a"], &["m", "n"]]);
    }
}
