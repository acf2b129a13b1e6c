use std::sync::atomic::{AtomicUsize, Ordering};

use lochan_storage_model::{CommitId, CommitMeta};
use lochan_storage_odb::RefKind;
use tokio::sync::mpsc;

use super::*;
use crate::{
    Engine,
    commit::Request,
    merge::{MergeRequest, TransplantRequest},
    testing::*,
    writer::Who,
};

/// Asks of a write that lands at once: before its plan and before the queue.
const ASKS: usize = 2;

/// Somebody who is gone after so many asks.
fn gone_after(asks: usize) -> Who {
    let asked = AtomicUsize::new(0);
    let admission = Admission::new(move || asked.fetch_add(1, Ordering::Relaxed) < asks);
    Who { admission, ..Who::default() }
}

async fn commit_by(engine: &Engine, who: Who) -> Result<CommitId, Error> {
    let expected = head(engine, "main").await;
    let mut request = Request::new(name("main"), expected, CommitMeta::default(), who);
    request.operations = vec![put("t", table(1))];
    Ok(engine.commit(request).await?.head)
}

async fn merge_by(engine: &Engine, who: Who) -> Result<Option<CommitId>, Error> {
    let request = MergeRequest {
        branch: name("main"),
        expected: head(engine, "main").await,
        from: head(engine, "side").await,
        source: None,
        unrelated: true,
        options: merge_options(),
        meta: CommitMeta::default(),
        who,
    };
    Ok(engine.merge(request).await?.result)
}

async fn transplant_by(engine: &Engine, who: Who) -> Result<Option<CommitId>, Error> {
    let request = TransplantRequest {
        branch: name("main"),
        expected: head(engine, "main").await,
        commits: vec![head(engine, "side").await],
        options: merge_options(),
        overrides: Default::default(),
        who,
    };
    Ok(engine.transplant(request).await?.result)
}

async fn sided() -> Engine {
    let engine = engine().await;
    commit(&engine, "main", vec![put("base", table(0))]).await;
    branch(&engine, "side", "main").await;
    commit(&engine, "side", vec![put("other", table(2))]).await;
    engine
}

#[tokio::test]
async fn who_is_gone_before_admission_leaves_no_commit() {
    let engine = sided().await;
    let before = engine.reference(&name("main")).await.unwrap();
    for asks in 0..ASKS {
        let result = commit_by(&engine, gone_after(asks)).await;
        assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
        let result = merge_by(&engine, gone_after(asks)).await;
        assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
        let result = transplant_by(&engine, gone_after(asks)).await;
        assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
    }
    assert_eq!(engine.reference(&name("main")).await.unwrap(), before);
}

#[tokio::test]
async fn who_is_gone_after_admission_finds_the_commit() {
    let engine = sided().await;
    let landed = commit_by(&engine, gone_after(ASKS)).await.unwrap();
    assert_eq!(head(&engine, "main").await, landed);
    let landed = merge_by(&engine, gone_after(ASKS)).await.unwrap();
    assert_eq!(Some(head(&engine, "main").await), landed);
    let engine = sided().await;
    let landed = transplant_by(&engine, gone_after(ASKS)).await.unwrap();
    assert_eq!(Some(head(&engine, "main").await), landed);
}

/// On one thread the queue holds the job as soon as the second question was asked.
#[tokio::test]
async fn a_write_dropped_after_admission_lands_all_the_same() {
    let engine = engine().await;
    let (tell, mut asked) = mpsc::unbounded_channel();
    let who = Who { admission: Admission::new(move || tell.send(()).is_ok()), ..Who::default() };
    let writing = tokio::spawn({
        let engine = engine.clone();
        async move { commit_by(&engine, who).await }
    });
    for _ in 0..ASKS {
        asked.recv().await.unwrap();
    }
    writing.abort();
    engine.stop(std::time::Duration::from_secs(30)).await;
    assert!(!head(&engine, "main").await.is_no_ancestor());
}

#[tokio::test]
async fn changes_of_references_are_given_up_too() {
    let engine = sided().await;
    let (main, side) = (head(&engine, "main").await, head(&engine, "side").await);
    let (new, old) = (name("new"), name("side"));
    let result = engine.create_reference(&new, RefKind::Tag, main, gone_after(0)).await;
    assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
    let result = engine.assign_reference(&old, side, main, gone_after(0)).await;
    assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
    let result = engine.delete_reference(&old, side, gone_after(0)).await;
    assert!(matches!(result, Err(Error::Busy { .. })), "{result:?}");
    assert_eq!(engine.find_reference(&new).await.unwrap(), None);
    assert_eq!(head(&engine, "side").await, side);
    engine.create_reference(&new, RefKind::Tag, main, gone_after(1)).await.unwrap();
    engine.delete_reference(&old, side, gone_after(1)).await.unwrap();
    assert_eq!(engine.find_reference(&old).await.unwrap(), None);
}
