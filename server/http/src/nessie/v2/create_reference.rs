//! `POST trees`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{ReferenceInput, ReferenceKind};
use lochan_api_spec::nessie::v2::trees::create_reference::Query;
use lochan_api_spec::syntax::reference::{TYPE_MESSAGE, check_name, check_new_name};
use lochan_server_catalog::nessie::Point;
use lochan_storage_model::RefName;

use super::reference::single;
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{point, reference};
use crate::nessie::refuse::{self, Checks, bad};

/// `POST trees`
pub async fn create(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<ReferenceInput> = req.json_or_null()?;
    let mut checks = Checks::default();
    let kind = checks.present("createReference.type", query.kind.as_deref()).map(ReferenceKind::parse_named);
    let kind = kind.and_then(|kind| checks.reference("createReference.type", kind));
    let name = checks.present("createReference.name", query.name);
    let name = name.filter(|name| checks.reference("createReference.name", check_name(name)).is_some());
    let (name, kind) = checks.done(name.zip(kind))?;
    check_new_name(&name).map_err(|error| refuse::reference("createReference.name", &error))?;
    let name = RefName::for_creation(&name).map_err(|error| bad(error.to_string()))?;
    let Some(kind) = reference::kind_in(kind) else { return Err(bad(TYPE_MESSAGE)) };
    let source = match body {
        Some(body) => point::of_body(&body, "createReference.reference")?,
        None => Point::default(),
    };
    let created = app.catalog.create_reference(&req.principal(), &name, kind, &source).await?;
    Ok(single(&created))
}
