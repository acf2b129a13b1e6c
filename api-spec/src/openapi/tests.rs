use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::endpoint::{Method, parameters};
use crate::syntax::query::{Pairs, QueryParams};

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().unwrap();
        item.iter().map(|(method, operation)| (path.clone(), method.to_uppercase(), operation.clone()))
    });
    all.collect()
}

#[test]
fn every_endpoint_is_listed_once() {
    for document in Document::ALL {
        let listed: BTreeSet<(String, String)> =
            operations(&document.value()).into_iter().map(|(path, method, _)| (path, method)).collect();
        let declared: BTreeSet<(String, String)> = document
            .endpoints()
            .iter()
            .map(|info| (info.path.to_owned(), info.method.as_str().to_owned()))
            .collect();
        assert_eq!(listed, declared, "{document:?}");
        assert_eq!(declared.len(), document.endpoints().len());
    }
}

#[test]
fn every_surface_has_a_document() {
    for document in Document::ALL {
        assert!(document.endpoints().iter().all(|info| info.surface == document.surface()));
    }
}

#[test]
fn every_path_parameter_is_described() {
    for document in Document::ALL {
        for info in document.endpoints() {
            for name in parameters(info.path) {
                assert!(
                    path_parameters::known(info, name).is_some(),
                    "{} {}: describe {{{name}}} in openapi/path_parameters.rs",
                    info.method,
                    info.path
                );
            }
        }
    }
}

