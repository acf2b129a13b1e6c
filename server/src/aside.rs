//! Work that takes of the processors what the rest of the server leaves.

use std::thread;

use anyhow::Context;
use tokio::sync::oneshot;

/// How much lower its priority is, in steps of `nice`.
#[cfg(target_os = "linux")]
const STEPS: i32 = 10;

/// Does `work` on a thread of its own, which goes behind all others, as do those that it starts. The work ends at its next
/// pause when nobody waits for it any more.
pub async fn run<W>(name: &str, work: impl FnOnce() -> W + Send + 'static) -> anyhow::Result<W::Output>
where
    W: Future<Output: Send + 'static>,
{
    let (mut tell, told) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name(name.into()).spawn(move || {
        step_back();
        runtime.block_on(async {
            tokio::select! {
                done = work() => drop(tell.send(done)),
                () = tell.closed() => {}
            }
        });
    })?;
    told.await.with_context(|| format!("the thread {name} ended before its work was done"))
}

/// Lowers the priority of this thread; where it cannot be, the work goes on as it is.
fn step_back() {
    // Elsewhere the call is about the whole process.
    #[cfg(target_os = "linux")]
    if let Ok(now) = rustix::process::getpriority_process(None) {
        let _ = rustix::process::setpriority_process(None, now + STEPS);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn it_comes_behind_others_and_ends_when_nobody_waits() {
        let name = || thread::current().name().map(str::to_owned);
        let own = rustix::process::getpriority_process(None).unwrap();
        let work = move || async move {
            let here = tokio::task::spawn_blocking(|| rustix::process::getpriority_process(None).unwrap());
            (name(), rustix::process::getpriority_process(None).unwrap(), here.await.unwrap())
        };
        let (named, lower, spawned) = run("aside", work).await.unwrap();
        assert_eq!(named.as_deref(), Some("aside"));
        if cfg!(target_os = "linux") {
            assert_eq!((lower, spawned), ((own + STEPS).min(19), (own + STEPS).min(19)));
            assert_eq!(rustix::process::getpriority_process(None).unwrap(), own);
        }

        let held = Arc::new(());
        let holds = held.clone();
        let endless = run("aside", move || async move {
            let _holds = holds;
            std::future::pending::<()>().await;
        });
        tokio::select! {
            _ = endless => unreachable!(),
            () = tokio::task::yield_now() => {}
        }
        while Arc::strong_count(&held) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
