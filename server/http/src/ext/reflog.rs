//! `GET /ext/v1/reflog`

use std::sync::Arc;

use lochan_api_spec::ext::get_reflog::{PAGE_ENTRIES_MAX, Query, Reflog};
use lochan_api_spec::syntax::Instant;
use lochan_api_spec::syntax::token::{Token, TokenError};
use lochan_server_catalog::ext::reflog::{self, Place};
use lochan_storage_model::{Micros, RefName};

use super::convert::{log_entry_out, operation_in, page_size};
use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::bad;
use crate::reply::Reply;

const TOKEN: u8 = b'l';

/// `GET /ext/v1/reflog`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let asked = reflog::Query {
        name: query.reference,
        operations: query.operations.iter().map(|text| operation_in(text)).collect::<Result<_, _>>()?,
        principal: query.principal,
        since: time_in("since", query.since.as_deref())?,
        until: time_in("until", query.until.as_deref())?,
        size: page_size(query.max_records, PAGE_ENTRIES_MAX)?,
        after: query.page_token.as_deref().map(place_in).transpose()?,
    };
    let page = app.catalog.reflog(&req.principal(), &asked).await?;
    Ok(Reply::json(&Reflog {
        has_more: page.next.is_some(),
        token: page.next.as_ref().map(place_out),
        entries: page.entries.iter().map(log_entry_out).collect(),
    }))
}

fn time_in(name: &str, text: Option<&str>) -> Result<Option<Micros>, Failure> {
    let parse = |text| {
        let time = Instant::parse_loose(text);
        time.map(Instant::micros).map_err(|error| bad(format!("query parameter '{name}': {error}")))
    };
    text.map(parse).transpose()
}

fn place_out(place: &Place) -> String {
    let token = Token::new(TOKEN).with(place.time.to_be_bytes()).with(place.name.as_str());
    token.with(place.number.to_be_bytes()).encode()
}

fn place_in(text: &str) -> Result<Place, Failure> {
    let place = || {
        let token = Token::decode(text, TOKEN)?;
        let number = |at| token.field(at).and_then(|field| <[u8; 8]>::try_from(field).ok());
        let name = RefName::new(token.text(1)?).map_err(|_| TokenError::Malformed)?;
        Ok(Place {
            time: Micros::from_be_bytes(number(0).ok_or(TokenError::Malformed)?),
            name,
            number: u64::from_be_bytes(number(2).ok_or(TokenError::Malformed)?),
        })
    };
    place().map_err(|error: TokenError| bad(error.to_string()))
}
