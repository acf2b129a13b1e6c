//! The table from operation to handler.

use std::future::Future;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::extract::Req;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::router::Op;

/// What a handler comes to.
pub type Answer = Result<Reply, Failure>;

type Handler<A> = Box<dyn Fn(Arc<A>, Req) -> BoxFuture<'static, Answer> + Send + Sync>;

/// The handlers of a server over the application `A`. An operation without one is answered 501.
pub struct Handlers<A> {
    table: Vec<Option<Handler<A>>>,
}

impl<A: Send + Sync + 'static> Default for Handlers<A> {
    fn default() -> Self {
        Handlers::new()
    }
}

impl<A: Send + Sync + 'static> Handlers<A> {
    /// An empty table.
    pub fn new() -> Self {
        Handlers { table: Op::ALL.iter().map(|_| None).collect() }
    }

    /// The table with `handler` for `op`.
    pub fn on<F, Fut>(mut self, op: Op, handler: F) -> Self
    where
        F: Fn(Arc<A>, Req) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        if let Some(slot) = self.table.get_mut(op as usize) {
            *slot = Some(Box::new(move |app, req| handler(app, req).boxed()));
        }
        self
    }

    /// Operations without a handler.
    pub fn missing(&self) -> Vec<Op> {
        let slots = Op::ALL.iter().zip(&self.table);
        slots.filter(|(_, slot)| slot.is_none()).map(|(op, _)| *op).collect()
    }

    pub(crate) fn call(&self, app: Arc<A>, req: Req) -> Option<BoxFuture<'static, Answer>> {
        let handler = self.table.get(req.op as usize)?.as_ref()?;
        Some(handler(app, req))
    }
}
