//! `GET trees/{from}/diff/{to}`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{DiffEntry, DiffResponseV2};
use lochan_api_spec::nessie::v2::trees::get_diff::Query as WireQuery;
use lochan_server_catalog::nessie::diff::{Compared, Difference, Query, Side};

use super::entries::restriction;
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{content, key_out, page, point, reference};
use crate::nessie::refuse::Checks;
use crate::reply::Reply;

/// `GET trees/{from}/diff/{to}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: WireQuery = req.query()?;
    let mut checks = Checks::default();
    let from = point::of_path_in(&app, &req, req.params.reference, "getDiff.params.fromRef", &mut checks)?;
    let to = point::of_path_in(&app, &req, req.params.to, "getDiff.params.toRef", &mut checks)?;
    let (from, to) = checks.done(from.zip(to))?;
    let asked = Query {
        only: restriction(&query.keys, query.min_key, query.max_key, query.prefix_key)?,
        filter: query.filter,
        size: page::size(query.max_records),
        resume: page::diff_start(query.page_token.as_deref()),
    };
    let compared = app.catalog.diff(&req.principal(), &from, &to, &asked).await?;
    Ok(Reply::json(&out(compared)))
}

/// The answer with a page of differences.
pub fn out(compared: Compared) -> DiffResponseV2 {
    DiffResponseV2 {
        has_more: compared.page.next.is_some(),
        token: compared.page.next.as_ref().map(page::diff_token),
        diffs: compared.page.items.into_iter().map(difference_out).collect(),
        effective_from_reference: reference::effective_out(&compared.from),
        effective_to_reference: reference::effective_out(&compared.to),
    }
}

fn difference_out(difference: Difference) -> DiffEntry {
    let side = |side: Side| side.map(|(id, found)| content::out(Some(id), found));
    DiffEntry { key: key_out(&difference.key), from: side(difference.from), to: side(difference.to) }
}
