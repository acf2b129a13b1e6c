//! `POST /iceberg/v1/oauth/tokens`: this server issues no tokens and says so in the words of OAuth.

use std::sync::Arc;

use crate::app::App;
use crate::error::Refusal;
use crate::extract::Req;
use crate::handlers::Answer;

pub(super) async fn get(_app: Arc<App>, _req: Req) -> Answer {
    Err(Refusal::NotOffered.into())
}
