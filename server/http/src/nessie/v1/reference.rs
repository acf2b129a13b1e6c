//! `GET trees`, `GET` and `POST trees/tree`, `GET trees/tree/{ref}`, `PUT` and `DELETE trees/{type}/{name}`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    CommitMetaV1, Fetch, ReferenceInput, ReferenceKind, ReferenceV1, ReferenceV2, ReferencesResponse,
};
use lochan_api_spec::nessie::v1::trees::{
    assign_reference, create_reference, delete_reference, get_all_references, get_reference_by_name,
};
use lochan_api_spec::syntax::reference::check_new_name;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::references::{List, RefKind};
use lochan_storage_model::RefName;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{page, point, reference};
use crate::nessie::refuse::{self, Checks, bad};
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
    let found = reference::page_out(app.catalog.list_references(&req.principal(), &list).await?);
    Ok(Reply::json(&ReferencesResponse::<CommitMetaV1> {
        has_more: found.has_more,
        token: found.token,
        references: found.references.into_iter().map(view).collect(),
    }))
}

/// `GET trees/tree`
pub async fn get_default(app: Arc<App>, req: Req) -> Answer {
    let name = app.catalog.settings().default_branch.as_str();
    let found = app.catalog.get_reference(&req.principal(), name, false).await?;
    Ok(Reply::json(&view(reference::described_out(&found))))
}

/// `GET trees/tree/{ref}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: get_reference_by_name::Query = req.query()?;
    let name = req.param(req.params.reference)?;
    point::name_v1(&name, "getReferenceByName.params.refName")?;
    let found = app.catalog.get_reference(&req.principal(), &name, query.fetch == Fetch::All).await?;
    Ok(Reply::json(&view(reference::described_out(&found))))
}

/// `POST trees/tree`
pub async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: create_reference::Query = req.query()?;
    let body: Option<ReferenceInput> = req.json_or_null()?;
    if let Some(source) = &query.source_ref_name {
        point::name_v1(source, "createReference.sourceRefName")?;
    }
    let body = refuse::required("createReference.reference", body)?;
    let (Some(name), Some(kind)) = (&body.name, reference::kind_in(body.kind)) else {
        return Err(bad("Only a branch or a tag can be created, but the reference is of type DETACHED."));
    };
    check_new_name(name).map_err(|error| refuse::reference("createReference.reference", &error))?;
    let name = RefName::for_creation(name).map_err(|error| bad(error.to_string()))?;
    let at = point::of_body(&body, "createReference.reference")?;
    let source = query.source_ref_name.as_deref().unwrap_or(app.catalog.settings().default_branch.as_str());
    let source = Point { name: point::named(source, At::default()).name, ..at };
    let created = app.catalog.create_reference(&req.principal(), &name, kind, &source).await?;
    Ok(Reply::json(&view(reference::out(&created))))
}

/// `PUT trees/{type}/{name}`
pub async fn assign(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: assign_reference::Query = req.query()?;
    let body: Option<ReferenceInput> = req.json_or_null()?;
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    let at = point::v1_expected(
        ("assignReference.referenceName", &name),
        ("assignReference.expectedHash", query.expected_hash.as_deref()),
        &mut checks,
    );
    let to = checks.present("assignReference.assignTo", body);
    let (at, to) = checks.done(at.zip(to))?;
    let to = point::of_body(&to, "assignReference.assignTo")?;
    app.catalog.assign_reference(&req.principal(), &at, kind(&req), &to).await?;
    Ok(Reply::no_content())
}

/// `DELETE trees/{type}/{name}`
pub async fn delete(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: delete_reference::Query = req.query()?;
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    let at = point::v1_expected(
        ("deleteReference.referenceName", &name),
        ("deleteReference.expectedHash", query.expected_hash.as_deref()),
        &mut checks,
    );
    let at = checks.done(at)?;
    app.catalog.delete_reference(&req.principal(), &at, kind(&req)).await?;
    Ok(Reply::no_content())
}

/// A reference as this version shows it.
pub fn view(reference: ReferenceV2) -> ReferenceV1 {
    reference.map_meta(Into::into)
}

/// The type in the path, in whatever case; the router lets no other pass.
fn kind(req: &Req) -> Option<RefKind> {
    let kind = req.raw_param(req.params.kind).to_ascii_uppercase();
    ReferenceKind::parse_named(&kind).ok().and_then(reference::kind_in)
}
