//! Examples of bodies, by component; a test reads each as the type it stands for.

mod ext;
mod iceberg;
mod nessie;

use serde_json::{Map, Value, json};

use super::Document;
use crate::endpoint::Surface;
use crate::ext::model as own;
use crate::iceberg::error::{ErrorResponse, ErrorType};
use crate::nessie::model::{ErrorCode, NessieError};

/// What the error examples say.
const MESSAGE: &str = "what went wrong, for people";

/// The example of a component, if there is one.
pub(super) fn of(document: Document, component: &str) -> Option<Value> {
    match document {
        Document::NessieV1 => nessie::v1(component),
        Document::NessieV2 => nessie::v2(component),
        Document::Iceberg => iceberg::of(component),
        Document::Ext => ext::of(component),
    }
}

/// Puts the examples of all bodies beside their schemas.
pub(super) fn attach(document: Document, paths: &mut Map<String, Value>) {
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(|item| item.values_mut()) {
        if let Some(body) = operation.get_mut("requestBody") {
            attach_one(document, body);
        }
        let answers = operation.get_mut("responses").and_then(Value::as_object_mut);
        answers
            .into_iter()
            .flat_map(|answers| answers.values_mut())
            .for_each(|answer| attach_one(document, answer));
    }
}

fn attach_one(document: Document, body: &mut Value) {
    let media = body.get_mut("content").and_then(Value::as_object_mut);
    for media in media.into_iter().flat_map(|media| media.values_mut()) {
        let Some(component) = media.pointer("/schema/$ref").and_then(Value::as_str) else { continue };
        let component = component.rsplit('/').next().unwrap_or(component);
        if let (Some(example), Some(media)) = (of(document, component), media.as_object_mut()) {
            media.insert("example".to_owned(), example);
        }
    }
}

/// An error body of a status; `kind` says whether it is one of the token routes.
pub(super) fn error(surface: Surface, kind: &str, status: u16) -> Value {
    if kind == "Token" {
        return json!({ "error": "unsupported_grant_type", "error_description": MESSAGE });
    }
    match surface {
        Surface::NessieV1 | Surface::NessieV2 => {
            let codes = [
                ErrorCode::BadRequest,
                ErrorCode::Forbidden,
                ErrorCode::ReferenceNotFound,
                ErrorCode::ReferenceConflict,
                ErrorCode::UnsupportedMediaType,
                ErrorCode::TooManyRequests,
                ErrorCode::ServiceUnavailable,
            ];
            let code = codes.into_iter().find(|code| code.status() == status).unwrap_or(ErrorCode::Unknown);
            let body = NessieError { status, ..NessieError::new(code, MESSAGE) };
            json!(body)
        }
        Surface::Iceberg => {
            let kinds = [
                ErrorType::NotAuthorized,
                ErrorType::Forbidden,
                ErrorType::NoSuchTable,
                ErrorType::UnsupportedOperation,
                ErrorType::CommitFailed,
                ErrorType::UnprocessableEntity,
                ErrorType::TooManyRequests,
                ErrorType::InternalServerError,
                ErrorType::ServiceUnavailable,
            ];
            let kind =
                kinds.into_iter().find(|kind| kind.status() == status).unwrap_or(ErrorType::BadRequest);
            json!(ErrorResponse::with_code(kind, status, MESSAGE))
        }
        Surface::Ext => {
            use own::ErrorCode as Code;
            let codes = [
                Code::BadRequest,
                Code::Unauthorized,
                Code::Forbidden,
                Code::ReferenceNotFound,
                Code::MethodNotAllowed,
                Code::NotAcceptable,
                Code::RequestTimeout,
                Code::ReferenceConflict,
                Code::PositionGone,
                Code::TooLarge,
                Code::UriTooLong,
                Code::UnsupportedMediaType,
                Code::TooManyRequests,
                Code::NotImplemented,
                Code::ServiceUnavailable,
                Code::StorageFull,
            ];
            let code = codes.into_iter().find(|code| code.status() == status).unwrap_or(Code::Internal);
            json!(own::ErrorBody {
                error: own::ExtError { code, message: MESSAGE.to_owned(), details: None }
            })
        }
    }
}
