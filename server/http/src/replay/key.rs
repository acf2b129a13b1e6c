//! The idempotency key of a request.

use std::borrow::Cow;

use http::HeaderValue;
use lochan_server_catalog::requests::RequestKey;
use lochan_storage_model::{ObjectId, ObjectKind};

use crate::error::Refusal;
use crate::extract::Req;
use crate::router::Surface;

const HEADER: &str = "idempotency-key";

/// The key that a request carries, scoped by who asks and what for.
pub(super) fn of(req: &Req) -> Result<Option<RequestKey>, Refusal> {
    let Some(value) = req.headers().get(HEADER) else { return Ok(None) };
    let Some(text) = text_of(value, req.op.surface())? else { return Ok(None) };
    let hash = |parts: &[&[u8]]| {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        *ObjectId::of(ObjectKind::Attachment, &bytes).as_bytes()
    };
    let route = req.op.template().as_bytes();
    let target = req.parts.uri.path_and_query().map_or("", |target| target.as_str());
    let who = req.principal();
    Ok(Some(RequestKey {
        key: hash(&[who.name.as_bytes(), req.op.method().as_bytes(), route, &text]),
        fingerprint: hash(&[target.as_bytes(), &req.body]),
    }))
}

/// The text of a key; letters of a UUID mean the same in both cases. The Iceberg API says what a key looks like. The Nessie
/// API knows of none, so whatever a client or a proxy sends there is one, but for nothing at all.
fn text_of(value: &HeaderValue, surface: Surface) -> Result<Option<Cow<'_, [u8]>>, Refusal> {
    let bytes = value.as_bytes();
    if is_uuid7(bytes) {
        return Ok(Some(bytes.to_ascii_lowercase().into()));
    }
    if surface == Surface::Iceberg {
        return Err(Refusal::Malformed(
            "Idempotency-Key must be a UUID of version 7, 36 characters long".into(),
        ));
    }
    Ok((!bytes.is_empty()).then_some(bytes.into()))
}

fn is_uuid7(bytes: &[u8]) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    bytes.len() == 36
        && bytes.get(14) == Some(&b'7')
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if dash(at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}
