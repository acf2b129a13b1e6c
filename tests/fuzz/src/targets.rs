//! One function per target: takes bytes of a stranger, and must neither panic nor take long nor give itself the lie.

use lochan_api_spec::endpoint::Endpoint;
use lochan_api_spec::nessie::model::ContentKey;
use lochan_api_spec::openapi::{Body, Document, Visitor};
use lochan_api_spec::syntax::duration::IsoDuration;
use lochan_api_spec::syntax::namespace_path::NamespacePath;
use lochan_api_spec::syntax::prefix::Prefix;
use lochan_api_spec::syntax::query::Pairs;
use lochan_api_spec::syntax::reference::{self, parse_diff};
use lochan_api_spec::syntax::table_name::TableName;
use lochan_api_spec::syntax::token::Token;
use lochan_api_spec::syntax::{HashSpec, Instant, RefSpec, cutoff, key};
use lochan_storage_iceberg::table::{TableMetadata, TableRequirement, TableUpdate};
use lochan_storage_iceberg::view::{ViewMetadata, ViewRequirement, ViewUpdate};

/// References of paths, bodies and parameters, and everything else that is written into a path.
pub fn reference(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(spec) = RefSpec::parse(text) {
        assert_eq!(RefSpec::parse(&spec.to_string()), Ok(spec), "{text}");
    }
    if let Ok(spec) = HashSpec::parse(text) {
        assert_eq!(HashSpec::parse(&spec.to_string()), Ok(spec), "{text}");
    }
    if let Ok(instant) = Instant::parse(text) {
        assert_eq!(Instant::parse(&instant.to_string()), Ok(instant), "{text}");
    }
    if let Ok(duration) = IsoDuration::parse(text) {
        assert_eq!(IsoDuration::parse(&duration.to_string()), Ok(duration), "{text}");
    }
    let _ = (reference::check_new_name(text), parse_diff(text), cutoff::check(text));
    let _ = (Prefix::parse(text), TableName::parse(text), NamespacePath::from_segment(text));
    let _ = Pairs::parse(text).int("max-records");
}

/// Content keys in every text form.
pub fn key(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = key::decode(text);
    let Ok(key) = ContentKey::parse(text) else { return };
    if !key.elements.is_empty() {
        assert_eq!(ContentKey::parse(&key.to_escaped()).as_ref(), Ok(&key), "{text}");
        assert_eq!(ContentKey::parse(&key.to_canonical()).as_ref(), Ok(&key), "{text}");
    }
    let _ = (key.to_legacy(), key.to_string());
}

/// Every body that a request can have, and the documents inside of them.
pub fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for document in Document::ALL {
        document.visit(&mut Bodies { text });
    }
    if let Ok(table) = TableMetadata::parse(data) {
        let written = table.to_json();
        assert_eq!(TableMetadata::parse(&written).map(|again| again.to_json()), Ok(written));
    }
    let _ = ViewMetadata::parse(data);
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        let _ = (TableRequirement::from_value(value.clone()), ViewRequirement::from_value(&value));
        let _ = (TableUpdate::from_value(value.clone()), ViewUpdate::from_value(value));
    }
}

/// Reads one text as every request.
struct Bodies<'a> {
    text: &'a str,
}

impl Visitor for Bodies<'_> {
    fn endpoint<E: Endpoint<Request: Body, Response: Body>>(&mut self) {
        let _ = E::Request::rewritten(self.text);
    }
}

/// Page tokens of every listing.
pub fn token(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for kind in *b"redNTVl" {
        if let Ok(token) = Token::decode(text, kind) {
            assert_eq!(token.encode(), text.to_ascii_lowercase());
            for place in 0..=token.len() {
                let _ = token.text(place);
            }
        }
    }
}
