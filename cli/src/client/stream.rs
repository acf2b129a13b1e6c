//! Streams of a repository: read line by line, sent in pieces.

use std::time::Duration;

use lochan_api_spec::endpoint::Endpoint;
use lochan_api_spec::ext::model::ImportState;
use lochan_api_spec::ext::stream::{LINE_BYTES_MAX, MEDIA_TYPE};
use lochan_api_spec::ext::{ExportRepository, ImportRepository, export_repository, import_repository};
use lochan_api_spec::syntax::query::QueryParams;
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE};

use super::{Call, Client, Error};

/// How long an export may take, in seconds: it ends with the stream, not with the clock.
const EXPORT_TIMEOUT_S: u64 = 86_400;

/// Lines of an answer that is read as it comes.
pub struct Lines<'a> {
    call: Call<'a>,
    response: Response,
    buffer: Vec<u8>,
    /// Where in the buffer the next line begins.
    at: usize,
}

impl Client {
    /// Begins or goes on with an export.
    pub async fn export(&self, query: &export_repository::Query) -> Result<Lines<'_>, Error> {
        let path = ExportRepository::path();
        let call = Call::new(&self.root, &ExportRepository::INFO, &path);
        let request = self.request(&ExportRepository::INFO, &path, &query.to_query()).await?;
        let request = request.header(ACCEPT, MEDIA_TYPE).timeout(Duration::from_secs(EXPORT_TIMEOUT_S));
        let response = request.send().await.map_err(|error| call.failed(&error))?;
        if !response.status().is_success() {
            call.accept(response).await?;
            return Err(call.unreadable("it is no stream".to_owned()));
        }
        Ok(Lines { call, response, buffer: Vec::new(), at: 0 })
    }

    /// Sends a piece of a stream.
    pub async fn import(
        &self,
        query: &import_repository::Query,
        piece: Vec<u8>,
    ) -> Result<ImportState, Error> {
        let path = ImportRepository::path();
        let call = Call::new(&self.root, &ImportRepository::INFO, &path);
        let request = self.request(&ImportRepository::INFO, &path, &query.to_query()).await?;
        let request = request.header(CONTENT_TYPE, MEDIA_TYPE).body(piece);
        let bytes = self.exchange(&call, request).await?;
        serde_json::from_slice(&bytes).map_err(|error| call.unreadable(error.to_string()))
    }
}

impl Lines<'_> {
    /// The error of an answer that ended before the stream did.
    pub fn ended_early(&self) -> Error {
        Error::Broken { request: self.call.request.clone(), reason: "the stream ended early".to_owned() }
    }

    /// The next line without its end; none at the end of the answer.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let unread = self.buffer.get(self.at..).unwrap_or_default();
            if let Some(length) = unread.iter().position(|byte| *byte == b'\n') {
                let line = unread.get(..length).unwrap_or_default().to_vec();
                self.at += length + 1;
                return Ok(Some(line));
            }
            if unread.len() > LINE_BYTES_MAX {
                return Err(self.call.unreadable(format!("a line is longer than {LINE_BYTES_MAX} bytes")));
            }
            self.buffer.drain(..self.at);
            self.at = 0;
            match self.response.chunk().await.map_err(|error| self.call.failed(&error))? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None if self.buffer.is_empty() => return Ok(None),
                None => return Err(self.call.unreadable("it breaks off inside a line".to_owned())),
            }
        }
    }
}
