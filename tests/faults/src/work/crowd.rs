//! Many writers at once, each with a table and a record of its own that every commit changes together.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use lochan_storage_engine::{
    Engine,
    commit::{GivenId, Operation, Request},
    writer::Who,
};
use lochan_storage_model::{CommitId, CommitMeta};
use lochan_storage_odb::{ExpectedRecord, RecordChange, RefKind};

use super::{
    marks::{Mark, SPACE, Speaker},
    open::{key, name, open_store, start_engine},
    script::content,
};

/// Branches that the writers share.
pub(super) const BRANCHES: u64 = 4;

pub(super) fn branch_of(writer: u64) -> String {
    format!("crowd-{}", writer % BRANCHES)
}

pub(super) fn record_of(writer: u64) -> String {
    format!("writer-{writer}")
}

/// Opens the store in `data`; `writers` writers do `count` commits each, telling of each in `marks`.
pub async fn crowd(data: &Path, marks: &Path, writers: u64, count: u64) -> Result<()> {
    let speaker = Arc::new(Speaker::open(marks)?);
    let store = open_store(data)?;
    let engine = start_engine(&store)?;
    for branch in 0..BRANCHES {
        let branch = name(&branch_of(branch))?;
        if engine.find_reference(&branch).await?.is_none() {
            engine.create_reference(&branch, RefKind::Branch, CommitId::NO_ANCESTOR, Who::default()).await?;
        }
    }
    let tasks: Vec<_> = (0..writers)
        .map(|writer| tokio::spawn(write(engine.clone(), Arc::clone(&speaker), writer, count)))
        .collect();
    for task in tasks {
        task.await??;
    }
    engine.stop(std::time::Duration::from_secs(30)).await;
    Ok(())
}

async fn write(engine: Engine, speaker: Arc<Speaker>, writer: u64, count: u64) -> Result<()> {
    let branch = name(&branch_of(writer))?;
    let key = key(format!("table-{writer}"))?;
    for number in 1..=count {
        let (head, state) = engine.at_head(&branch).await?;
        let id = match state.content(&key).await? {
            Some((entry, _)) => GivenId::Id(entry.content_id),
            None => GivenId::New,
        };
        let meta = CommitMeta { message: format!("{writer}:{number}"), ..CommitMeta::default() };
        let mut request = Request::new(branch.clone(), head.target, meta, Who::default());
        request.operations.push(Operation::Put { key: key.clone(), content: content(number), id });
        request.records.push(RecordChange {
            space: SPACE,
            key: record_of(writer).into(),
            expected: if number == 1 { ExpectedRecord::Absent } else { ExpectedRecord::Version(number - 1) },
            value: Some(format!("{number}").into()),
        });
        speaker.say(&Mark::Ask { writer, number })?;
        engine.commit(request).await?;
        speaker.say(&Mark::Acknowledged { writer, number })?;
    }
    Ok(())
}