#[test]
fn names_of_operations_are_unique_and_links_lead_to_one() {
    for document in Document::ALL {
        let operations = operations(&document.value());
        let names: Vec<&str> =
            operations.iter().map(|(_, _, op)| op["operationId"].as_str().unwrap()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for (path, _, operation) in &operations {
            for (_, answer) in operation["responses"].as_object().unwrap() {
                for (name, link) in answer["links"].as_object().into_iter().flatten() {
                    let target = link["operationId"].as_str().unwrap();
                    let found = operations.iter().find(|(_, _, op)| op["operationId"] == target);
                    let (_, _, found) = found.unwrap_or_else(|| panic!("{path}: link {name} leads nowhere"));
                    for parameter in link["parameters"].as_object().unwrap().keys() {
                        let has =
                            found["parameters"].as_array().unwrap().iter().any(|p| p["name"] == *parameter);
                        assert!(has, "{path}: link {name} sets {parameter}, which {target} does not have");
                    }
                }
            }
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_nothing_lies_about() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::String(text) if text.starts_with("#/") => drop(found.insert(text.clone())),
            Value::Object(members) => members.values().for_each(|member| references(member, found)),
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    for document in Document::ALL {
        let value = document.value();
        let mut found = BTreeSet::new();
        references(&value, &mut found);
        for reference in &found {
            assert!(value.pointer(reference.trim_start_matches('#')).is_some(), "{document:?}: {reference}");
        }
        for kind in ["schemas", "responses"] {
            for name in value["components"][kind].as_object().unwrap().keys() {
                assert!(
                    found.contains(&format!("#/components/{kind}/{name}")),
                    "{document:?}: {name} is not used"
                );
            }
        }
        assert!(!value.to_string().contains("crate::"), "{document:?} shows the inside");
    }
}

/// Reads every example as the type it stands for. What is written must come back as it was.
struct Examples {
    document: Document,
    value: Value,
}

impl Examples {
    fn of(&self, info: &EndpointInfo, path: &str) -> Option<Value> {
        let operation = &self.value["paths"][info.path][info.method.as_str().to_ascii_lowercase()];
        operation.pointer(path).cloned()
    }
}

impl Visitor for Examples {
    fn endpoint<E: Endpoint<Request: Body, Response: Body>>(&mut self) {
        let info = &E::INFO;
        let place = format!("{:?} {}", self.document, info.name);
        for (media, body) in
            self.of(info, "/requestBody/content").as_ref().and_then(Value::as_object).into_iter().flatten()
        {
            if media == MEDIA_TYPE {
                continue;
            }
            let example = &body["example"];
            assert!(example.is_object(), "{place}: no example of the request");
            // From text, as raw JSON inside of a body is read from nothing else.
            E::Request::rewritten(&example.to_string()).unwrap_or_else(|e| panic!("{place}: {e}"));
        }
        for (media, body) in
            self.of(info, "/responses/200/content").as_ref().and_then(Value::as_object).into_iter().flatten()
        {
            if media == MEDIA_TYPE {
                continue;
            }
            let example = &body["example"];
            assert!(example.is_object(), "{place}: no example of the answer");
            let written =
                E::Response::rewritten(&example.to_string()).unwrap_or_else(|e| panic!("{place}: {e}"));
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), *example, "{place}");
        }
        for (_, media) in self.value["components"]["responses"].as_object().unwrap() {
            let media = &media["content"]["application/json"];
            assert!(media.is_null() || media["example"].is_object());
        }
    }
}

#[test]
fn examples_are_what_they_stand_for() {
    for document in Document::ALL {
        document.visit(&mut Examples { document: *document, value: document.value() });
    }
}

/// Compares the parameters that a query type reads with those it declares.
struct Queries;

impl Visitor for Queries {
    fn endpoint<E: Endpoint<Request: Body, Response: Body>>(&mut self) {
        let pairs = Pairs::parse("");
        E::Query::parse(&pairs).unwrap();
        let declared: BTreeSet<&str> = E::Query::PARAMETERS.iter().map(|parameter| parameter.name).collect();
        assert_eq!(pairs.asked(), declared, "{}", E::PATH);
        // Each example is accepted, and so is every word of a closed list.
        for parameter in E::Query::PARAMETERS {
            let raw =
                format!("{}={}", parameter.name, crate::syntax::percent::encode_query(parameter.example));
            E::Query::from_raw(&raw).unwrap_or_else(|e| panic!("{}: {e}", E::PATH));
        }
    }
}

#[test]
fn declared_parameters_are_those_that_are_read() {
    Document::ALL.iter().for_each(|document| document.visit(&mut Queries));
}

/// Sets every field that a request's schema calls optional to null: it must read like a request without them.
struct Nulls {
    value: Value,
}

impl Visitor for Nulls {
    fn endpoint<E: Endpoint<Request: Body, Response: Body>>(&mut self) {
        let info = &E::INFO;
        let operation = &self.value["paths"][info.path][info.method.as_str().to_ascii_lowercase()];
        let body = &operation["requestBody"]["content"]["application/json"];
        let Some(reference) = body["schema"]["$ref"].as_str() else { return };
        let schema = self.value.pointer(reference.trim_start_matches('#')).unwrap();
        let mut example = body["example"].clone();
        for (field, _) in schema["properties"].as_object().into_iter().flatten() {
            let is_in =
                |schema: &Value| schema["required"].as_array().is_some_and(|all| all.contains(&json!(field)));
            let is_needed_by_some = schema["anyOf"].as_array().is_some_and(|all| all.iter().any(is_in));
            if !is_in(schema) && !is_needed_by_some {
                example[field] = Value::Null;
            }
        }
        E::Request::rewritten(&example.to_string())
            .unwrap_or_else(|e| panic!("{} {}: {e}: {example}", info.method, info.path));
    }
}

#[test]
fn optional_fields_of_requests_may_be_null() {
    for document in [Document::NessieV1, Document::NessieV2, Document::Iceberg] {
        document.visit(&mut Nulls { value: document.value() });
    }
}

#[test]
fn every_operation_says_what_it_answers() {
    for document in Document::ALL {
        for (path, method, operation) in operations(&document.value()) {
            let answers = operation["responses"].as_object().unwrap();
            assert!(operation["summary"].as_str().unwrap().ends_with('.'));
            assert!(answers.contains_key("400") && answers.contains_key("500"), "{method} {path}");
            let is_token = path.ends_with("/oauth/tokens");
            assert!(is_token || answers.keys().any(|status| status.starts_with('2')), "{method} {path}");
            for parameter in operation["parameters"].as_array().unwrap() {
                assert_ne!(parameter["description"], "", "{method} {path}: {}", parameter["name"]);
            }
            if method == Method::Head.as_str() {
                let without =
                    |answer: &Value| answer["$ref"].as_str().is_none_or(|name| name.ends_with("Empty"));
                assert!(answers.values().all(without), "{path}: an answer to HEAD has no body");
            }
        }
    }
}
