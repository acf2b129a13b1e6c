//! What an export writes, unit by unit: a reference, a commit with its attachments and operations, a log entry.

use std::collections::VecDeque;

use lochan_api_spec::ext::stream::{
    Attachment, CommitLine, Item, LINE_OPERATIONS_MAX, OperationLine, ReferenceLine,
};
use lochan_api_spec::syntax::Instant;
use lochan_server_catalog::Error;
use lochan_server_catalog::ext::export::{Export, Exported, Operation};

use super::position::Section;
use crate::ext::convert::{instant_out, kind_out, log_entry_out};
use crate::nessie::convert::{content, key_out};

/// Units read at once. A commit may be large, but few are.
const CHUNK_UNITS: usize = 64;

/// Lines that belong into one part.
pub struct Unit {
    /// Its lines.
    pub items: Vec<Item>,
    /// What comes next.
    pub after: Section,
}

/// The units of an export from a section on.
pub struct Units<'e> {
    export: &'e Export,
    log: bool,
    section: Section,
    ready: VecDeque<Unit>,
    ended: bool,
}

impl<'e> Units<'e> {
    /// The units of `export`, with changes of references if `log`.
    pub fn new(export: &'e Export, log: bool, section: Section) -> Self {
        Units { export, log, section, ready: VecDeque::new(), ended: false }
    }

    /// The next unit, which stays; `None` at the end.
    pub async fn peek(&mut self) -> Result<Option<&Unit>, Error> {
        while self.ready.is_empty() && !self.ended {
            self.fill().await?;
        }
        Ok(self.ready.front())
    }

    /// The next unit.
    pub async fn next(&mut self) -> Result<Option<Unit>, Error> {
        self.peek().await?;
        Ok(self.ready.pop_front())
    }

    /// Reads on in the section, or goes to the next one.
    async fn fill(&mut self) -> Result<(), Error> {
        match self.section.clone() {
            Section::References(from) => {
                let all = self.export.references().await?;
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                let found = all.get(from..).unwrap_or_default().iter().take(CHUNK_UNITS);
                for (at, reference) in found.enumerate() {
                    let line = ReferenceLine {
                        kind: kind_out(reference.kind),
                        name: reference.name.to_string(),
                        hash: reference.target.to_string(),
                    };
                    let after = Section::References((from + at + 1) as u64);
                    self.ready.push_back(Unit { items: vec![Item::Reference(line)], after });
                }
                self.go_on(Section::Commits(0));
            }
            Section::Commits(from) => {
                let found = self.export.commits(from, CHUNK_UNITS).await?;
                for (at, commit) in found.into_iter().enumerate() {
                    let after = Section::Commits(from + at as u64 + 1);
                    self.ready.push_back(Unit { items: commit_out(commit), after });
                }
                self.go_on(Section::Log(None));
            }
            Section::Log(_) if !self.log => self.ended = true,
            Section::Log(after) => {
                let after = after.as_ref().map(|(name, number)| (name, *number));
                for entry in self.export.log_entries(after).await? {
                    let after = Section::Log(Some((entry.name.clone(), entry.number)));
                    self.ready.push_back(Unit { items: vec![Item::LogEntry(log_entry_out(&entry))], after });
                }
                self.ended = self.ready.is_empty();
                self.go_on(Section::Log(None));
            }
        }
        Ok(())
    }

    /// The section behind what was read, or `next` when nothing was.
    fn go_on(&mut self, next: Section) {
        self.section = self.ready.back().map_or(next, |last| last.after.clone());
    }
}

/// The lines of a commit.
fn commit_out(exported: Exported) -> Vec<Item> {
    let Exported { entry, operations, attachments } = exported;
    let (header, meta) = (&entry.commit.header, &entry.commit.meta);
    let mut items: Vec<Item> = attachments
        .into_iter()
        .map(|(id, bytes)| Item::Attachment(Attachment { id: id.to_string(), data: hex::encode(&bytes) }))
        .collect();
    let count = operations.len() as u64;
    let mut operations = operations.into_iter().map(operation_out);
    items.push(Item::Commit(Box::new(CommitLine {
        id: entry.id.to_string(),
        parents: header.parents.iter().map(ToString::to_string).collect(),
        message: meta.message.clone(),
        committer: meta.committer.clone(),
        authors: meta.authors.clone(),
        signed_off_by: meta.signed_off_by.clone(),
        commit_time: Instant::from_micros(header.time),
        author_time: meta.author_time.map(instant_out),
        properties: meta.properties.clone(),
        attachments: entry.commit.attachments.iter().map(ToString::to_string).collect(),
        operation_count: count,
        operations: operations.by_ref().take(LINE_OPERATIONS_MAX).collect(),
    })));
    loop {
        let more: Vec<OperationLine> = operations.by_ref().take(LINE_OPERATIONS_MAX).collect();
        if more.is_empty() {
            return items;
        }
        items.push(Item::Operations(more));
    }
}

fn operation_out(operation: Operation) -> OperationLine {
    match operation {
        Operation::Put { key, id, content } => {
            OperationLine::Put { key: key_out(&key), content: content::out(Some(id), content) }
        }
        Operation::Delete(key) => OperationLine::Delete { key: key_out(&key) },
        Operation::System(path, value) => OperationLine::System {
            path: path.elements().iter().map(|element| element.to_string()).collect(),
            value,
        },
    }
}
