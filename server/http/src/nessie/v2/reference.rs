//! `GET trees`, and `GET`, `PUT`, `DELETE trees/{ref}`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{Fetch, ReferenceInput, ReferenceKind, SingleReferenceResponse};
use lochan_api_spec::nessie::v2::trees::{
    assign_reference, delete_reference, get_all_references, get_reference_by_name,
};
use lochan_server_catalog::nessie::references::{List, RefKind, Reference};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{page, point, reference};
use crate::nessie::refuse::Checks;
use crate::reply::Reply;

/// `GET trees`
pub async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: get_all_references::Query = req.query()?;
    let list = List {
        metadata: query.fetch == Fetch::All,
        filter: query.filter,
        size: page::size(query.max_records),
        from: query.page_token.as_deref().map(page::from_reference_token).transpose()?,
    };
    let found = app.catalog.list_references(&req.principal(), &list).await?;
    Ok(Reply::json(&reference::page_out(found)))
}

/// `GET trees/{ref}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: get_reference_by_name::Query = req.query()?;
    let name = point::of_path_without_hash(
        &app,
        &req,
        req.params.reference,
        "getReferenceByName.params.ref",
        "Hashes are not allowed when fetching a reference by name",
    )?;
    let found = app.catalog.get_reference(&req.principal(), &name, query.fetch == Fetch::All).await?;
    Ok(Reply::json(&SingleReferenceResponse { reference: reference::described_out(&found) }))
}

/// `PUT trees/{ref}`
pub async fn assign(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: assign_reference::Query = req.query()?;
    let body: Option<ReferenceInput> = req.json_or_null()?;
    let mut checks = Checks::default();
    let kind = kind_in(query.kind.as_deref(), "assignReference.type", &mut checks);
    let at = point::of_path_in(&app, &req, req.params.reference, "assignReference.reference", &mut checks)?;
    let to = checks.present("assignReference.assignTo", body);
    let (at, to) = checks.done(at.zip(to))?;
    let to = point::of_body(&to, "assignReference.assignTo")?;
    let assigned = app.catalog.assign_reference(&req.principal(), &at, kind, &to).await?;
    Ok(single(&assigned))
}

/// `DELETE trees/{ref}`
pub async fn delete(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: delete_reference::Query = req.query()?;
    let mut checks = Checks::default();
    let kind = kind_in(query.kind.as_deref(), "deleteReference.type", &mut checks);
    let at = point::of_path_in(&app, &req, req.params.reference, "deleteReference.reference", &mut checks)?;
    let at = checks.done(at)?;
    let deleted = app.catalog.delete_reference(&req.principal(), &at, kind).await?;
    Ok(single(&deleted))
}

/// The answer about one reference.
pub fn single(found: &Reference) -> Reply {
    Reply::json(&SingleReferenceResponse { reference: reference::out(found) })
}

fn kind_in(kind: Option<&str>, argument: &str, checks: &mut Checks) -> Option<RefKind> {
    checks.reference(argument, ReferenceKind::parse_named(kind?)).and_then(reference::kind_in)
}
