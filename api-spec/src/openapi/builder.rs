//! Puts a document together, operation by operation.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::schemas::{self, Direction};
use super::{Body, Document, Visitor, answers, examples, headers, links, path_parameters};
use crate::endpoint::{Auth, Endpoint, EndpointInfo, Method, Surface, parameters};
use crate::ext::model::ErrorBody;
use crate::iceberg::error::{ErrorResponse, OAuthError};
use crate::nessie::model::NessieError;
use crate::parameter::{Parameter, Shape};
use crate::syntax::query::QueryParams;

/// The name of the security scheme.
const BEARER: &str = "bearer";

/// A document being built.
pub(super) struct Builder {
    document: Document,
    requests: SchemaGenerator,
    responses: SchemaGenerator,
    paths: Map<String, Value>,
    /// Answers that operations share, by name.
    errors: Map<String, Value>,
}

impl Builder {
    pub(super) fn build(document: Document) -> Value {
        let mut builder = Builder {
            document,
            requests: schemas::generator(Direction::Request),
            responses: schemas::generator(Direction::Response),
            paths: Map::new(),
            errors: Map::new(),
        };
        document.visit(&mut builder);
        builder.finish()
    }

    /// How requests are read: our own API is strict, the others are lenient by contract.
    fn direction(&self) -> Direction {
        match self.document {
            Document::NessieV1 | Document::NessieV2 | Document::Iceberg => Direction::Request,
            Document::Ext => Direction::StrictRequest,
        }
    }

    fn finish(mut self) -> Value {
        let components =
            schemas::components(self.direction(), &mut self.requests, &mut self.responses, &mut self.paths);
        examples::attach(self.document, &mut self.paths);
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": format!("Lochan: {}", self.document.title()),
                "version": env!("CARGO_PKG_VERSION"),
                "description": self.document.about(),
                "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{ "url": "/" }],
            "tags": tags(self.document.endpoints()),
            "paths": self.paths,
            "components": {
                "schemas": components,
                "responses": self.errors,
                "securitySchemes": {
                    BEARER: {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "A static token or one of an OIDC provider, where authentication is on.",
                    },
                },
            },
        })
    }

    /// The name of an error's answer, which is written down when it is met first.
    fn error(&mut self, info: &EndpointInfo, answer: &answers::Answer) -> String {
        // An answer to HEAD has no body.
        let has_body = answer.has_body && info.method != Method::Head;
        let kind = if is_token(info) { "Token" } else { "" };
        let name = format!("{kind}{}{}", answer.status, if has_body { "" } else { "Empty" });
        if self.errors.contains_key(&name) {
            return name;
        }
        let mut error = json!({ "description": answer.about, "headers": headers::of_errors(answer.status) });
        if has_body {
            let schema = match info.surface {
                Surface::NessieV1 | Surface::NessieV2 => subschema::<NessieError>(&mut self.responses),
                Surface::Iceberg if is_token(info) => subschema::<OAuthError>(&mut self.responses),
                Surface::Iceberg => subschema::<ErrorResponse>(&mut self.responses),
                Surface::Ext => subschema::<ErrorBody>(&mut self.responses),
            };
            let media =
                json!({ "schema": schema, "example": examples::error(info.surface, kind, answer.status) });
            set(&mut error, "content", Some(json!({ "application/json": media })));
        }
        self.errors.insert(name.clone(), error);
        name
    }

    fn answers<R: Body>(&mut self, info: &EndpointInfo) -> Value {
        let mut all = Map::new();
        // The token routes only ever refuse: this server issues no tokens.
        if !is_token(info) {
            let schema = R::schema(&mut self.responses);
            let is_empty = is_nothing(&schema);
            let status = if is_empty { "204" } else { "200" };
            let mut success = json!({
                "description": if is_empty { "Done; nothing to tell." } else { "What was asked for." },
                "headers": headers::of_answers(info),
            });
            set(&mut success, "content", (!is_empty).then(|| content(R::MEDIA_TYPE, schema)));
            set(&mut success, "links", links::of(info));
            all.insert(status.to_owned(), success);
        }
        for answer in answers::errors(info) {
            let name = self.error(info, &answer);
            all.insert(
                answer.status.to_string(),
                json!({ "$ref": format!("#/components/responses/{name}") }),
            );
        }
        all.into()
    }
}

