//! Work that nothing cuts short.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::runtime::Handle;

/// Runs work in the task of whoever awaits it; when that one goes away first, the work goes on in a task of its own.
/// So the usual case pays for no second task, and a mutating request ends as it would have with its client still there.
pub(crate) struct ToEnd<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
}

impl<T: Send + 'static> ToEnd<T> {
    pub(crate) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)) }
    }
}

impl<T: Send + 'static> Future for ToEnd<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        match work.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(done) => {
                self.work = None;
                Poll::Ready(done)
            }
        }
    }
}

impl<T: Send + 'static> Drop for ToEnd<T> {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and nothing can go on.
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_goes_on_when_its_waiter_is_gone() {
        let (go, wait) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let mut work = ToEnd::new(async move {
            wait.await.unwrap();
            tell.send(7).unwrap();
        });
        assert!(futures::poll!(&mut work).is_pending());
        drop(work);
        go.send(()).unwrap();
        assert_eq!(told.await, Ok(7));
    }

    #[tokio::test]
    async fn work_not_begun_goes_on_too_and_finished_work_is_not_repeated() {
        let (tell, told) = oneshot::channel();
        drop(ToEnd::new(async move { tell.send(1).unwrap() }));
        assert_eq!(told.await, Ok(1));
        assert_eq!(ToEnd::new(async { 2 }).await, 2);
    }
}
