use std::io;

use http::HeaderMap;
use lochan_server_catalog::error::ObjectKind;
use lochan_storage_iceberg::Error as DocumentError;
use lochan_storage_model::{Conflict, ConflictKind, ContentKey};
use serde_json::{Value, json};

use super::*;

fn spec(version: &'static str) -> ClientSpec {
    let mut headers = HeaderMap::new();
    headers.insert("nessie-client-spec", http::HeaderValue::from_static(version));
    ClientSpec::of(&headers)
}

fn rendered(error: AppError, op: Op, spec: ClientSpec) -> (u16, Value, Reply) {
    let reply = render(error.into(), Some(op), op.surface(), spec, &RequestId::Made(1, 2));
    (reply.status.as_u16(), serde_json::from_slice(&reply.body).unwrap(), reply)
}

fn key() -> ContentKey {
    ContentKey::new(["a", "b"]).unwrap()
}

fn conflict(kind: ConflictKind) -> AppError {
    AppError::Conflict {
        message: "Key 'a.b' already exists.".into(),
        conflicts: vec![Conflict::on_key(kind, &key())],
    }
}

#[test]
fn nessie_details_go_to_those_who_know_them() {
    let error = || conflict(ConflictKind::KeyExists);
    let (status, body, _) = rendered(error(), Op::V2CommitMultipleOperations, spec("2.1"));
    assert_eq!(status, 409);
    assert_eq!(
        body,
        json!({
            "status": 409, "reason": "Conflict", "message": "Key 'a.b' already exists.",
            "errorCode": "REFERENCE_CONFLICT", "serverStackTrace": null,
            "errorDetails": {"type": "REFERENCE_CONFLICTS", "conflicts": [
                {"conflictType": "KEY_EXISTS", "key": {"elements": ["a", "b"]}, "message": "key 'a.b' already exists"}
            ]}
        })
    );
    for old in ["1", "", "x"] {
        let (_, body, _) = rendered(error(), Op::V1CommitMultipleOperations, spec(old));
        assert!(body.get("errorDetails").is_none());
    }
    let error = AppError::ContentNotFound { key: key(), reference: "main".into() };
    let (status, body, _) = rendered(error, Op::V2GetContent, spec("2"));
    assert_eq!((status, &body["errorCode"]), (404, &json!("CONTENT_NOT_FOUND")));
    assert_eq!(body["errorDetails"], json!({"type": "CONTENT_KEY", "contentKey": {"elements": ["a", "b"]}}));
    assert_eq!(body["message"], "Could not find content for key 'a.b' in reference 'main'.");
}

#[test]
fn nessie_codes_follow_the_contract() {
    let text = || "text".to_owned();
    for (error, status, code) in [
        (AppError::BadRequest(text()), 400, "BAD_REQUEST"),
        (AppError::ReferenceNotFound(text()), 404, "REFERENCE_NOT_FOUND"),
        (AppError::ReferenceExists(text()), 409, "REFERENCE_ALREADY_EXISTS"),
        (AppError::NamespaceExists(text()), 409, "NAMESPACE_ALREADY_EXISTS"),
        (AppError::NamespaceNotEmpty(text()), 409, "NAMESPACE_NOT_EMPTY"),
        (AppError::NamespaceNotFound { key: key(), shown: text() }, 404, "NAMESPACE_NOT_FOUND"),
        (AppError::Forbidden(text()), 403, "FORBIDDEN"),
        (AppError::Busy { retry_after: Duration::from_millis(1200) }, 429, "TOO_MANY_REQUESTS"),
        (AppError::Unavailable(text()), 503, "SERVICE_UNAVAILABLE"),
        (AppError::Full(text()), 507, "SERVICE_UNAVAILABLE"),
        (AppError::Unknown(text()), 500, "UNKNOWN"),
    ] {
        let (got, body, _) = rendered(error, Op::V2CommitMultipleOperations, spec("2"));
        assert_eq!((got, &body["errorCode"]), (status, &json!(code)), "{body}");
        assert_eq!(body["status"], status);
    }
}

