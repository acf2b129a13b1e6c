//! `/iceberg/v1/{prefix}/namespaces/{namespace}/views…`, `…/register-view`, `/iceberg/v1/{prefix}/views/rename`

use std::sync::Arc;

use lochan_api_spec::iceberg::views::{
    CommitViewRequest, CreateViewRequest, RegisterViewRequest, list_views,
};
use lochan_server_catalog::error::ObjectKind;
use lochan_server_catalog::iceberg::ViewChange;
use lochan_storage_iceberg::view::{CreateView, ViewRequirement, ViewUpdate};

use super::paging::{self, Listing};
use super::{answer, convert, tables};
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

pub(super) async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: list_views::Query = req.query()?;
    let place = convert::place(&req)?;
    let page = paging::read(&query.page, Listing::Views)?;
    let (who, namespace) = (convert::principal(&req), convert::namespace(&req));
    let listed =
        app.catalog.iceberg().list_objects(&who, &place, &namespace, &page, ObjectKind::View).await?;
    Ok(Reply::json(&tables::identifiers(&listed, Listing::Views)))
}

pub(super) async fn load(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    Ok(answer::view(&app.catalog.iceberg().load_view(&convert::principal(&req), &target).await?))
}

pub(super) async fn exists(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    app.catalog.iceberg().object_exists(&convert::principal(&req), &target, ObjectKind::View).await?;
    Ok(Reply::no_content())
}

pub(super) async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: CreateViewRequest = req.json()?;
    let target = convert::target_of(&place, convert::namespace(&req), &body.name)?;
    let request = CreateView {
        schema: convert::part("schema", &body.schema)?,
        view_version: convert::part("view-version", &body.view_version)?,
        name: Some(body.name),
        location: body.location,
        properties: body.properties,
    };
    Ok(answer::view(&app.catalog.iceberg().create_view(&author, &place, &target, &request).await?))
}

pub(super) async fn commit(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let target = convert::target(&req, &place)?;
    let body: CommitViewRequest = req.json()?;
    convert::agrees(body.identifier.as_ref(), &target)?;
    let change = ViewChange {
        target,
        requirements: convert::parts("requirements", &body.requirements, |value| {
            ViewRequirement::from_value(&value)
        })?,
        updates: convert::parts("updates", &body.updates, ViewUpdate::from_value)?,
    };
    Ok(answer::view(&app.catalog.iceberg().commit_view(&author, &place, change).await?))
}

pub(super) async fn drop(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    app.catalog.iceberg().drop_object(&convert::author(&req)?, &target, ObjectKind::View).await?;
    Ok(Reply::no_content())
}

pub(super) async fn rename(app: Arc<App>, req: Arc<Req>) -> Answer {
    tables::renamed(app, req, ObjectKind::View).await
}

pub(super) async fn register(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: RegisterViewRequest = req.json()?;
    let target = convert::target_of(&place, convert::namespace(&req), &body.name)?;
    let catalog = app.catalog.iceberg();
    Ok(answer::view(&catalog.register_view(&author, &place, &target, &body.metadata_location).await?))
}
