//! `/iceberg/v1/{prefix}/namespaces/{namespace}/tables…`, `…/register`, `/iceberg/v1/{prefix}/tables/rename`

use std::sync::Arc;

use lochan_api_spec::iceberg::identifier::{ListIdentifiersResponse, RenameRequest, TableIdentifier};
use lochan_api_spec::iceberg::tables::{
    CommitTableRequest, CreateTableRequest, LoadCredentialsResponse, RegisterTableRequest, list_tables,
    load_table,
};
use lochan_server_catalog::error::ObjectKind;
use lochan_server_catalog::iceberg::{Listed, Place, Snapshots, TableChange, TableLoaded, Target};
use lochan_storage_iceberg::table::{CreateTable, TableRequirement, TableUpdate};

use super::paging::{self, Listing};
use super::{answer, convert};
use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::reply::{Reply, none_matches};

pub(super) async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: list_tables::Query = req.query()?;
    let place = convert::place(&req)?;
    let page = paging::read(&query.page, Listing::Tables)?;
    let (who, namespace) = (convert::principal(&req), convert::namespace(&req));
    let listed =
        app.catalog.iceberg().list_objects(&who, &place, &namespace, &page, ObjectKind::Table).await?;
    Ok(Reply::json(&identifiers(&listed, Listing::Tables)))
}

/// A page of tables or views.
pub(super) fn identifiers(listed: &Listed, listing: Listing) -> ListIdentifiersResponse {
    let identifiers = listed.keys.iter().map(|key| TableIdentifier {
        namespace: key.namespace().iter().map(|level| level.to_string()).collect(),
        name: key.name().to_owned(),
    });
    ListIdentifiersResponse {
        identifiers: identifiers.collect(),
        next_page_token: paging::next(listed, listing),
    }
}

pub(super) async fn load(app: Arc<App>, req: Req) -> Answer {
    let query: load_table::Query = req.query()?;
    let snapshots = match query.snapshots.as_deref() {
        None | Some("" | "all") => Snapshots::All,
        Some("refs") => Snapshots::Refs,
        Some(other) => return Err(convert::bad(format!("snapshots must be 'all' or 'refs', not '{other}'"))),
    };
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    let who = convert::principal(&req);
    let is_known = |etag: &str| none_matches(req.headers(), etag);
    match app.catalog.iceberg().load_table(&who, &target, snapshots, is_known).await? {
        TableLoaded::Unchanged(etag) => answer::unchanged(&etag),
        TableLoaded::Table(table) => answer::table(&table),
    }
}

pub(super) async fn exists(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    app.catalog.iceberg().object_exists(&convert::principal(&req), &target, ObjectKind::Table).await?;
    Ok(Reply::no_content())
}

pub(super) async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: CreateTableRequest = req.json()?;
    let target = convert::target_of(&place, convert::namespace(&req), &body.name)?;
    let request = create_request(body)?;
    answer::table(&app.catalog.iceberg().create_table(&author, &place, &target, &request).await?)
}

fn create_request(body: CreateTableRequest) -> Result<CreateTable, Failure> {
    let spec = body.partition_spec.as_deref().map(|raw| convert::part("partition-spec", raw)).transpose()?;
    let order = body.write_order.as_deref().map(|raw| convert::part("write-order", raw)).transpose()?;
    Ok(CreateTable {
        schema: convert::part("schema", &body.schema)?,
        // An explicit null means the same as nothing.
        partition_spec: spec.flatten(),
        write_order: order.flatten(),
        name: Some(body.name),
        location: body.location,
        stage_create: body.stage_create,
        properties: body.properties,
    })
}

pub(super) async fn commit(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let target = convert::target(&req, &place)?;
    let body: CommitTableRequest = req.json()?;
    convert::agrees(body.identifier.as_ref(), &target)?;
    let change = change(target, &body)?;
    answer::commit(&app.catalog.iceberg().commit_table(&author, &place, change).await?)
}

/// The changes of one table.
pub(super) fn change(target: Target, body: &CommitTableRequest) -> Result<TableChange, Failure> {
    Ok(TableChange {
        target,
        requirements: convert::parts("requirements", &body.requirements, TableRequirement::from_value)?,
        updates: convert::parts("updates", &body.updates, TableUpdate::from_value)?,
    })
}

/// `purgeRequested` has no effect: other branches may need the files.
pub(super) async fn drop(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    app.catalog.iceberg().drop_object(&convert::author(&req)?, &target, ObjectKind::Table).await?;
    Ok(Reply::no_content())
}

pub(super) async fn register(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: RegisterTableRequest = req.json()?;
    let target = convert::target_of(&place, convert::namespace(&req), &body.name)?;
    let catalog = app.catalog.iceberg();
    let made =
        catalog.register_table(&author, &place, &target, &body.metadata_location, body.overwrite).await?;
    answer::table(&made)
}

pub(super) async fn rename(app: Arc<App>, req: Arc<Req>) -> Answer {
    renamed(app, req, ObjectKind::Table).await
}

/// Renames a table or view.
pub(super) async fn renamed(app: Arc<App>, req: Arc<Req>, kind: ObjectKind) -> Answer {
    let place: Place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: RenameRequest = req.json()?;
    let (source, destination) = convert::rename(&place, body.source, body.destination)?;
    app.catalog.iceberg().rename_object(&author, &source, &destination, kind).await?;
    Ok(Reply::no_content())
}

/// Clients bring their own keys: the list is empty.
pub(super) async fn credentials(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    app.catalog.iceberg().object_exists(&convert::principal(&req), &target, ObjectKind::Table).await?;
    Ok(Reply::json(&LoadCredentialsResponse::default()))
}

/// Reports are taken and not kept. No client fails because of its statistics, so the body is not even read.
pub(super) async fn metrics(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let target = convert::target(&req, &place)?;
    app.catalog.iceberg().take_report(&convert::principal(&req), &target).await?;
    Ok(Reply::no_content())
}
