//! `namespaces/{ref}` and `namespaces/namespace/{ref}/{name}`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    Content as WireContent, ContentKey as WireKey, GetNamespacesResponse, Namespace as WireNamespace,
    NamespaceUpdate,
};
use lochan_api_spec::nessie::v1::namespaces::{get_namespace, get_namespaces};
use lochan_api_spec::syntax::reference::DETACHED;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::hash_order;
use lochan_server_catalog::nessie::namespaces::{Name, Namespace};

use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{content, key_from_text, key_in, key_text_of_path, point};
use crate::nessie::refuse::{bad, required};
use crate::reply::Reply;

/// `GET namespaces/{ref}`
pub async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: get_namespaces::Query = req.query()?;
    let at = at(&req, query.hash_on_ref.as_deref())?;
    let below = query.name.as_deref().map(key_from_text).transpose()?.flatten();
    let found = app.catalog.list_namespaces(&req.principal(), &at, below.as_ref()).await?;
    // Those that are there, from a table made for as many; then those that are only implied, from one that grew.
    let (mut found, mut implied): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| found.id.is_some());
    let count = found.len();
    hash_order::sort(&mut found, count, |namespace| &namespace.elements);
    let count = implied.len().max(hash_order::FEW);
    hash_order::sort(&mut implied, count, |namespace| &namespace.elements);
    let namespaces = found.into_iter().chain(implied).map(out).collect();
    Ok(Reply::json(&GetNamespacesResponse { namespaces }))
}

/// `GET namespaces/namespace/{ref}/{name}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: get_namespace::Query = req.query()?;
    let at = at(&req, query.hash_on_ref.as_deref())?;
    let found = app.catalog.get_namespace(&req.principal(), &at, &name_of_path(&req)?).await?;
    Ok(Reply::json(&out(found)))
}

/// `PUT namespaces/namespace/{ref}/{name}`: the body says everything, as the real server has it.
pub async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let body: Option<WireNamespace> = req.json_or_null()?;
    // The name in the path plays no part, but it must be one.
    name_of_path(&req)?;
    let body = required("createNamespace.namespace", body)?;
    if body.elements.is_empty() {
        return Err(bad("Namespace name must not be empty"));
    }
    let branch = branch(&req)?;
    let name = name(WireKey::from_valid(body.elements))?;
    let id = content::given_id(body.id);
    let found = app.catalog.create_namespace(&req.principal(), &branch, &name, id, body.properties).await?;
    Ok(Reply::json(&out(found)))
}

/// `POST namespaces/namespace/{ref}/{name}`
pub async fn update(app: Arc<App>, req: Arc<Req>) -> Answer {
    let body: Option<NamespaceUpdate> = req.json_or_null()?;
    let name = name_of_path(&req)?;
    let body = required("updateProperties.namespaceUpdate", body)?;
    let branch = branch(&req)?;
    let (updates, removals) = (body.property_updates, body.property_removals);
    app.catalog.update_namespace(&req.principal(), &branch, &name, updates, &removals).await?;
    Ok(Reply::no_content())
}

/// `DELETE namespaces/namespace/{ref}/{name}`
pub async fn delete(app: Arc<App>, req: Arc<Req>) -> Answer {
    let (branch, name) = (branch(&req)?, name_of_path(&req)?);
    app.catalog.delete_namespace(&req.principal(), &branch, &name).await?;
    Ok(Reply::no_content())
}

/// The answer with the namespace that stood at a state.
pub async fn stood_at(app: &App, req: &Req, at: &Point, elements: Vec<String>) -> Answer {
    let name = name(WireKey::from_valid(elements))?;
    Ok(Reply::json(&out(app.catalog.get_namespace(&req.principal(), at, &name).await?)))
}

/// The state to read. Names are only looked up.
fn at(req: &Req, hash: Option<&str>) -> Result<Point, Failure> {
    let name = req.param(req.params.reference)?;
    let at = match hash {
        Some(text) => At::plain(text).map_err(|error| bad(format!("{error} - but was: {text}")))?,
        None => At::default(),
    };
    Ok(point::named(&name, at))
}

/// The branch to write to.
fn branch(req: &Req) -> Result<String, Failure> {
    let name = req.param(req.params.reference)?;
    if name == DETACHED { Err(bad("Cannot resolve DETACHED to HEAD")) } else { Ok(name) }
}

fn name_of_path(req: &Req) -> Result<Name, Failure> {
    let text = key_text_of_path(req, req.params.key)?;
    name(WireKey::parse(&text).map_err(|error| bad(error.to_string()))?)
}

fn name(key: WireKey) -> Result<Name, Failure> {
    let (shown, in_messages) = (key.to_legacy(), key.to_canonical());
    Ok(Name { key: key_in(key)?, shown, in_messages })
}

fn out(namespace: Namespace) -> WireContent {
    WireContent::Namespace(WireNamespace {
        id: namespace.id.map(|id| id.to_string()),
        elements: namespace.elements,
        properties: namespace.properties,
    })
}
