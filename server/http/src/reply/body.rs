//! Bodies of answers: whole, or fed piece by piece.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// What a body that is fed may come to instead of its end: the connection is then broken off, so that nobody takes what
/// came for the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer was broken off")]
pub struct BrokenOff;

/// A piece of a body.
pub type Piece = Result<Bytes, BrokenOff>;

/// Pieces of a body to come. A clone shares them; they are read once.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Mutex<Option<mpsc::Receiver<Piece>>>>);

impl Feed {
    /// The pieces that come through a channel; its end is theirs.
    pub fn new(pieces: mpsc::Receiver<Piece>) -> Self {
        Feed(Arc::new(Mutex::new(Some(pieces))))
    }

    fn take(&self) -> Option<mpsc::Receiver<Piece>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The body of an answer.
#[derive(Debug)]
pub struct AnswerBody(Kind);

#[derive(Debug)]
enum Kind {
    Whole(Full<Bytes>),
    Fed(mpsc::Receiver<Piece>),
}

impl AnswerBody {
    /// A body in memory.
    pub fn whole(bytes: Bytes) -> Self {
        AnswerBody(Kind::Whole(Full::new(bytes)))
    }

    pub(super) fn fed(feed: Feed) -> Self {
        match feed.take() {
            Some(pieces) => AnswerBody(Kind::Fed(pieces)),
            None => AnswerBody::whole(Bytes::new()),
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match &mut self.0 {
            Kind::Whole(body) => Pin::new(body).poll_frame(context).map_err(|never| match never {}),
            Kind::Fed(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(body) => body.is_end_stream(),
            Kind::Fed(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(body) => body.size_hint(),
            Kind::Fed(_) => SizeHint::default(),
        }
    }
}