impl Visitor for Builder {
    fn endpoint<E: Endpoint<Request: Body, Response: Body>>(&mut self) {
        let info = &E::INFO;
        let path = parameters(info.path).map(|name| parameter("path", &path_parameters::of(info, name)));
        let query = E::Query::PARAMETERS.iter().map(|declared| parameter("query", declared));
        let header = headers::of_requests(info).into_iter().map(|declared| parameter("header", &declared));
        let mut operation = json!({
            "operationId": info.name,
            "tags": [tag(info)],
            "summary": info.summary,
            "parameters": path.chain(query).chain(header).collect::<Vec<_>>(),
        });
        let body = E::Request::schema(&mut self.requests);
        if !is_nothing(&body) {
            let media =
                if is_token(info) { "application/x-www-form-urlencoded" } else { E::Request::MEDIA_TYPE };
            let body = json!({ "required": true, "content": content(media, body) });
            set(&mut operation, "requestBody", Some(body));
        }
        let answers = self.answers::<E::Response>(info);
        set(&mut operation, "responses", Some(answers));
        let security = match info.auth {
            Auth::Bearer => json!([{}, { BEARER: [] }]),
            Auth::Anonymous => json!([]),
        };
        set(&mut operation, "security", Some(security));
        let item = self.paths.entry(info.path).or_insert_with(|| json!({}));
        set(item, &info.method.as_str().to_ascii_lowercase(), Some(operation));
    }
}

/// The schema of a type: a reference to its component, or itself when it is no component.
pub(super) fn subschema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().into()
}

/// Whether a schema is that of `()`, which stands for no body.
fn is_nothing(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// Whether it is one of the token routes, which speak OAuth.
fn is_token(info: &EndpointInfo) -> bool {
    info.surface == Surface::Iceberg && info.path.ends_with("/oauth/tokens")
}

fn content(media: &str, schema: Value) -> Value {
    json!({ media: { "schema": schema } })
}

/// Sets a member of an object that has a value.
fn set(object: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(name.to_owned(), value);
    }
}

fn parameter(place: &str, declared: &Parameter) -> Value {
    let text = |example: &str| json!(example);
    let (schema, example) = match declared.shape {
        Shape::Text => (json!({ "type": "string" }), text(declared.example)),
        Shape::Pattern(pattern) => (json!({ "type": "string", "pattern": pattern }), text(declared.example)),
        Shape::Words(words) => (json!({ "type": "string", "enum": words }), text(declared.example)),
        Shape::Flag => (json!({ "type": "boolean", "default": false }), json!(declared.example == "true")),
        Shape::Int32 => (
            json!({ "type": "integer", "format": "int32", "minimum": i32::MIN, "maximum": i32::MAX }),
            declared.example.parse::<i32>().map_or(Value::Null, Into::into),
        ),
        Shape::Count => (
            json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": i32::MAX }),
            declared.example.parse::<i32>().map_or(Value::Null, Into::into),
        ),
        Shape::Instant => (json!({ "type": "string", "format": "date-time" }), text(declared.example)),
        Shape::Texts => (
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 } }),
            json!([declared.example]),
        ),
        Shape::WordsRepeated(words) => (
            json!({ "type": "array", "items": { "type": "string", "enum": words } }),
            json!([declared.example]),
        ),
    };
    let mut out = json!({
        "name": declared.name,
        "in": place,
        "description": declared.about,
        "required": declared.required || place == "path",
        "schema": schema,
        "example": example,
    });
    let repeated = matches!(declared.shape, Shape::Texts | Shape::WordsRepeated(_));
    if repeated
        && declared.required
        && let Some(schema) = out.get_mut("schema")
    {
        set(schema, "minItems", Some(json!(1)));
    }
    out
}

/// The group an operation is shown in: the first fixed segment of its path that names a thing, or what it makes.
fn tag(info: &EndpointInfo) -> &'static str {
    let groups: &[&'static str] = match info.surface {
        Surface::NessieV1 | Surface::NessieV2 => &["config", "trees", "contents", "diffs", "namespaces"],
        Surface::Iceberg => &["config", "oauth", "transactions", "views", "tables", "namespaces"],
        Surface::Ext => &["info", "reflog", "refs", "export", "import", "imports"],
    };
    match info.path {
        path if path.ends_with("/register") => "tables",
        path if path.ends_with("/register-view") => "views",
        path => groups
            .iter()
            .find(|group| path.split('/').any(|part| part == **group))
            .copied()
            .unwrap_or("other"),
    }
}

fn tags(endpoints: &[EndpointInfo]) -> Value {
    let mut seen: Vec<&str> = Vec::new();
    for info in endpoints {
        if !seen.contains(&tag(info)) {
            seen.push(tag(info));
        }
    }
    seen.into_iter().map(|name| json!({ "name": name })).collect()
}
