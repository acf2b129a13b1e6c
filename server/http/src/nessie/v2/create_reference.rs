//! `POST trees`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{ReferenceInput, ReferenceKind};
use lochan_api_spec::nessie::v2::trees::create_reference::Query;
use lochan_api_spec::syntax::reference::{DETACHED, TYPE_MESSAGE, check_name, check_new_name};
use lochan_server_catalog::nessie::Point;
use lochan_storage_model::RefName;

use super::reference::single;
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{point, reference};
use crate::nessie::refuse::{self, NOT_NULL, bad};

/// `POST trees`
pub async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<ReferenceInput> = req.json_or_null()?;
    let kind = query.kind.as_deref().map(ReferenceKind::parse_named);
    let shape = query.name.as_deref().map(check_name);
    let shape_message = shape.as_ref().and_then(|shape| shape.as_ref().err()).map(ToString::to_string);
    let mut violations = Vec::new();
    match &kind {
        None => violations.push(("createReference.type", NOT_NULL)),
        Some(Err(_)) => violations.push(("createReference.type", TYPE_MESSAGE)),
        Some(Ok(_)) => {}
    }
    match (&query.name, &shape_message) {
        (None, _) => violations.push(("createReference.name", NOT_NULL)),
        (Some(_), Some(message)) => violations.push(("createReference.name", message.as_str())),
        (Some(_), None) => {}
    }
    refuse::all(&violations)?;
    let (Some(name), Some(Ok(kind))) = (query.name, kind) else {
        return Err(bad("createReference.name: must not be null"));
    };
    check_new_name(&name).map_err(|error| refuse::reference("createReference.name", &error))?;
    let name = RefName::for_creation(&name).map_err(|error| bad(error.to_string()))?;
    let Some(kind) = reference::kind_in(kind) else { return Err(bad(TYPE_MESSAGE)) };
    let source = match body {
        Some(body) => {
            let at =
                body.hash_spec().map_err(|error| refuse::reference("createReference.reference", &error))?;
            point::named(body.name.as_deref().unwrap_or(DETACHED), &at)
        }
        None => Point::default(),
    };
    let created = app.catalog.create_reference(&req.principal(), &name, kind, &source).await?;
    Ok(single(&created))
}
