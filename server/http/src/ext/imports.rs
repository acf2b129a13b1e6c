//! `/ext/v1/imports`

use std::sync::Arc;

use lochan_api_spec::ext::list_imported_commits::{ImportedCommit, ImportedCommits, PAGE_ROWS_MAX};
use lochan_api_spec::ext::list_imports::{Imports, PAGE_IMPORTS_MAX};
use lochan_api_spec::ext::model::{ImportState, ImportStatus, NamedReference};
use lochan_api_spec::ext::page::Query;
use lochan_api_spec::ext::stream::{Checksum, SourceKind as WireSource};
use lochan_api_spec::syntax::Instant;
use lochan_api_spec::syntax::token::{Token, TokenError};
use lochan_server_catalog::ext::import::{Existing, SourceId, SourceKind, State};
use lochan_server_catalog::{Error, Principal};

use super::convert::{kind_out, page_size};
use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::bad;
use crate::reply::Reply;

const TOKEN: u8 = b'i';
const LIST_TOKEN: u8 = b'l';

/// `GET /ext/v1/imports`
pub async fn list(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let size = page_size(query.max_records, PAGE_IMPORTS_MAX)?;
    let after = query.page_token.as_deref().map(name_in).transpose()?;
    let mut found = app.catalog.imports(&req.principal(), after.as_deref(), size + 1).await?;
    let has_more = found.len() > size;
    found.truncate(size);
    let token =
        found.last().filter(|_| has_more).map(|(id, _)| Token::new(LIST_TOKEN).with(id.as_str()).encode());
    let imports = found.iter().map(|(id, state)| without_references(id, state)).collect();
    Ok(Reply::json(&Imports { has_more, token, imports }))
}

/// `DELETE /ext/v1/imports/{id}`
pub async fn drop(app: Arc<App>, req: Req) -> Answer {
    let id = req.param(req.params.name)?;
    let state = app.catalog.drop_import(&req.principal(), &id).await?;
    Ok(Reply::json(&without_references(&id, &state)))
}

/// `GET /ext/v1/imports/{id}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let id = req.param(req.params.name)?;
    let who = req.principal();
    let state = app.catalog.import_state(&who, &id).await?;
    Ok(Reply::json(&state_out(&app, &who, &id, &state).await?))
}

/// `GET /ext/v1/imports/{id}/commits`
pub async fn commits(app: Arc<App>, req: Req) -> Answer {
    let id = req.param(req.params.name)?;
    let query: Query = req.query()?;
    let size = page_size(query.max_records, PAGE_ROWS_MAX)?;
    let after = query.page_token.as_deref().map(place_in).transpose()?;
    // One more than shown tells whether there is more.
    let mut rows = app.catalog.imported_commits(&req.principal(), &id, after.as_ref(), size + 1).await?;
    let has_more = rows.len() > size;
    rows.truncate(size);
    let token = rows.last().filter(|_| has_more);
    Ok(Reply::json(&ImportedCommits {
        has_more,
        token: token.map(|last| Token::new(TOKEN).with(last.old.as_bytes()).encode()),
        commits: rows
            .iter()
            .map(|row| ImportedCommit { old_hash: row.old.to_string(), new_hash: row.new.to_string() })
            .collect(),
    }))
}

fn name_in(text: &str) -> Result<String, Failure> {
    let token = Token::decode(text, LIST_TOKEN);
    let name = token.and_then(|token| token.text(0).map(str::to_owned));
    name.map_err(|error| bad(error.to_string()))
}

fn place_in(text: &str) -> Result<SourceId, Failure> {
    let token = Token::decode(text, TOKEN);
    let field = token.and_then(|token| token.field(0).map(<[u8]>::to_vec).ok_or(TokenError::Malformed));
    let id = field.and_then(|bytes| SourceId::new(bytes).ok_or(TokenError::Malformed));
    id.map_err(|error| bad(error.to_string()))
}

/// Where an import stands, with the references it has made once it is done.
pub async fn state_out(app: &App, who: &Principal, id: &str, state: &State) -> Result<ImportState, Error> {
    let mut out = without_references(id, state);
    if state.done {
        for reference in app.catalog.imported_references(who, id).await? {
            let name = reference.name.to_string();
            match reference.target {
                Some(target) => out.imported.push(NamedReference {
                    kind: kind_out(reference.kind),
                    name,
                    hash: target.to_string(),
                }),
                None => out.kept.push(name),
            }
        }
    }
    Ok(out)
}

/// Where an import stands.
fn without_references(id: &str, state: &State) -> ImportState {
    ImportState {
        id: id.to_owned(),
        status: if state.done { ImportStatus::Done } else { ImportStatus::Open },
        source: match state.source {
            SourceKind::Lochan => WireSource::Lochan,
            SourceKind::Nessie => WireSource::Nessie,
        },
        hashes_kept: state.keeps_hashes(),
        principal: state.principal.clone(),
        begun: Instant::from_micros(state.begun),
        prefix: state.prefix.clone(),
        existing: match state.existing {
            Existing::Refuse => "refuse",
            Existing::Keep => "keep",
            Existing::Move => "move",
        }
        .to_owned(),
        checksum: Some(Checksum::from_bytes(state.progress.checksum).to_string()),
        next_part: state.progress.parts + 1,
        commits: state.progress.commits,
        times_raised: state.times_raised,
        references: state.progress.references,
        log_entries: state.progress.log_entries,
        imported: Vec::new(),
        kept: Vec::new(),
    }
}