#[test]
fn iceberg_types_follow_the_contract() {
    let text = || "text".to_owned();
    let io = || Box::new(io::Error::other("detail")) as Box<dyn std::error::Error + Send + Sync>;
    let location = || "s3://b/x".to_owned();
    for (error, op, status, kind) in [
        (AppError::BadRequest(text()), Op::IcebergCommitTable, 400, "BadRequestException"),
        (AppError::ReferenceNotFound(text()), Op::IcebergLoadTable, 400, "NoSuchReferenceException"),
        (
            AppError::ObjectNotFound { kind: ObjectKind::View, name: text() },
            Op::IcebergLoadView,
            404,
            "NoSuchViewException",
        ),
        (
            AppError::ContentNotFound { key: key(), reference: text() },
            Op::IcebergLoadView,
            404,
            "NoSuchViewException",
        ),
        (
            AppError::ContentNotFound { key: key(), reference: text() },
            Op::IcebergCommitTransaction,
            404,
            "NoSuchTableException",
        ),
        (
            AppError::NamespaceNotFound { key: key(), shown: text() },
            Op::IcebergListTables,
            404,
            "NoSuchNamespaceException",
        ),
        (AppError::WarehouseNotFound(text()), Op::IcebergGetConfig, 404, "NoSuchWarehouseException"),
        (AppError::MetadataMissing(text()), Op::IcebergLoadTable, 404, "NotFoundException"),
        (conflict(ConflictKind::KeyExists), Op::IcebergCreateTable, 409, "AlreadyExistsException"),
        (conflict(ConflictKind::NamespaceAbsent), Op::IcebergCreateTable, 404, "NoSuchNamespaceException"),
        (
            conflict(ConflictKind::NamespaceNotEmpty),
            Op::IcebergDropNamespace,
            409,
            "NamespaceNotEmptyException",
        ),
        (conflict(ConflictKind::ValueDiffers), Op::IcebergCommitTable, 409, "CommitFailedException"),
        (DocumentError::Requirement(text()).into(), Op::IcebergCommitTable, 409, "CommitFailedException"),
        (DocumentError::AlreadyExists(text()).into(), Op::IcebergCommitTable, 409, "AlreadyExistsException"),
        (DocumentError::Validation(text()).into(), Op::IcebergCommitTable, 400, "ValidationException"),
        (AppError::Unprocessable(text()), Op::IcebergUpdateProperties, 422, "UnprocessableEntityException"),
        (AppError::Forbidden(text()), Op::IcebergLoadTable, 403, "ForbiddenException"),
        (
            AppError::Busy { retry_after: Duration::ZERO },
            Op::IcebergCommitTable,
            429,
            "TooManyRequestsException",
        ),
        (AppError::Unavailable(text()), Op::IcebergCommitTable, 503, "ServiceUnavailableException"),
        (AppError::Full(text()), Op::IcebergCommitTable, 507, "ServiceUnavailableException"),
        (AppError::Unknown(text()), Op::IcebergCommitTable, 500, "CommitStateUnknownException"),
        (AppError::Unknown(text()), Op::IcebergCommitTransaction, 500, "CommitStateUnknownException"),
        (AppError::Internal(io()), Op::IcebergLoadTable, 500, "InternalServerError"),
        (
            FilesError::Throttled { location: location(), source: io() }.into(),
            Op::IcebergCommitTable,
            429,
            "TooManyRequestsException",
        ),
        (
            FilesError::Denied { location: location(), source: io() }.into(),
            Op::IcebergCommitTable,
            403,
            "ForbiddenException",
        ),
        (
            FilesError::Invalid { location: location(), reason: text() }.into(),
            Op::IcebergCreateTable,
            400,
            "IllegalArgumentException",
        ),
    ] {
        let (got, body, _) = rendered(error, op, ClientSpec::default());
        assert_eq!((got, &body["error"]["type"]), (status, &json!(kind)), "{body}");
        assert_eq!(body["error"]["code"], status);
        assert!(!body.to_string().contains("detail"), "{body}");
    }
}

#[test]
fn waits_are_whole_seconds() {
    assert_eq!(seconds(Duration::ZERO), 1);
    assert_eq!(seconds(Duration::from_millis(1200)), 2);
    assert_eq!(seconds(Duration::MAX), u32::MAX);
}
