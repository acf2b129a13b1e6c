//! `POST /ext/v1/import`

use std::sync::Arc;

use lochan_api_spec::ext::import_repository::{Existing as WireExisting, Query};
use lochan_api_spec::ext::model::ErrorDetails;
use lochan_api_spec::ext::stream::{
    Attachment, Checksum, CommitLine, Event, Item, OperationLine, Progress as WireProgress, Reader,
    ReferenceLine, SourceKind as WireSource,
};
use lochan_server_catalog::Error;
use lochan_server_catalog::ext::Refusal as Own;
use lochan_server_catalog::ext::import::{
    Commit, Existing, Import, Operation, Options, Part, Progress, Reference, SourceId, SourceKind,
};
use lochan_server_catalog::nessie::commits::GivenId;
use lochan_storage_model::{CommitMeta, ContentKey, SystemPath};

use super::convert::{instant_in, kind_in};
use super::imports::state_out;
use crate::app::App;
use crate::error::{ext, log};
use crate::extract::{Lines, Req};
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::bad;
use crate::nessie::convert::content;
use crate::reply::Reply;

/// `POST /ext/v1/import`
pub async fn import(app: Arc<App>, mut req: Req) -> Answer {
    let query: Query = req.query()?;
    let id = query.id.ok_or_else(|| bad("query parameter 'id' must name the import"))?;
    let options = Options {
        prefix: query.prefix,
        existing: query.existing.map(|existing| match existing {
            WireExisting::Refuse => Existing::Refuse,
            WireExisting::Keep => Existing::Keep,
            WireExisting::Move => Existing::Move,
        }),
    };
    let who = req.principal();
    let mut import = app.catalog.import(&who, &id, options).await?;
    let reader = match import.state() {
        Some(state) => Reader::resume(WireProgress {
            parts: state.progress.parts,
            checksum: Checksum::from_bytes(state.progress.checksum),
            references: state.progress.references,
            commits: state.progress.commits,
            log_entries: state.progress.log_entries,
        }),
        None => Reader::begin(),
    };
    let mut taking = Taking { reader, part: Part::default(), open: None, lines: 0 };
    let taken = match req.lines.take() {
        Some(lines) => taking.all(lines, &mut import).await,
        None => Ok(()),
    };
    match taken {
        Ok(()) => match import.state() {
            Some(state) => Ok(Reply::json(&state_out(&app, &who, &id, state).await?)),
            None => Err(bad("the body must begin with the header of a stream")),
        },
        // What the client needs to go on: where it went wrong, and which part is wanted next.
        Err(Failure::App(error)) => {
            log(&error, req.op.name(), &req.id);
            let details = ErrorDetails {
                part: taking.reader.part(),
                line: Some(taking.lines),
                next_part: import.state().map(|state| state.progress.parts + 1),
                ..ErrorDetails::default()
            };
            ext::failure(&error, details).ok_or(Failure::App(error))
        }
        Err(failure) => Err(failure),
    }
}

/// A body being taken in.
struct Taking {
    reader: Reader,
    part: Part,
    /// A commit whose operations have not all come, and how many are missing.
    open: Option<u64>,
    /// Lines read.
    lines: u64,
}

impl Taking {
    async fn all(&mut self, mut lines: Lines, import: &mut Import) -> Result<(), Failure> {
        while let Some(line) = lines.next().await? {
            self.lines += 1;
            let event = self.reader.line(&line).map_err(|error| wrong(error.to_string()))?;
            match event {
                Event::Header(header) => {
                    let checksum = self.reader.progress().map(|progress| *progress.checksum.as_bytes());
                    let source = match header.source {
                        WireSource::Lochan => SourceKind::Lochan,
                        WireSource::Nessie => SourceKind::Nessie,
                    };
                    import.begin(source, checksum.unwrap_or_default()).await?;
                }
                Event::PartBegins(_) => self.part = Part::default(),
                Event::Item(item) => self.take(item)?,
                Event::PartEnds(_) => {
                    self.complete()?;
                    let progress =
                        self.reader.progress().ok_or_else(|| wrong("a part has ended too early"))?;
                    import.take(std::mem::take(&mut self.part), progress_in(&progress)).await?;
                }
                Event::End(_) => import.finish().await?,
                Event::Passed => {}
            }
        }
        if !self.reader.is_between_parts() {
            return Err(wrong("the body ends inside a part, which was not taken").into());
        }
        Ok(())
    }

