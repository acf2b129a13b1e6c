//! Bodies of requests that are answered before they were read.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use tokio::runtime::Handle;

use crate::limits::{UNREAD_BODY_BYTES_MAX, UNREAD_BODY_TIMEOUT};

/// A body whose rest is read and thrown away, within bounds, when nobody wants it any more. Otherwise the connection would be
/// closed under a client that is still sending: it sees that it broke, and not the answer, which may say that nothing was done.
pub(crate) struct ReadOn<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    /// Nothing once it is read.
    body: Option<B>,
    /// The client sends nothing before it is asked to, which reading would do.
    waits: bool,
}

impl<B> ReadOn<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    /// `waits`: whether the client expects to be told to go on (`Expect: 100-continue`).
    pub(crate) fn new(body: B, waits: bool) -> Self {
        ReadOn { body: Some(body), waits }
    }
}

impl<B> Body for ReadOn<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.waits = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for ReadOn<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    fn drop(&mut self) {
        let unread = self.body.take().filter(|body| !self.waits && !body.is_end_stream());
        // There is no runtime any more at the very end of the program.
        if let (Some(body), Ok(runtime)) = (unread, Handle::try_current()) {
            runtime.spawn(tokio::time::timeout(UNREAD_BODY_TIMEOUT, throw_away(body)));
        }
    }
}

async fn throw_away<B>(mut body: B)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut left = UNREAD_BODY_BYTES_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}
