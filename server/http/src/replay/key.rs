//! The idempotency key of a request.

use lochan_server_catalog::requests::RequestKey;
use lochan_storage_model::{ObjectId, ObjectKind};

use crate::error::Refusal;
use crate::extract::Req;

const HEADER: &str = "idempotency-key";

/// The key that a request carries, scoped by who asks and what for.
pub(super) fn of(req: &Req) -> Result<Option<RequestKey>, Refusal> {
    let Some(value) = req.headers().get(HEADER) else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| is_uuid7(text));
    let text = text.ok_or_else(|| {
        Refusal::Malformed("Idempotency-Key must be a UUID of version 7, 36 characters long".into())
    })?;
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
        key: hash(&[
            who.name.as_bytes(),
            req.op.method().as_bytes(),
            route,
            text.to_ascii_lowercase().as_bytes(),
        ]),
        fingerprint: hash(&[target.as_bytes(), &req.body]),
    }))
}

fn is_uuid7(text: &str) -> bool {
    let bytes = text.as_bytes();
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    bytes.len() == 36
        && bytes.get(14) == Some(&b'7')
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if dash(at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}