    fn take(&mut self, item: Item) -> Result<(), Error> {
        if !matches!(item, Item::Operations(_)) {
            self.complete()?;
        }
        match item {
            Item::Reference(ReferenceLine { kind, name, hash }) => {
                let target = id_in(&hash)?;
                self.part.references.push(Reference { kind: kind_in(kind), name, target });
            }
            Item::Attachment(Attachment { id, data }) => {
                let id = id.parse().map_err(|_| wrong(format!("'{id}' is no id of an attachment")))?;
                let bytes = hex::decode(&data)
                    .map_err(|error| wrong(format!("the bytes of an attachment: {error}")))?;
                self.part.attachments.push((id, bytes.into()));
            }
            Item::Commit(line) => {
                let (commit, missing) = commit_in(*line)?;
                self.part.commits.push(commit);
                self.open = (missing > 0).then_some(missing);
            }
            Item::Operations(operations) => {
                let (Some(missing), Some(commit)) = (self.open, self.part.commits.last_mut()) else {
                    return Err(wrong("operations stand behind no commit that lacks any"));
                };
                let rest = missing.checked_sub(operations.len() as u64);
                let rest = rest
                    .ok_or_else(|| wrong(format!("commit {} has more operations than it says", commit.id)))?;
                for operation in operations {
                    commit.operations.push(operation_in(&commit.id, operation)?);
                }
                self.open = (rest > 0).then_some(rest);
            }
            // Checked by having been read, and counted. The log of an imported reference begins here.
            Item::LogEntry(_) => {}
        }
        Ok(())
    }

    /// Fails where the commit before lacks operations.
    fn complete(&self) -> Result<(), Error> {
        match (self.open, self.part.commits.last()) {
            (Some(missing), Some(commit)) => {
                Err(wrong(format!("commit {} lacks {missing} of its operations", commit.id)))
            }
            _ => Ok(()),
        }
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Own::Stream(message.into()).into()
}

fn progress_in(progress: &WireProgress) -> Progress {
    Progress {
        parts: progress.parts,
        checksum: *progress.checksum.as_bytes(),
        references: progress.references,
        commits: progress.commits,
        log_entries: progress.log_entries,
    }
}

fn id_in(text: &str) -> Result<SourceId, Error> {
    let id = hex::decode(text).ok().and_then(SourceId::new);
    id.ok_or_else(|| {
        wrong(format!("'{}' is no commit id of 8 to 64 hexadecimal digits", text.escape_default()))
    })
}

/// A commit of the stream, and how many of its operations are to come.
fn commit_in(line: CommitLine) -> Result<(Commit, u64), Error> {
    let id = id_in(&line.id)?;
    let missing = line.operation_count.checked_sub(line.operations.len() as u64);
    let missing = missing.ok_or_else(|| wrong(format!("commit {id} has more operations than it says")))?;
    let attachment =
        |text: &String| text.parse().map_err(|_| wrong(format!("'{text}' is no id of an attachment")));
    let commit = Commit {
        parents: line.parents.iter().map(|parent| id_in(parent)).collect::<Result<_, _>>()?,
        time: line.commit_time.micros(),
        meta: CommitMeta {
            committer: line.committer,
            authors: line.authors,
            signed_off_by: line.signed_off_by,
            message: line.message,
            author_time: line.author_time.map(instant_in),
            properties: line.properties,
        },
        attachments: line.attachments.iter().map(attachment).collect::<Result<_, _>>()?,
        operations: line
            .operations
            .into_iter()
            .map(|operation| operation_in(&id, operation))
            .collect::<Result<_, _>>()?,
        id,
    };
    Ok((commit, missing))
}

fn operation_in(commit: &SourceId, operation: OperationLine) -> Result<Operation, Error> {
    let key_in = |elements: Vec<String>| {
        ContentKey::new(elements).map_err(|error| wrong(format!("commit {commit}: {error}")))
    };
    Ok(match operation {
        OperationLine::Put { key, content } => {
            let (id, content) = content::given(content);
            let id = match id {
                GivenId::Id(id) => id.to_string(),
                GivenId::Text(text) => text,
                GivenId::New => {
                    return Err(wrong(format!("commit {commit} puts a content without id at '{key}'")));
                }
            };
            Operation::Put { key: key_in(key.elements)?, id, content }
        }
        OperationLine::Delete { key } => Operation::Delete(key_in(key.elements)?),
        OperationLine::System { path, value } => {
            let path = SystemPath::new(path).map_err(|error| wrong(format!("commit {commit}: {error}")))?;
            Operation::System(path, value)
        }
    })
}
