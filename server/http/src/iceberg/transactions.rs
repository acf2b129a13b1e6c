//! `POST /iceberg/v1/{prefix}/transactions/commit`

use std::sync::Arc;

use lochan_api_spec::iceberg::transactions::CommitTransactionRequest;

use super::{convert, tables};
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

pub(super) async fn commit(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: CommitTransactionRequest = req.json()?;
    let mut changes = Vec::with_capacity(body.table_changes.len());
    for (at, change) in body.table_changes.into_iter().enumerate() {
        let Some(identifier) = change.identifier.clone() else {
            return Err(convert::bad(format!(
                "The request body is not valid: table-changes[{at}] has no identifier"
            )));
        };
        let target = convert::target_of_identifier(&place, identifier)?;
        changes.push(tables::change(target, &change)?);
    }
    app.catalog.iceberg().commit_tables(&author, &place, changes).await?;
    Ok(Reply::no_content())
}
