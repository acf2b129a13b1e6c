//! `/iceberg/v1/{prefix}/namespaces…`

use std::sync::Arc;

use lochan_api_spec::iceberg::namespaces::list_namespaces::{ListNamespacesResponse, Query};
use lochan_api_spec::iceberg::namespaces::{
    NamespaceDocument, UpdatePropertiesRequest, UpdatePropertiesResponse,
};
use lochan_api_spec::syntax::namespace_path::NamespacePath;
use lochan_server_catalog::iceberg::NamespaceAnswer;

use super::convert;
use super::paging::{self, Listing};
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

pub(super) async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let place = convert::place(&req)?;
    let page = paging::read(&query.page, Listing::Namespaces)?;
    let parent = query.parent.filter(|parent| !parent.is_empty());
    let parent = parent.map(|parent| convert::of_path(NamespacePath::from_parent(&parent)));
    let who = convert::principal(&req);
    let listed = app.catalog.iceberg().list_namespaces(&who, &place, parent.as_ref(), &page).await?;
    let levels =
        |key: &lochan_storage_model::ContentKey| key.elements().iter().map(|l| l.to_string()).collect();
    Ok(Reply::json(&ListNamespacesResponse {
        namespaces: listed.keys.iter().map(levels).collect(),
        next_page_token: paging::next(&listed, Listing::Namespaces),
    }))
}

pub(super) async fn load(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let namespace = convert::namespace(&req);
    let answer = app.catalog.iceberg().load_namespace(&convert::principal(&req), &place, &namespace).await?;
    Ok(document(answer))
}

pub(super) async fn exists(app: Arc<App>, req: Req) -> Answer {
    let place = convert::place(&req)?;
    let namespace = convert::namespace(&req);
    app.catalog.iceberg().namespace_exists(&convert::principal(&req), &place, &namespace).await?;
    Ok(Reply::no_content())
}

pub(super) async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let author = convert::author(&req)?;
    let body: NamespaceDocument = req.json()?;
    let made =
        app.catalog.iceberg().create_namespace(&author, &place, &body.namespace, body.properties).await?;
    Ok(document(made))
}

pub(super) async fn update_properties(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let namespace = convert::namespace(&req);
    let author = convert::author(&req)?;
    let body: UpdatePropertiesRequest = req.json()?;
    let catalog = app.catalog.iceberg();
    let changed =
        catalog.update_namespace(&author, &place, &namespace, &body.removals, &body.updates).await?;
    Ok(Reply::json(&UpdatePropertiesResponse {
        updated: changed.updated,
        removed: changed.removed,
        missing: changed.missing,
    }))
}

pub(super) async fn drop(app: Arc<App>, req: Arc<Req>) -> Answer {
    let place = convert::place(&req)?;
    let namespace = convert::namespace(&req);
    app.catalog.iceberg().drop_namespace(&convert::author(&req)?, &place, &namespace).await?;
    Ok(Reply::no_content())
}

fn document(answer: NamespaceAnswer) -> Reply {
    Reply::json(&NamespaceDocument { namespace: answer.levels, properties: answer.properties })
}
