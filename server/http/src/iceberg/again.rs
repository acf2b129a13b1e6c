//! Answers of writes told anew: what the write was about, as it is now.

use futures::FutureExt;
use futures::future::BoxFuture;
use lochan_api_spec::iceberg::namespaces::{
    NamespaceDocument, UpdatePropertiesRequest, UpdatePropertiesResponse,
};
use lochan_server_catalog::iceberg::{Namespace, Snapshots, TableLoaded};
use lochan_server_catalog::requests::Written;
use serde::Deserialize;

use super::{answer, convert};
use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::reply::Reply;
use crate::router::Op;

/// The part of a body that names what is made.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The answer to a write that was made before.
pub(super) fn retell<'a>(app: &'a App, req: &'a Req, _: &'a Written) -> BoxFuture<'a, Answer> {
    async move {
        match req.op {
            Op::IcebergCreateNamespace
            | Op::IcebergUpdateProperties
            | Op::IcebergCreateTable
            | Op::IcebergRegisterTable
            | Op::IcebergCommitTable
            | Op::IcebergCreateView
            | Op::IcebergRegisterView
            | Op::IcebergCommitView => answer(app, req).await,
            _ => Ok(Reply::no_content()),
        }
    }
    .boxed()
}

async fn answer(app: &App, req: &Req) -> Result<Reply, Failure> {
    let place = convert::place(req)?;
    let who = convert::principal(req);
    let catalog = app.catalog.iceberg();
    let target = || match req.op {
        Op::IcebergCommitTable | Op::IcebergCommitView => convert::target(req, &place),
        _ => convert::target_of(&place, convert::namespace(req), &req.json::<Named>()?.name),
    };
    match req.op {
        Op::IcebergCreateNamespace => {
            let body: NamespaceDocument = req.json()?;
            let namespace = Namespace::of(body.namespace);
            let found = catalog.load_namespace(&who, &place, &namespace).await?;
            Ok(Reply::json(&NamespaceDocument { namespace: found.levels, properties: found.properties }))
        }
        Op::IcebergUpdateProperties => {
            let body: UpdatePropertiesRequest = req.json()?;
            Ok(Reply::json(&UpdatePropertiesResponse {
                updated: body.updates.into_keys().collect(),
                removed: body.removals,
                missing: Vec::new(),
            }))
        }
        Op::IcebergCreateView | Op::IcebergRegisterView | Op::IcebergCommitView => {
            Ok(answer::view(&catalog.load_view(&who, &target()?).await?))
        }
        _ => match catalog.load_table(&who, &target()?, Snapshots::All, |_| false).await? {
            TableLoaded::Table(table) => answer::table(&table),
            TableLoaded::Unchanged(etag) => answer::unchanged(&etag),
        },
    }
}
